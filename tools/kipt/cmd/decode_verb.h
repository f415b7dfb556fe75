/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Verbs that decode a file here: they differ in what they show unless asked.
 */
#ifndef KIPT_DECODE_VERB_H
#define KIPT_DECODE_VERB_H

#include "../view/view.h"

/* Options of these verbs. */
extern const struct kipt_option decode_options[];

/**
 * decode_verb_run() - the run() of such a verb
 * @verb: its options are decode_options
 * @argc: arguments after the verb
 * @argv: they
 * @settle: called when all options are known, to set what is not asked for;
 *	NULL: nothing is
 *
 * Return: enum kipt_exit.
 */
int decode_verb_run(const struct kipt_verb *verb, int argc, char **argv,
		    void (*settle)(struct view_options *view,
				   const char *path));

/**
 * show_file() - show a file of records
 * @path: the file
 * @view: how; its mappings are set unless they are
 *
 * Return: enum kipt_exit.
 */
int show_file(const char *path, struct view_options *view);

#endif /* KIPT_DECODE_VERB_H */
