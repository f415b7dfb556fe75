/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Takes the decoded records of a session from the kernel. Several threads
 * read, each on a socket of its own in which the kernel decodes for it;
 * reorder.c puts their chunks in order. Progress, Ctrl-C.
 */
#ifndef KIPT_FETCH_H
#define KIPT_FETCH_H

#include "../kernel/genl.h"
#include "../view/record_output.h"

/**
 * struct fetch_options - how the kernel decodes
 * @jobs: threads, 1 to JOBS_MAX; 0: as many as CPUs they may run on
 * @memory: bytes for cached code and counts, of all threads together, of which
 *	each has what the module allows; 0: as its parameter says, each
 * @cpus: CPUs they run on, or NULL: as this process
 * @nice: added to their nice value
 */
struct fetch_options {
	u32 jobs;
	u64 memory;
	const char *cpus;
	int nice;
};

/* Ids of the options in FETCH_OPTIONS. */
enum {
	FETCH_OPTION_JOBS = 150,
	FETCH_OPTION_MEMORY,
	FETCH_OPTION_CPUS,
	FETCH_OPTION_NICE,
};

/* Entries of a verb's option table. */
#define FETCH_OPTIONS							\
	{ "jobs", 0, FETCH_OPTION_JOBS, "N",				\
	  "threads that decode, 1 to 64; as many as CPUs\n"		\
	  "unless given" },						\
	{ "memory", 0, FETCH_OPTION_MEMORY, "SIZE",			\
	  "for cached code and counts, of all threads\n"			\
	  "together, 1M to 4G, but 256K to 1G for each; the\n"		\
	  "module's fetch_memory (8M) for each unless given" },		\
	{ "decode-cpus", 0, FETCH_OPTION_CPUS, "LIST",			\
	  "decode on these CPUs only" },				\
	{ "nice", 0, FETCH_OPTION_NICE, "N",				\
	  "decode at a priority that is lower by N, 0 to 19" }

/**
 * fetch_option() - take one option
 * @options: where to
 * @id: what args_option() returned
 * @value: its value
 *
 * Return: 1 if it was one of FETCH_OPTIONS, 0 if not, -1 after a sentence.
 */
int fetch_option(struct fetch_options *options, int id, const char *value);

/**
 * fetch_can() - whether this process can decode as asked for
 * @options: how
 *
 * To be asked before anything is begun.
 *
 * Return: true, or false after a sentence.
 */
bool fetch_can(const struct fetch_options *options);

/**
 * struct fetch_request - what is to be fetched
 * @id: a stopped session
 * @cpu: only this CPU, or -1
 * @options: how
 */
struct fetch_request {
	u32 id;
	int cpu;
	const struct fetch_options *options;
};

/**
 * fetch_run() - have a session decoded in the kernel and take the records
 * @request: what
 * @output: where records go; its options say which ones
 *
 * progress_interrupted() ends it early; what came until then went to @output.
 *
 * Return: true if all of it came, or false after a sentence.
 */
bool fetch_run(const struct fetch_request *request, struct output *output);

#endif /* KIPT_FETCH_H */
