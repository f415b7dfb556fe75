/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The options that say how to trace, for the verbs that make a session.
 */
#ifndef KIPT_SETUP_H
#define KIPT_SETUP_H

#include "genl.h"
#include "kipt.h"

/**
 * struct setup - how to trace, as asked for
 * @cpus: CPU list, or NULL
 * @size: bytes per CPU
 * @mode: enum kipt_mode
 * @ctl: text for ctl_parse(), or NULL
 */
struct setup {
	const char *cpus;
	u64 size;
	u32 mode;
	const char *ctl;
};

enum {
	SETUP_OPTION_CPUS = 50,
	SETUP_OPTION_SIZE,
	SETUP_OPTION_MODE,
	SETUP_OPTION_CTL,
};

/* Entries of a verb's option table; @cpus_help differs. */
#define SETUP_OPTIONS(cpus_help)					\
	{ "cpus", 'c', SETUP_OPTION_CPUS, "LIST", cpus_help },		\
	{ "size", 's', SETUP_OPTION_SIZE, "SIZE",			\
	  "buffer of each CPU, a power of two such as 4M or\n"		\
	  "1G; K, M, G may follow the number" },			\
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
	  "DisTNT" }

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
 * setup_session() - make and start a session
 * @genl: connection
 * @setup: how; its cpus are not NULL
 * @flags: KIPT_SESSION_FLAGS_*
 * @info: capabilities, for the default of ctl
 * @session: filled
 *
 * Return: enum kipt_exit; KIPT_EXIT_DONE: the session traces.
 */
int setup_session(struct genl *genl, const struct setup *setup, u32 flags,
		  const struct kipt_info *info, struct kipt_session *session);

#endif /* KIPT_SETUP_H */
