/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The trace as one page for a browser: sums of call paths, tasks and losses by stretches of
 * time of equal length, and the longest calls. Memory has a bound: stretches become longer,
 * and short calls are merged. The page is written at the end, by html_write().
 */
#ifndef KIPT_HTML_H
#define KIPT_HTML_H

#include "../cli/output_file.h"
#include "call_stack.h"
#include "html_cells.h"
#include "html_lines.h"

struct profile_feed;

/* Stretches of time at most; from half as many on small sums are merged, too. */
#define HTML_BUCKETS	2048U
/* Calls of which each is on the page, while there are no more; else the longest. */
#define HTML_CALLS_ALL	32768U
#define HTML_CALLS_LONGEST	1000U
/* Bytes of a page. */
#define HTML_BYTES	(20U << 20)
/* What was merged in a call path: a child in the tree of the feed. */
#define HTML_MERGED	(~0U)
/* The CPU or task of which nothing is known, and tasks that have no sums of their own. */
#define HTML_NOBODY	(~0U)

/**
 * struct html_call - one call
 * @begun: TSC
 * @ticks: how long it took
 * @symbol: index in the profile
 * @cpu: index in the profile, or HTML_NOBODY
 * @tid: thread; 0: not known
 * @level: calls that it is in
 * @source: its function, as html_lines_number() takes it
 * @unseen: its return is not in the trace
 * @gap: something is missing within
 */
struct html_call {
	u64 begun, ticks;
	u32 symbol;
	u32 cpu, tid;
	u32 level;
	u32 source;
	bool unseen, gap;
};

/**
 * struct html - what the page is made of
 * @file: where to
 * @sums: @paths: by node in the tree of the feed; @runs: by CPU and task; @losses: by CPU and
 *	kind of gap
 * @floor: call paths of fewer ticks in a bucket were merged; 0: none
 * @calls: calls, all of them or the longest
 * @call_count: how many
 * @calls_seen: how many there were
 * @calls_floor: shorter ones are left out
 * @untimed_calls: calls that ended before the first time
 * @untimed_gaps: gaps before it
 * @joined: by index in the profile: the task has no sums of its own
 * @joined_room: tasks that have an entry
 * @joined_count: how many have no sums
 * @lines: lines of source code, if they are wanted; else NULL
 * @sums_most: sums that are kept while records come
 * @too_much: not even the shortest page is short enough
 * @failed: memory ran out
 */
struct html {
	struct fresh_file file;
	struct html_sums sums;
	u64 floor;
	struct html_call *calls;
	size_t call_count;
	u64 calls_seen;
	u64 calls_floor;
	u64 untimed_calls, untimed_gaps;
	bool *joined;
	u32 joined_room, joined_count;
	struct html_lines *lines;
	size_t sums_most;
	bool too_much;
	bool failed;
};

/**
 * html_create() - make the file
 * @path: its name
 * @lines: of whom calls get lines of source code; NULL: they have none
 *
 * Return: the caller's until html_destroy(); NULL after a sentence.
 */
struct html *html_create(const char *path, struct names *lines);

/**
 * html_spend() - code ran on the CPU whose records come
 * @feed: where it is, at the time before
 * @node: its call path
 * @ticks: so long
 */
void html_spend(struct profile_feed *feed, u32 node, u64 ticks);

/**
 * html_lose() - time passed on the CPU whose records come, and is lost
 * @feed: where it is, at the time before
 * @ticks: so long
 */
void html_lose(struct profile_feed *feed, u64 ticks);

/**
 * html_gap() - the trace of the CPU whose records come has a gap
 * @feed: where it is
 * @kind: enum kipt_gap_kind
 */
void html_gap(struct profile_feed *feed, u32 kind);

/**
 * html_leave() - a call ended
 * @feed: where it is
 * @stack: whose call it is
 * @frame: the call
 * @ticks: how long it took
 * @returned: its return was seen
 */
void html_leave(struct profile_feed *feed, const struct call_stack *stack,
		const struct frame *frame, u64 ticks, bool returned);

/**
 * html_shrink() - have fewer sums
 * @feed: whose page it is
 * @most: sums at most
 *
 * Return: false without memory.
 */
bool html_shrink(struct profile_feed *feed, size_t most);

/**
 * html_tasks_keep() - have no sums of tasks that ran little
 * @feed: whose page it is
 * @most: tasks that keep their sums at most: those that ran most; what the others ran, and
 *	will run, is HTML_NOBODY's
 *
 * Return: false without memory.
 */
bool html_tasks_keep(struct profile_feed *feed, u32 most);

/**
 * html_tasks_halve() - have no sums of half of the tasks that have some
 * @feed: whose page it is
 *
 * Return: false if there is none, or without memory.
 */
bool html_tasks_halve(struct profile_feed *feed);

/**
 * html_task_joined() - has a task no sums of its own?
 * @html: page
 * @task: index in the profile, or HTML_NOBODY
 *
 * Return: true if so.
 */
bool html_task_joined(const struct html *html, u32 task);

/**
 * html_longest() - sort calls, the longest first, and keep no more than these
 * @html: page
 * @most: so many
 */
void html_longest(struct html *html, size_t most);

/**
 * html_end() - no more will come: write the page
 * @feed: has no stacks any more
 *
 * Return: true if all of it was written, or false after a sentence.
 */
bool html_end(struct profile_feed *feed);

/**
 * html_write() - write the page
 * @feed: nothing comes any more
 *
 * Return: false without memory, or if there is @too_much.
 */
bool html_write(struct profile_feed *feed);

/**
 * html_destroy() - free it
 * @html: may be NULL
 */
void html_destroy(struct html *html);

#endif /* KIPT_HTML_H */
