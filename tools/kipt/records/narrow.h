/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Leaves only the records of some CPUs and tasks in a stream.
 */
#ifndef KIPT_NARROW_H
#define KIPT_NARROW_H

#include <stdbool.h>

#include "../cli/lookup.h"
#include "record_state.h"

/**
 * struct narrow_options - what is left; a choice that is empty leaves all
 * @cpus: CPUs
 * @pids: processes
 * @tids: threads
 * @comm: name of threads, or NULL
 */
struct narrow_options {
	struct lookup cpus;
	struct lookup pids;
	struct lookup tids;
	const char *comm;
};

/**
 * narrow_any() - whether something is left out
 * @options: the choices
 */
bool narrow_any(const struct narrow_options *options);

/**
 * narrow_cpus() - choose CPUs
 * @options: the choices
 * @list: a CPU list such as "0-3,6"
 *
 * Return: true, or false after a sentence.
 */
bool narrow_cpus(struct narrow_options *options, const char *list);

/**
 * narrow_pids() - choose processes
 * @options: the choices
 * @list: decimal numbers with commas between them
 *
 * Return: true, or false after a sentence.
 */
bool narrow_pids(struct narrow_options *options, const char *list);

/**
 * narrow_tids() - choose threads
 * @options: the choices
 * @list: decimal numbers with commas between them
 *
 * Return: true, or false after a sentence.
 */
bool narrow_tids(struct narrow_options *options, const char *list);

/**
 * narrow_free() - free the choices
 * @options: all zero afterwards
 */
void narrow_free(struct narrow_options *options);

/**
 * struct narrow - a stream that is narrowed; all else 0 at its begin
 * @options: the choices; must live as long
 * @comm: names a thread; NULL if no name was chosen
 * @give: gets what is left, in order; false ends the stream
 * @ctx: first argument of both
 * @state: where the stream is
 * @begun: there was a record
 * @left: records of its CPU and task are left
 * @given: @state was given since they are
 * @edges: EDGE records are left
 * @counted: branches came as counts that cannot be told apart by these choices;
 *	none of them is left
 */
struct narrow {
	const struct narrow_options *options;
	const char *(*comm)(void *ctx, u32 tid, u32 pid);
	bool (*give)(void *ctx, const struct kipt_record *records, u32 count);
	void *ctx;
	struct record_state state;
	bool begun;
	bool left;
	bool given;
	bool edges;
	bool counted;
};

/**
 * narrow_take() - some more records
 * @narrow: the stream
 * @records: unpacked ones, in order
 * @count: how many
 *
 * What is left begins, each time, with the records that say on which CPU, in which
 * task and when it is. Gaps of a chosen CPU are left whichever task they are in: a
 * chosen one may have run in them.
 *
 * Return: false if @give did.
 */
bool narrow_take(struct narrow *narrow, const struct kipt_record *records,
		 u32 count);

#endif /* KIPT_NARROW_H */
