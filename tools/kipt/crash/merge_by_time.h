/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The last records of several CPUs, put into one order by their times.
 */
#ifndef KIPT_MERGE_BY_TIME_H
#define KIPT_MERGE_BY_TIME_H

#include <stdbool.h>

#include "../../../kmod/decode/port.h"

struct stream;

/**
 * struct crash_merge - records of CPUs; none if all zero
 * @streams: a CPU's each
 * @count: how many
 * @last: the one that was given last
 */
struct crash_merge {
	struct stream *streams;
	u32 count;
	const struct stream *last;
};

/**
 * crash_merge_free() - free what is in it
 * @merge: of no use afterwards
 */
void crash_merge_free(struct crash_merge *merge);

/**
 * crash_merge_take() - records of a CPU
 * @merge: keeps copies
 * @records: not packed, with TIME records; a CPU record begins each CPU
 * @count: how many
 *
 * Return: true, or false after a sentence.
 */
bool crash_merge_take(struct crash_merge *merge,
		      const struct kipt_record *records, u32 count);

/**
 * crash_merge_give() - all of them, in order
 * @merge: has all CPUs
 * @take: gets the records; false ends it
 * @ctx: its first argument
 *
 * What is between two TIME records of a CPU stays together, and comes when
 * the first of them does. Where the CPU changes a CPU record says so, and what
 * holds there (task, address space, mode) is said again. A CPU without
 * times comes first.
 *
 * Return: what @take returned last.
 */
bool crash_merge_give(struct crash_merge *merge,
		      bool (*take)(void *ctx,
				   const struct kipt_record *records,
				   u32 count),
		      void *ctx);

#endif /* KIPT_MERGE_BY_TIME_H */
