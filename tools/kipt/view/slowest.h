/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The slowest runs of the functions that a profile wants: a run is from the call to
 * the return, of calls of a function within a call of it the outermost counts. Memory has
 * a bound: the runs that are kept, and lines of the slowest and of those that are under way.
 */
#ifndef KIPT_SLOWEST_H
#define KIPT_SLOWEST_H

#include "call_stack.h"
#include "profile.h"

#define SLOWEST_BEFORE	5
#define SLOWEST_INSIDE	60

/**
 * struct slow_line - a call
 * @symbol: index in the profile
 * @level: of its frame
 * @number: of its frame
 * @ended: how many ended before it
 * @ticks: how long it was; 0: not known
 * @branches: of its task, while it was under way
 * @unseen: its return is not in the trace
 * @gap: something is missing within
 */
struct slow_line {
	u32 symbol;
	u32 level;
	u64 number;
	u64 ended;
	u64 ticks;
	u64 branches;
	bool unseen;
	bool gap;
};

/**
 * struct slow_run - one of the slowest
 * @line: the run itself
 * @call: when and where it was; its ticks are those of @line
 * @zero: TSC that times of its CPU count from
 */
struct slow_run {
	struct slow_line line;
	struct profile_call call;
	u64 zero;
};

/**
 * struct slow_lines - what belongs to one run
 * @outer: the run that it is within, of another function; or NULL
 * @number: of its frame
 * @before: the last calls that returned before it
 * @before_count: how many
 * @inside: calls within it, the slowest, in any order
 * @inside_count: how many
 * @fastest: the index of the one that makes room for a slower one
 * @left_out: so many more were within it
 */
struct slow_lines {
	struct slow_lines *outer;
	u64 number;
	struct slow_line before[SLOWEST_BEFORE];
	u32 before_count;
	struct slow_line inside[SLOWEST_INSIDE];
	u32 inside_count;
	u32 fastest;
	u64 left_out;
};

/**
 * struct slowest - runs
 * @runs: the slowest, a heap with the fastest of them first; sorted by
 *	slowest_sort()
 * @count: how many
 * @top: so many are kept
 * @ended: how many calls ended
 * @all: how many runs there were
 * @unseen: how many more began, whose return is not in the trace
 * @first: the slowest of all, if there is @lines
 * @lines: of it; NULL: there is none
 * @failed: there was no memory
 */
struct slowest {
	struct slow_run *runs;
	u32 count;
	u32 top;
	u64 ended;
	u64 all;
	u64 unseen;
	struct slow_run first;
	struct slow_lines *lines;
	bool failed;
};

/**
 * slowest_create() - nothing came
 * @top: keep so many; 0: as many as there is room for
 *
 * Return: the caller's until slowest_destroy(); NULL without memory.
 */
struct slowest *slowest_create(u32 top);

/**
 * slowest_destroy() - free it
 * @slowest: may be NULL
 */
void slowest_destroy(struct slowest *slowest);

/**
 * slowest_begin() - a run begins
 * @slowest: runs
 * @stack: of its task, which is in no run of this function
 * @frame: its call
 */
void slowest_begin(struct slowest *slowest, struct call_stack *stack,
		   const struct frame *frame);

/**
 * slowest_end() - a call ends
 * @slowest: runs
 * @stack: of its task
 * @run: the call; kept if it is a run; @ended is set here
 */
void slowest_end(struct slowest *slowest, struct call_stack *stack,
		 struct slow_run *run);

/**
 * slowest_drop() - what was a run is another function
 * @stack: of its task
 * @number: of the frame
 */
void slowest_drop(struct call_stack *stack, u64 number);

/**
 * slowest_sort() - the slowest first, and lines in the order in which they began
 * @slowest: nothing comes any more
 */
void slowest_sort(struct slowest *slowest);

#endif /* KIPT_SLOWEST_H */
