/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Adds to the records of a CPU that died which threads ran, and finishes those
 * records for which that is needed.
 */
#ifndef KIPT_RECORD_SCAN_H
#define KIPT_RECORD_SCAN_H

#include <stdbool.h>

#include "../../../kmod/shared/task_merge.h"
#include "module_logs.h"

/**
 * struct crash_who - records on their way
 * @logs: who ran; no entries: that is not known
 * @time: TIME and CBR records are wanted, not only made to place threads
 * @give: where records go; false ends it
 * @ctx: its first argument
 * @merge: where in the log the records are
 *
 * The first four are set, the rest is zero at first.
 */
struct crash_who {
	const struct crash_logs *logs;
	bool time;
	bool (*give)(void *ctx, const struct kipt_record *records, u32 count);
	void *ctx;
	struct kipt_task_merge merge;
};

/**
 * crash_who_known() - whether threads can be known
 * @who: where records go
 *
 * Return: true if there is a log; then TIME records are needed to place them.
 */
bool crash_who_known(const struct crash_who *who);

/**
 * crash_who_begin() - the records begin, or go on after a hole
 * @who: where to
 * @begin: TSC there; 0: unknown
 * @end: TSC where they end; ~0: unknown
 *
 * Return: how many switches are not known that may belong to them.
 */
u64 crash_who_begin(struct crash_who *who, u64 begin, u64 end);

/**
 * crash_who_take() - records of the flow
 * @who: where to
 * @records: what, in order
 * @count: how many
 *
 * Return: what @give returned last; true if it was not called.
 */
bool crash_who_take(struct crash_who *who, const struct kipt_record *records,
		    u32 count);

#endif /* KIPT_RECORD_SCAN_H */
