/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The end of what a task did: of all records that come, the last ones up to
 * a place, such as the instruction that killed it.
 */
#ifndef KIPT_TASK_TAIL_H
#define KIPT_TASK_TAIL_H

#include <stdbool.h>

#include "../../../kmod/decode/port.h"
#include "../../../uapi/linux/kipt_record.h"

struct ending;

/**
 * ending_create() - nothing has come yet
 * @tid: the task
 * @ip: the instruction that faulted, or the one after a system call that did
 *	not return
 *
 * Return: the caller's until ending_destroy(); NULL without memory.
 */
struct ending *ending_create(u32 tid, u64 ip);

/**
 * ending_destroy() - free it
 * @ending: may be NULL
 */
void ending_destroy(struct ending *ending);

/**
 * ending_take() - records
 * @ending: ending
 * @records: what, in order, of one CPU; none of them packed
 * @count: how many
 */
void ending_take(struct ending *ending, const struct kipt_record *records,
		 u32 count);

/**
 * ending_give() - what there is up to the place
 * @ending: ending
 * @give: called with records, in order; before the first of a later time come
 *	those that say which CPU, task and address space it is of; false ends it
 * @ctx: its first argument
 * @after: how many taken branches, of whichever task, came after the place
 *
 * Return: true if the place is the last of them, or false if it was not found:
 * all are given then.
 */
bool ending_give(const struct ending *ending,
		 bool (*give)(void *ctx, const struct kipt_record *records,
			      u32 count), void *ctx, u64 *after);

#endif /* KIPT_TASK_TAIL_H */
