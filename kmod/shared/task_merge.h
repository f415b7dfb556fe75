/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Says which thread runs: merges what the scheduler logged into the records
 * of one CPU, as TASK records. Pure computing, also of a log out of a dump,
 * which may say anything.
 */
#ifndef KIPT_TASK_MERGE_H
#define KIPT_TASK_MERGE_H

#include "switch_log.h"

/**
 * struct kipt_task_spaces - what is known of address spaces
 * @mask: bits of a CR3 value that name one
 * @tgid: the process of one, by its name; false: unknown, or it was that of
 *	several
 * @ctx: first argument of @tgid
 */
struct kipt_task_spaces {
	u64 mask;
	bool (*tgid)(void *ctx, u64 space, u32 *tgid);
	void *ctx;
};

/**
 * struct kipt_task_merge - where in the log the records are
 * @log: of this CPU
 * @spaces: who knows the processes
 * @next: the first switch that is not passed
 * @end: the first that is later than the records
 * @space: address space the trace is in, 0 unknown
 * @tid: thread named last, ~0 none
 * @placed: @next was found by time, and no address space was named since
 */
struct kipt_task_merge {
	const struct kipt_switch_log *log;
	struct kipt_task_spaces spaces;
	u64 next;
	u64 end;
	u64 space;
	u32 tid;
	bool placed;
};

/**
 * kipt_task_merge_init() - begin with the records of a CPU
 * @merge: the state
 * @log: of this CPU; nobody writes to it
 * @spaces: copied
 */
void kipt_task_merge_init(struct kipt_task_merge *merge,
			  const struct kipt_switch_log *log,
			  const struct kipt_task_spaces *spaces);

/**
 * kipt_task_merge_at() - the records that follow begin at a PSB
 * @merge: the state; nothing of what came before is used if @begin is known
 * @begin: TSC there, 64 bits; 0: unknown
 * @end: TSC where they end; ~0: unknown
 */
void kipt_task_merge_at(struct kipt_task_merge *merge, u64 begin, u64 end);

/**
 * kipt_task_merge_go_on() - the next records begin at another PSB
 * @merge: the state; who ran before is still known
 * @begin: TSC there, 64 bits; 0: unknown, and nothing changes
 *
 * The first record with the address space or the time names the task that runs
 * there, if it is another one than before: the CPU may have switched while it did not
 * trace.
 */
void kipt_task_merge_go_on(struct kipt_task_merge *merge, u64 begin);

/**
 * kipt_task_merge_needs_time() - can address spaces alone place the switches
 * @merge: the state
 * @begin: as above
 * @end: as above
 *
 * Return: false if each switch between the two is one to another process, so
 * that no TIME record is needed to place it.
 */
bool kipt_task_merge_needs_time(const struct kipt_task_merge *merge, u64 begin,
				u64 end);

/**
 * kipt_task_merge_see() - look at the next record of the CPU
 * @merge: the state
 * @record: the record
 * @task: a TASK record that belongs right after it
 *
 * Return: true if @task was made.
 */
bool kipt_task_merge_see(struct kipt_task_merge *merge,
			 const struct kipt_record *record,
			 struct kipt_record *task);

#endif /* KIPT_TASK_MERGE_H */
