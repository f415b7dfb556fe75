/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The calls of a profile's feed as slices of a file for Perfetto: a lane for each CPU with
 * the tasks that run on it, and one for the calls of each task on each CPU.
 */
#ifndef KIPT_LANES_H
#define KIPT_LANES_H

#include "call_stack.h"
#include "perfetto.h"

struct profile_feed;

/**
 * struct lane_cpu - what the lanes of a CPU show
 * @tasks: lane of its tasks; 0: there is none yet
 * @ratio: of its core:bus ratios
 * @power: of its C-states
 * @open: a task is shown as running; @tid, @pid
 * @arrow_to: lane of the task that it is to be shown on that it runs; 0: it is
 * @arrived: TSC since which it does
 * @flow: of the arrow to there
 * @held: gaps that came before the first time
 * @held_count: how many
 */
struct lane_cpu {
	u32 tasks, ratio, power;
	bool open;
	u32 tid, pid;
	u32 arrow_to;
	u64 arrived;
	u64 flow;
	struct kipt_record held[4];
	u32 held_count;
};

/**
 * lanes_create() - make the file
 * @path: its name
 *
 * Return: the caller's until lanes_destroy(); NULL after a sentence.
 */
struct lanes *lanes_create(const char *path);

/**
 * lanes_enter() - a frame is on top now, and not named yet
 * @feed: where it is
 * @stack: of the CPU whose records come
 */
void lanes_enter(struct profile_feed *feed, struct call_stack *stack);

/**
 * lanes_rename() - the frame on top is another function's
 * @feed: where it is
 * @stack: of the CPU whose records come
 * @frame: its top, named anew
 */
void lanes_rename(struct profile_feed *feed, struct call_stack *stack, struct frame *frame);

/**
 * lanes_leave() - a frame is going
 * @feed: where it is
 * @stack: of any CPU
 * @frame: its top, or one that is forgotten though others are above it
 * @end: TSC at which it ended
 */
void lanes_leave(struct profile_feed *feed, struct call_stack *stack, struct frame *frame,
		 u64 end);

/**
 * lanes_away() - the CPU may get another task
 * @feed: where it is
 */
void lanes_away(struct profile_feed *feed);

/**
 * lanes_task() - the CPU has a task now, and its stack
 * @feed: where it is
 * @named: what ran before is this task's
 */
void lanes_task(struct profile_feed *feed, bool named);

/**
 * lanes_take() - look at a record, after the feed did
 * @feed: where it is
 * @record: TIME, GAP, CBR and POWER records are shown
 */
void lanes_take(struct profile_feed *feed, const struct kipt_record *record);

/**
 * lanes_end() - no more will come: end what is open, and finish the file
 * @feed: has no stacks any more
 *
 * Return: true if all of it was written, or false after a sentence.
 */
bool lanes_end(struct profile_feed *feed);

/**
 * lanes_destroy() - free it
 * @lanes: may be NULL
 */
void lanes_destroy(struct lanes *lanes);

#endif /* KIPT_LANES_H */
