/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The calls of a profile's feed as a profile for Firefox's profiler: of each task the stack
 * of each stretch of time. It is written at the end, by firefox_write().
 */
#ifndef KIPT_FIREFOX_H
#define KIPT_FIREFOX_H

#include "../cli/output_file.h"
#include "call_stack.h"

struct profile_feed;

/* What a task is in while it is in calls and they are not traced: children of the stack. */
#define FIREFOX_AWAY	(~0U)
#define FIREFOX_LOST	(~0U - 1)

/**
 * struct firefox_sample - a stretch of time in which a task had one stack
 * @from, @to: TSCs
 * @node: the stack, in the tree of the feed; of what is lost enum kipt_gap_kind
 * @thread: index in the threads
 */
struct firefox_sample {
	u64 from, to;
	u32 node;
	u32 thread;
};

/**
 * struct firefox_list - such stretches
 * @samples: in the order in which they came; firefox_end() sorts them
 * @count: how many
 */
struct firefox_list {
	struct firefox_sample *samples;
	size_t count;
};

/**
 * struct firefox_thread - a task, or what ran on a CPU while its task was not known
 * @tid, @pid: of it; 0: not known
 * @cpu: where it was first, or PROFILE_CPU_UNKNOWN
 */
struct firefox_thread {
	u32 tid, pid;
	u64 cpu;
};

/**
 * struct firefox - what is to be written
 * @file: where to
 * @ran: stacks
 * @lost: what is lost
 * @threads: tasks
 * @thread_count: how many
 * @thread_of: index of each
 * @full: there was no room for more
 */
struct firefox {
	struct fresh_file file;
	struct firefox_list ran, lost;
	struct firefox_thread *threads;
	u32 thread_count;
	struct lookup thread_of;
	bool full;
};

/**
 * firefox_create() - make the file
 * @path: its name
 *
 * Return: the caller's until firefox_destroy(); NULL after a sentence.
 */
struct firefox *firefox_create(const char *path);

/**
 * firefox_fill() - a stack is about to change
 * @feed: where it is
 * @stack: of the CPU whose records come
 * @top: its frame that was on top until now
 *
 * From when it was seen to run last until now its task was away, or is lost.
 */
void firefox_fill(struct profile_feed *feed, struct call_stack *stack, const struct frame *top);

/**
 * firefox_spend() - the task of the CPU whose records come ran on
 * @feed: where it is, at the time before
 * @ticks: so long
 */
void firefox_spend(struct profile_feed *feed, u64 ticks);

/**
 * firefox_lose() - time passed on the CPU whose records come, and is lost
 * @feed: where it is, at the time before
 * @ticks: so long
 */
void firefox_lose(struct profile_feed *feed, u64 ticks);

/**
 * firefox_end() - no more will come: write the file
 * @feed: has no stacks any more
 *
 * Return: true if all of it was written, or false after a sentence.
 */
bool firefox_end(struct profile_feed *feed);

/**
 * firefox_write() - write what the file has
 * @feed: nothing comes any more; the samples are sorted by thread and time
 */
void firefox_write(const struct profile_feed *feed);

/**
 * firefox_destroy() - free it
 * @firefox: may be NULL
 */
void firefox_destroy(struct firefox *firefox);

#endif /* KIPT_FIREFOX_H */
