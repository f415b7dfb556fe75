/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What main.c and the verbs share: the form of a verb and the exit statuses.
 * Each verb is in a file of its own, cmd_<verb>.c.
 */
#ifndef KIPT_KIPT_H
#define KIPT_KIPT_H

#include "../../../kmod/decode/port.h"
#include "../../../kmod/lib/version.h"

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

/**
 * enum kipt_exit - exit statuses of the tool
 * @KIPT_EXIT_DONE: done
 * @KIPT_EXIT_FAILED: refused or failed; a sentence is on stderr
 * @KIPT_EXIT_USAGE: the command line makes no sense
 */
enum kipt_exit {
	KIPT_EXIT_DONE = 0,
	KIPT_EXIT_FAILED = 1,
	KIPT_EXIT_USAGE = 2,
};

/**
 * struct kipt_option - one option of a verb
 * @name: without the dashes; NULL ends a table
 * @letter: short form, or 0
 * @id: what args_option() returns for it, from 1
 * @value: name of its value for the help, in brackets if it may be left out; NULL
 *	if it takes none
 * @help: what it does; lines after the first are indented by the printer.
 *	NULL: not shown; it is refused with a sentence of its own
 */
struct kipt_option {
	const char *name;
	char letter;
	int id;
	const char *value;
	const char *help;
};

/**
 * struct kipt_verb - one verb
 * @name: what a person types
 * @operands: what is after the options, for the usage line
 * @summary: one line for the list of verbs
 * @about: paragraphs for its --help
 * @examples: lines for its --help
 * @options: table that ends with an empty entry
 * @run: does it; the arguments are those after the verb. Returns enum
 *	kipt_exit or, for record, the command's own status.
 */
struct kipt_verb {
	const char *name;
	const char *operands;
	const char *summary;
	const char *about;
	const char *examples;
	const struct kipt_option *options;
	int (*run)(int argc, char **argv);
};

extern const struct kipt_verb verb_info;
extern const struct kipt_verb verb_doctor;
extern const struct kipt_verb verb_start;
extern const struct kipt_verb verb_stop;
extern const struct kipt_verb verb_status;
extern const struct kipt_verb verb_fetch;
extern const struct kipt_verb verb_delete;
extern const struct kipt_verb verb_arm;
extern const struct kipt_verb verb_disarm;
extern const struct kipt_verb verb_record;
extern const struct kipt_verb verb_open;
extern const struct kipt_verb verb_diff;
extern const struct kipt_verb verb_merge;
extern const struct kipt_verb verb_decode;
extern const struct kipt_verb verb_show;
extern const struct kipt_verb verb_packets;
extern const struct kipt_verb verb_crash;
extern const struct kipt_verb verb_core;

/* All of them; the last entry is NULL. */
extern const struct kipt_verb *const kipt_verbs[];

#endif /* KIPT_KIPT_H */
