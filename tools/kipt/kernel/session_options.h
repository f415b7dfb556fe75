/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The options that say how to trace, for the verbs that make a session.
 */
#ifndef KIPT_SESSION_OPTIONS_H
#define KIPT_SESSION_OPTIONS_H

#include "../cli/kipt.h"
#include "../filter/filter.h"
#include "genl.h"

/**
 * struct setup - how to trace, as asked for
 * @cpus: CPU list, or NULL
 * @size: bytes per CPU
 * @mode: enum kipt_mode
 * @ctl: text for ctl_parse(), or NULL
 * @filters: --filter and --stop-at
 * @filter_count: how many
 * @size_given: @size was asked for, and is not a default
 * @pid: process that is traced, 0: all are
 * @follow_fork: the processes it makes are traced too
 * @ctl_without: bits the default of @ctl does not have
 * @print_branches: lines that an armed session has printed at a crash
 * @print_cpus: of each other CPU
 * @print_user: and branches of user code
 * @made: NULL, or called when the session is there and does not trace yet; false, after
 *	a sentence, gives it up
 * @ctx: its argument
 */
struct setup {
	const char *cpus;
	u64 size;
	u32 mode;
	const char *ctl;
	struct filter filters[KIPT_FILTERS_MAX];
	u32 filter_count;
	u32 pid;
	bool follow_fork;
	bool size_given;
	u64 ctl_without;
	u32 print_branches;
	u32 print_cpus;
	u32 print_user;
	bool (*made)(void *ctx);
	void *ctx;
};

enum {
	SETUP_OPTION_CPUS = 50,
	SETUP_OPTION_SIZE,
	SETUP_OPTION_MODE,
	SETUP_OPTION_CTL,
	SETUP_OPTION_FILTER,
	SETUP_OPTION_STOP_AT,
	SETUP_OPTION_PID,
	SETUP_OPTION_FORK,
};

/* Entries of a verb's option table; these texts differ. */
#define SETUP_OPTIONS(cpus_help, size_default)				\
	{ "cpus", 'c', SETUP_OPTION_CPUS, "LIST", cpus_help },		\
	{ "size", 's', SETUP_OPTION_SIZE, "SIZE",			\
	  "buffer of each CPU, a power of two such as 4M or\n"		\
	  "1G; K, M, G may follow the number; " size_default "\n"	\
	  "unless given" },						\
	{ "mode", 'm', SETUP_OPTION_MODE, "ring|once",			\
	  "when the buffer is full: ring overwrites the\n"		\
	  "oldest trace (the default), once stops" },			\
	{ "ctl", 0, SETUP_OPTION_CTL, "FIELDS",				\
	  "fields of IA32_RTIT_CTL by the manual's names,\n"		\
	  "such as OS,User,BranchEn,TSCEn,MTCEn,MTCFreq=3;\n"		\
	  "with + or - before each name the default is\n"		\
	  "changed: +PTWEn,+FUPonPTW,-User. Names: OS User\n"		\
	  "BranchEn DisRETC PTWEn FUPonPTW PwrEvtEn TSCEn\n"		\
	  "MTCEn MTCFreq CYCEn CycThresh PSBFreq EventEn\n"		\
	  "DisTNT; or as perf names them: branch noretcomp\n"		\
	  "ptw fup_on_ptw pwr_evt tsc mtc mtc_period cyc\n"		\
	  "cyc_thresh psb_period event notnt" },			\
	{ "filter", 'f', SETUP_OPTION_FILTER, "RANGE",			\
	  "trace only code in RANGE: a kernel function or a\n"		\
	  "part of it (SYMBOL, SYMBOL+OFFSET/SIZE), a kernel\n"	\
	  "MODULE, one of a program or library (FILE:SYMBOL),\n"	\
	  "all of one (its path, ./prog), or ADDR-ADDR, both\n"	\
	  "inclusive; may be repeated, as far as the CPUs\n"		\
	  "have ranges" },						\
	{ "stop-at", 0, SETUP_OPTION_STOP_AT, "RANGE",			\
	  "end the trace of a CPU when it branches into RANGE" },	\
	{ "pid", 'p', SETUP_OPTION_PID, "PID",				\
	  "trace only this process, all of its threads" },		\
	{ "fork", 0, SETUP_OPTION_FORK, NULL,				\
	  "with --pid: the processes it makes, too" }

/**
 * setup_option() - take one option
 * @setup: where to
 * @id: what args_option() returned
 * @value: its value
 *
 * Return: 1 if it was one of SETUP_OPTIONS, 0 if not, -1 after a sentence.
 */
int setup_option(struct setup *setup, int id, const char *value);

/**
 * setup_ranges() - find the addresses of all filters
 * @setup: says which
 * @where: where things are
 * @session: its filter and filter_count are filled
 * @missing: filled on FILTER_NOT_MAPPED: which is not
 *
 * Return: enum filter_result.
 */
enum filter_result setup_ranges(const struct setup *setup,
				struct filter_where *where,
				struct kipt_session *session,
				const struct filter **missing);

/**
 * setup_ranges_now() - find them, in the process --pid names if it does
 * @setup: says which
 * @session: its filter and filter_count are filled
 *
 * Return: true, or false after a sentence.
 */
bool setup_ranges_now(const struct setup *setup, struct kipt_session *session);

/**
 * setup_ctl() - IA32_RTIT_CTL of the session that setup_session() will make
 * @setup: how
 * @info: capabilities, for the default
 * @ctl: filled
 *
 * Return: true, or false after a sentence.
 */
bool setup_ctl(const struct setup *setup, const struct kipt_info *info,
	       u64 *ctl);

/**
 * setup_session() - make and start a session
 * @genl: connection
 * @setup: how; its cpus are not NULL
 * @flags: KIPT_SESSION_FLAGS_*
 * @info: capabilities, for the default of ctl
 * @session: filled; its filter and filter_count are there already. Its id is 0
 *	if there is none in the end.
 *
 * Return: enum kipt_exit; KIPT_EXIT_DONE: the session traces.
 */
int setup_session(struct genl *genl, const struct setup *setup, u32 flags,
		  const struct kipt_info *info, struct kipt_session *session);

#endif /* KIPT_SESSION_OPTIONS_H */
