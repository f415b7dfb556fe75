/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The last branches of a stream of records, with what has to be known before
 * the first of them: CPU, address space, mode, time.
 */
#ifndef KIPT_RECORD_TAIL_H
#define KIPT_RECORD_TAIL_H

#include <stdbool.h>

#include "../../../kmod/decode/port.h"

struct last_records;

/* With more the records would not be few. */
#define LAST_RECORDS_MAX	1000000U

/**
 * last_records_create() - nothing came yet
 * @branches: how many are kept, 1..LAST_RECORDS_MAX; instructions count as
 *	branches where there are some
 * @calls: only calls count, system calls and events among them, and of branches
 *	64 times as many are kept at most
 *
 * Return: the caller's until last_records_destroy(); NULL without memory.
 */
struct last_records *last_records_create(u32 branches, bool calls);

/**
 * last_records_destroy() - free it
 * @last: may be NULL
 */
void last_records_destroy(struct last_records *last);

/**
 * last_records_take() - more of the stream
 * @last: keeps copies
 * @records: not packed
 * @count: how many
 */
void last_records_take(struct last_records *last,
		       const struct kipt_record *records, u32 count);

/**
 * last_records_give() - the stream ended
 * @last: is empty afterwards
 * @take: is called with what was kept, in order; false ends it
 * @ctx: its first argument
 *
 * Return: what @take returned last; true if it was not called.
 */
bool last_records_give(struct last_records *last,
		       bool (*take)(void *ctx,
				    const struct kipt_record *records,
				    u32 count),
		       void *ctx);

#endif /* KIPT_RECORD_TAIL_H */
