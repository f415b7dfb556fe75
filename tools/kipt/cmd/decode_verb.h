/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Verbs that decode a file here: they differ in what they show unless asked.
 */
#ifndef KIPT_DECODE_VERB_H
#define KIPT_DECODE_VERB_H

#include "../view/view.h"

/* Ids of the options below; verbs use lower ones, VIEW_OPTIONS others. */
enum {
	DECODE_OPTION_JOBS = 200,
	DECODE_OPTION_SYMFS,
	DECODE_OPTION_VMLINUX,
	DECODE_OPTION_NO_DEMANGLE,
};

/* Entries of verbs that decode a perf.data. */
#define DECODE_JOBS_OPTION						\
	{ "jobs", 0, DECODE_OPTION_JOBS, "N",				\
	  "threads, 1 to 64; as many as CPUs unless given" }

#define DECODE_PERF_OPTIONS						\
	{ "symfs", 0, DECODE_OPTION_SYMFS, "DIR",			\
	  "perf.data of another machine: its files of code and\n"	\
	  "symbols are those at their paths in DIR, and never\n"	\
	  "those of this machine" },					\
	{ "vmlinux", 0, DECODE_OPTION_VMLINUX, "FILE",			\
	  "perf.data: code and symbols of its kernel, which\n"		\
	  "has the build id of FILE" },					\
	{ "no-demangle", 0, DECODE_OPTION_NO_DEMANGLE, NULL,		\
	  "names of C++ and Rust as symbols have them; JSON\n"		\
	  "always has those" }

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
 * jobs_default() - how many threads decode unless somebody says otherwise
 *
 * Return: the number of CPUs that this process may use.
 */
u32 jobs_default(void);

/**
 * jobs_option() - take --jobs
 * @jobs: filled on success
 * @value: its value
 *
 * Return: true, or false after a sentence.
 */
bool jobs_option(u32 *jobs, const char *value);

/**
 * symfs_option() - take --symfs
 * @symfs: NULL or one that was taken before; the caller's to free
 * @value: its value
 *
 * Return: true, or false after a sentence.
 */
bool symfs_option(char **symfs, const char *value);

/**
 * show_file() - show a file of records
 * @path: the file
 * @view: how; its mappings are set unless they are
 *
 * Return: enum kipt_exit.
 */
int show_file(const char *path, struct view_options *view);

#endif /* KIPT_DECODE_VERB_H */
