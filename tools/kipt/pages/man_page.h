/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Manual pages in the macros of man(7).
 */
#ifndef KIPT_MAN_PAGE_H
#define KIPT_MAN_PAGE_H

#include <stdio.h>

#include "../cli/kipt.h"

/**
 * man_verb() - write the page of a verb
 * @verb: which
 * @text: what it says beyond the help: paragraphs, then sections
 * @options: options.text
 * @out: where to
 */
void man_verb(const struct kipt_verb *verb, const char *text,
	      const char *options, FILE *out);

/**
 * man_index() - write kipt(1), which lists the verbs
 * @text: the rest of it, with a line where the list goes
 * @out: where to
 */
void man_index(const char *text, FILE *out);

#endif /* KIPT_MAN_PAGE_H */
