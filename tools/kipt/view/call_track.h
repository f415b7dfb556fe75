/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * In which call each task is: what a branch enters, leaves or goes on with.
 * The call view and the totals share these rules.
 */
#ifndef KIPT_CALL_TRACK_H
#define KIPT_CALL_TRACK_H

#include "../symbols/address_names.h"
#include "call_stack.h"

/**
 * struct call_track_ops - what depends on who follows the calls
 * @find: an address in words, with what else is of the same symbol; the process is that of
 *	the current record
 * @line: fills the line of a frame that is entered; NULL: frames have none
 * @inlined: the innermost inlined function that the code at @site is of, in the frame
 *	on top, or NULL; NULL: nobody asks
 * @watch: called for frames that come and go, or NULL
 */
struct call_track_ops {
	void (*find)(void *ctx, u64 address, struct place *place);
	void (*line)(void *ctx, enum call_line_kind kind, u64 address,
		     struct call_line *line);
	const struct inlined *(*inlined)(void *ctx, u64 site);
	const struct call_watch *watch;
};

/**
 * struct call_track - the stacks of the tasks of one CPU
 * @ops: must live as long
 * @ctx: first argument of its functions
 * @lines: where lines go; NULL: there are none
 * @fold: repeated calls are folded
 * @stacks: one for each task that was seen, the last to run first
 * @last: the last of them
 * @stack_count: how many
 * @stack_of: them by task; 0: it is gone
 * @stack: that of the task that runs; NULL before the first CPU, or without
 *	memory
 * @task_known: somebody said who runs
 * @cr3: the page tables in use when they were known last; 0: never
 * @cr3_gaps: how many gaps there were then
 * @gaps: how many there were: any task may have run in one
 * @changes: another number as soon as what @find says may have become something else
 */
struct call_track {
	const struct call_track_ops *ops;
	void *ctx;
	struct call_lines *lines;
	bool fold;
	struct call_stack *stacks, *last;
	u32 stack_count;
	struct lookup stack_of;
	struct call_stack *stack;
	bool task_known;
	u64 cr3;
	u64 cr3_gaps;
	u64 gaps;
	u64 changes;
};

/**
 * call_track_begin() - another CPU: nothing is known
 * @track: all zero but @ops, @ctx, @lines and @fold before the first
 *
 * Return: true, or false without memory.
 */
bool call_track_begin(struct call_track *track);

/**
 * call_track_task() - a task runs from here on
 * @track: begun
 * @tid: the task
 *
 * Before the first task is known, what runs is its. Return: true if it is
 * another one than before.
 */
bool call_track_task(struct call_track *track, u32 tid);

/**
 * call_track_context() - these page tables are in use from here on
 * @track: begun
 * @cr3: 0: unknown
 */
void call_track_context(struct call_track *track, u64 cr3);

/**
 * call_track_take() - look at a record
 * @track: begun
 * @record: BRANCH, ENABLE, SYNC, DISABLE and GAP records move it
 */
void call_track_take(struct call_track *track,
		     const struct kipt_record *record);

/**
 * call_track_branches() - look at branches that follow each other
 * @track: begun
 * @records: the first
 * @count: how many records there are
 *
 * Return: how many of them, from the first on, are branches.
 */
u32 call_track_branches(struct call_track *track, const struct kipt_record *records, u32 count);

/**
 * call_track_open() - calls that were seen to begin and not to end
 * @track: begun
 *
 * Return: how many, of all its tasks.
 */
u64 call_track_open(const struct call_track *track);

/**
 * call_track_end() - free the stacks
 * @track: may have none
 */
void call_track_end(struct call_track *track);

#endif /* KIPT_CALL_TRACK_H */
