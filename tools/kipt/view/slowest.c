// SPDX-License-Identifier: GPL-2.0-only
/*
 * The slowest runs, see slowest.h. Where the trace has no times, all are equally
 * long, and the number of branches decides.
 */
#include <stdlib.h>
#include <string.h>

#include "../cli/list_room.h"
#include "slowest.h"

/* Runs that are kept, whatever is asked for. */
#define RUNS_MAX	(1 << 20)

/* What is kept of a task. @run: the innermost that is under way. */
struct slow_task {
	struct slow_line before[SLOWEST_BEFORE];
	u32 before_count;
	struct slow_lines *run;
};

struct slowest *slowest_create(u32 top)
{
	struct slowest *slowest = calloc(1, sizeof(*slowest));

	if (slowest)
		slowest->top = top && top < RUNS_MAX ? top : RUNS_MAX;
	return slowest;
}

void slowest_destroy(struct slowest *slowest)
{
	if (!slowest)
		return;
	free(slowest->runs);
	free(slowest->lines);
	free(slowest);
}

/* Below 0: @a comes first. No two are equal. */
static int slower(const struct slow_line *a, const struct slow_line *b)
{
	if (a->ticks != b->ticks)
		return a->ticks > b->ticks ? -1 : 1;
	if (a->branches != b->branches)
		return a->branches > b->branches ? -1 : 1;
	if (a->level != b->level)
		return a->level < b->level ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

static int run_compare(const void *a, const void *b)
{
	const struct slow_run *left = a, *right = b;
	struct slow_line one = left->line, two = right->line;

	/* How deep a run was does not matter. */
	one.level = 0;
	two.level = 0;
	return slower(&one, &two);
}

static int number_compare(const void *left, const void *right)
{
	const struct slow_line *a = left, *b = right;

	return a->number < b->number ? -1 : a->number > b->number;
}

static bool runs_grow(struct slowest *slowest)
{
	struct slow_run *runs = list_room(slowest->runs, slowest->count,
					  sizeof(*runs));

	if (runs)
		slowest->runs = runs;
	else
		slowest->failed = true;
	return runs;
}

static void run_swap(struct slow_run *a, struct slow_run *b)
{
	struct slow_run kept = *a;

	*a = *b;
	*b = kept;
}

static void heap_rise(struct slow_run *runs, u32 at)
{
	for (; at && run_compare(&runs[(at - 1) / 2], &runs[at]) < 0;
	     at = (at - 1) / 2)
		run_swap(&runs[(at - 1) / 2], &runs[at]);
}

static void heap_sink(struct slow_run *runs, u32 count)
{
	u32 at = 0, below;

	for (below = 1; below < count; below = 2 * at + 1) {
		if (below + 1 < count &&
		    run_compare(&runs[below], &runs[below + 1]) < 0)
			below++;
		if (run_compare(&runs[at], &runs[below]) >= 0)
			return;
		run_swap(&runs[at], &runs[below]);
		at = below;
	}
}

static void run_keep(struct slowest *slowest, const struct slow_run *run)
{
	if (slowest->count < slowest->top) {
		if (!runs_grow(slowest))
			return;
		slowest->runs[slowest->count] = *run;
		heap_rise(slowest->runs, slowest->count++);
	} else if (run_compare(run, &slowest->runs[0]) < 0) {
		slowest->runs[0] = *run;
		heap_sink(slowest->runs, slowest->count);
	}
}

static struct slow_task *task_of(struct slowest *slowest,
				 struct call_stack *stack)
{
	if (!stack->kept)
		stack->kept = calloc(1, sizeof(struct slow_task));
	slowest->failed |= !stack->kept;
	return stack->kept;
}

void slowest_begin(struct slowest *slowest, struct call_stack *stack,
		   const struct frame *frame)
{
	struct slow_task *task = task_of(slowest, stack);
	struct slow_lines *lines;

	if (!task)
		return;
	lines = calloc(1, sizeof(*lines));
	slowest->failed |= !lines;
	if (!lines)
		return;
	lines->outer = task->run;
	lines->number = frame->number;
	memcpy(lines->before, task->before, sizeof(lines->before));
	lines->before_count = task->before_count;
	task->run = lines;
}

static void fastest_find(struct slow_lines *lines)
{
	u32 i;

	lines->fastest = 0;
	for (i = 1; i < lines->inside_count; i++) {
		if (slower(&lines->inside[lines->fastest],
			   &lines->inside[i]) < 0)
			lines->fastest = i;
	}
}

static void inside_add(struct slow_lines *lines, const struct slow_line *line)
{
	if (lines->inside_count < SLOWEST_INSIDE) {
		lines->inside[lines->inside_count++] = *line;
		fastest_find(lines);
		return;
	}
	lines->left_out++;
	if (slower(line, &lines->inside[lines->fastest]) >= 0)
		return;
	lines->inside[lines->fastest] = *line;
	fastest_find(lines);
}

static void before_add(struct slow_task *task, const struct slow_line *line)
{
	if (task->before_count == SLOWEST_BEFORE)
		memmove(task->before, task->before + 1,
			(--task->before_count) * sizeof(*line));
	task->before[task->before_count++] = *line;
}

/* Takes the run of a frame off the list. Return: it; NULL: the frame is no run. */
static struct slow_lines *run_take(struct slow_task *task, u64 number)
{
	struct slow_lines **at = &task->run, *lines;

	while (*at && (*at)->number != number)
		at = &(*at)->outer;
	lines = *at;
	if (lines)
		*at = lines->outer;
	return lines;
}

static void run_end(struct slowest *slowest, struct slow_lines *lines,
		    const struct slow_run *run)
{
	if (run->line.unseen) {
		slowest->unseen++;
		free(lines);
		return;
	}
	slowest->all++;
	run_keep(slowest, run);
	if (slowest->lines && run_compare(run, &slowest->first) >= 0) {
		free(lines);
		return;
	}
	free(slowest->lines);
	slowest->lines = lines;
	slowest->first = *run;
}

void slowest_end(struct slowest *slowest, struct call_stack *stack,
		 struct slow_run *run)
{
	struct slow_task *task = task_of(slowest, stack);
	struct slow_lines *own, *outer;

	run->line.ended = slowest->ended++;
	if (!task)
		return;
	own = run_take(task, run->line.number);
	for (outer = task->run; outer; outer = outer->outer)
		inside_add(outer, &run->line);
	if (own)
		run_end(slowest, own, run);
	if (!run->line.unseen)
		before_add(task, &run->line);
}

void slowest_drop(struct call_stack *stack, u64 number)
{
	if (stack->kept)
		free(run_take(stack->kept, number));
}

void slowest_sort(struct slowest *slowest)
{
	struct slow_lines *lines = slowest->lines;

	if (slowest->count)
		qsort(slowest->runs, slowest->count, sizeof(*slowest->runs),
		      run_compare);
	if (!lines)
		return;
	qsort(lines->before, lines->before_count, sizeof(*lines->before),
	      number_compare);
	qsort(lines->inside, lines->inside_count, sizeof(*lines->inside),
	      number_compare);
}
