/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Makes a profile of records: whose branch each is, how long each call took,
 * and how much of the time is lost.
 */
#ifndef KIPT_PROFILE_FEED_H
#define KIPT_PROFILE_FEED_H

#include "call_track.h"
#include "firefox.h"
#include "folded.h"
#include "html.h"
#include "lanes.h"
#include "profile.h"
#include "slowest.h"
#include "view.h"

/**
 * struct feed_loss - a stretch of time that is lost
 * @kind: enum kipt_gap_kind, of the first of its gaps
 * @cpu: number of the CPU, or PROFILE_CPU_UNKNOWN
 * @from: TSC of the last time before it; 0: not known
 * @zero: TSC that times of the CPU count from
 * @ticks: how long it is
 * @known: the task before it is; @tid, @pid
 * @known_after: the task after it is; @tid_after, @pid_after
 */
struct feed_loss {
	u32 kind;
	u64 cpu;
	u64 from, zero;
	u64 ticks;
	u32 tid, pid;
	u32 tid_after, pid_after;
	bool known, known_after;
};

/**
 * struct feed_cpu - where the trace of a CPU is
 * @track: the calls that its tasks are in
 * @number: of the CPU, or PROFILE_CPU_UNKNOWN
 * @cpu: its index in @profile; -1: there was no room
 * @task: index in @profile of the task; -1: none
 * @tid, @pid: what holds until its records say something else
 * @now: TSC; 0: not known
 * @gaps: how many there were
 * @running: code executes and is traced
 * @lost: kind of the gap that time is lost by; 0: none
 * @resumed: execution is known again, after it
 * @timed: time is known again, after it
 * @loss: index + 1 in the losses of the feed; 0: none
 * @lanes: what its lanes show
 * @newer, @older: the next in the order in which they came last, of those that
 *	have stacks
 */
struct feed_cpu {
	struct call_track track;
	u64 number;
	s64 cpu, task;
	u32 tid, pid;
	u64 now;
	u64 gaps;
	bool running;
	u32 lost;
	bool resumed, timed;
	size_t loss;
	struct lane_cpu lanes;
	struct feed_cpu *newer, *older;
};

/**
 * struct profile_feed - between records
 * @view: whose records they are; its state is that of the current one
 * @profile: where to
 * @at: the CPU whose records come; NULL: nothing came
 * @cpus: by index in @profile
 * @cpu_count: how many
 * @others: CPUs for which there is no room, each anew
 * @newest, @oldest: CPUs that have stacks
 * @stacks: how many there are, of all CPUs
 * @where: the CPU on which each thread was seen last
 * @losses: with VIEW_LOST what is lost, in the order in which it comes
 * @loss_count: how many
 * @losses_full: more had no room
 * @frames: how many there were
 * @slowest: with VIEW_SLOWEST the slowest runs; else NULL
 * @folded: with VIEW_FOLDED, VIEW_FIREFOX and VIEW_HTML the stacks; else NULL
 * @lanes: with VIEW_PERFETTO the lanes; else NULL
 * @firefox: with VIEW_FIREFOX the profile; else NULL
 * @html: with VIEW_HTML the page; else NULL
 * @leaving: the CPU whose stacks are forgotten; NULL: that whose records come
 */
struct profile_feed {
	struct view *view;
	struct profile *profile;
	struct feed_cpu *at;
	struct feed_cpu **cpus;
	u32 cpu_count;
	struct feed_cpu others;
	struct feed_cpu *newest, *oldest;
	size_t stacks;
	struct lookup where;
	struct feed_loss *losses;
	size_t loss_count;
	bool losses_full;
	u64 frames;
	struct slowest *slowest;
	struct folded *folded;
	struct lanes *lanes;
	struct firefox *firefox;
	struct html *html;
	struct feed_cpu *leaving;
};

/**
 * profile_feed_create() - nothing came yet
 * @view: must live as long
 *
 * Return: the caller's until profile_feed_destroy(); NULL without memory, or with
 * @view->failed after a message if the file that the view writes cannot be made.
 */
struct profile_feed *profile_feed_create(struct view *view);

/**
 * profile_feed_follow() - a record before those that are added up: only where, when and
 *	whether code runs is taken from it
 * @feed: the feed
 * @r: the record
 */
void profile_feed_follow(struct profile_feed *feed, const struct kipt_record *r);

/**
 * profile_feed_take() - look at a record
 * @feed: feed
 * @record: the current one of its view
 */
void profile_feed_take(struct profile_feed *feed,
		       const struct kipt_record *record);

/**
 * profile_feed_skim() - look at branches that follow each other
 * @feed: feed
 * @records: the current one of its view, and those after it
 * @count: how many
 *
 * The same as profile_feed_take() for each.
 *
 * Return: how many it took: none, or all up to the first record that is no branch.
 */
u32 profile_feed_skim(struct profile_feed *feed,
		      const struct kipt_record *records, u32 count);

/**
 * profile_feed_end() - no more will come
 * @feed: its profile is whole afterwards
 */
void profile_feed_end(struct profile_feed *feed);

/**
 * profile_feed_destroy() - free it and its profile
 * @feed: may be NULL
 */
void profile_feed_destroy(struct profile_feed *feed);

#endif /* KIPT_PROFILE_FEED_H */
