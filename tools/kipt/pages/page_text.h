/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Texts of the manual pages that are written by hand: man/VERB.text has what a page says
 * beyond the help of the verb, man/options.text the same of options.
 */
#ifndef KIPT_PAGE_TEXT_H
#define KIPT_PAGE_TEXT_H

#include <stdbool.h>
#include <stdio.h>

#include "../cli/kipt.h"

/**
 * text_read() - a text from its file
 * @dir: folder of the texts
 * @name: file in it, without .text
 *
 * Return: the text, to be freed, empty if there is no such file; NULL after a sentence.
 */
char *text_read(const char *dir, const char *name);

/**
 * text_put() - write a text, without its comments
 * @begin: first character
 * @end: the one after the last
 * @out: where to
 */
void text_put(const char *begin, const char *end, FILE *out);

/**
 * text_line() - find a line
 * @text: where
 * @begin: what the line begins with
 *
 * Return: the first line that does, or the end of the text.
 */
const char *text_line(const char *text, const char *begin);

/**
 * option_text() - what options.text says of an option
 * @texts: options.text
 * @verb: whose option
 * @option: which
 * @end: filled: the end of what is returned
 *
 * Return: the text, or NULL if there is none.
 */
const char *option_text(const char *texts, const struct kipt_verb *verb,
			const struct kipt_option *option, const char **end);

/**
 * option_texts_used() - does options.text fit the verbs
 * @texts: options.text
 *
 * Return: true if each of its texts is of an option that a verb has; false after a
 * sentence.
 */
bool option_texts_used(const char *texts);

#endif /* KIPT_PAGE_TEXT_H */
