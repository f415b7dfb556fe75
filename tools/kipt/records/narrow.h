/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Passes on the records of chosen CPUs, tasks and of a stretch of time, and drops the
 * others.
 */
#ifndef KIPT_NARROW_H
#define KIPT_NARROW_H

#include <stdbool.h>

#include "../cli/lookup.h"
#include "partial.h"
#include "time_range.h"

/**
 * struct narrow_options - the choices; one that is empty is all of them
 * @cpus: CPUs
 * @pids: processes
 * @tids: threads
 * @comm: name of threads, or NULL
 * @time: stretch of time
 */
struct narrow_options {
	struct lookup cpus;
	struct lookup pids;
	struct lookup tids;
	const char *comm;
	struct time_range time;
};

/**
 * narrow_any() - whether anything was chosen
 * @options: the choices
 */
bool narrow_any(const struct narrow_options *options);

/**
 * narrow_cpus() - choose CPUs
 * @options: the choices
 * @list: a CPU list such as "0-3,6"
 *
 * Return: true, or false after a sentence.
 */
bool narrow_cpus(struct narrow_options *options, const char *list);

/**
 * narrow_pids() - choose processes
 * @options: the choices
 * @list: decimal numbers with commas between them
 *
 * Return: true, or false after a sentence.
 */
bool narrow_pids(struct narrow_options *options, const char *list);

/**
 * narrow_tids() - choose threads
 * @options: the choices
 * @list: decimal numbers with commas between them
 *
 * Return: true, or false after a sentence.
 */
bool narrow_tids(struct narrow_options *options, const char *list);

/**
 * narrow_has() - whether a number is chosen
 * @chosen: CPUs, processes or threads of the choices
 * @number: of a CPU, process or thread
 */
bool narrow_has(const struct lookup *chosen, u64 number);

/**
 * narrow_free() - free the choices
 * @options: all zero afterwards
 */
void narrow_free(struct narrow_options *options);

/**
 * struct narrow_cpu - where the records of a CPU are, and what is chosen of it
 * @cpu: the CPU in @stream
 * @on: the CPU is chosen
 * @chosen: its task is
 * @within: its time is in the stretch
 * @passing: all three: records are passed on
 * @running: instructions are traced, of whichever task
 * @ip: where execution is, if @ip_known
 * @gap: the first of the gaps that lose time now, if @lost
 * @lost: time is lost: it is not known again when or where execution is
 * @gap_timed: after a gap there was a time
 * @in_gap: after a gap, before it is known again where execution is
 * @closing: the next TIME is given, it is the end of a stretch or a gap
 * @away: the stretch was left while instructions were traced
 */
struct narrow_cpu {
	struct partial_cpu cpu;
	bool on;
	bool chosen;
	bool within;
	bool passing;
	bool running;
	bool ip_known;
	u64 ip;
	struct kipt_record gap;
	bool lost;
	bool gap_timed;
	bool in_gap;
	bool closing;
	bool away;
};

/**
 * struct narrow - a stream that is narrowed; all 0 at its begin but @options, @comm,
 *	@tsc_khz, and of @stream @give and @ctx
 * @options: the choices; must live as long
 * @comm: names a thread; NULL if no name was chosen; @ctx of @stream is its first
 *	argument
 * @stream: what is passed on
 * @tsc_khz: frequency of the TSC, 0: not known; set before the first record
 * @from, @to: ticks after the first time of a CPU, ends of the stretch
 * @seen: something that was chosen is in the stream
 * @edges: EDGE records are passed on
 * @counted: branches came as counts, which these choices cannot distinguish; none of
 *	them is given
 * @times: there is a time in the stream
 * @refused: the stretch cannot be said in ticks, and a message says so
 */
struct narrow {
	const struct narrow_options *options;
	const char *(*comm)(void *ctx, u32 tid, u32 pid);
	struct partial stream;
	u32 tsc_khz;
	s64 from, to;
	bool seen;
	bool edges;
	bool counted;
	bool times;
	bool refused;
};

/**
 * narrow_take() - some more records
 * @narrow: the stream
 * @records: unpacked ones, in order
 * @count: how many
 *
 * The task that takes the CPU from a chosen one is named, and a DISABLE record of kind
 * KIPT_DISABLE_OTHERS says that what it does was dropped; ENABLE of kind
 * KIPT_ENABLE_CHOSEN ends that. Before a chosen task runs again comes what changed
 * meanwhile: time, address space, mode. Times are given so that each chosen task takes
 * as long as in the whole stream. Gaps of a chosen CPU are given whichever task they
 * are in: a chosen one may have run in them. A CPU record comes before the first that
 * is passed on of its CPU. CPUs may take turns: each part begins with a CPU record, and
 * goes on where the CPU's last part ended. What comes of a CPU before its first TASK
 * is nobody's, and dropped where tasks are chosen.
 *
 * The time of a record is that of the last TIME of its CPU; what comes before the first
 * one has the first one's. A stretch begins with where the CPU is: its time, as a TIME
 * of kind KIPT_TIME_CUT if the trace has none there, address space, task, mode, a gap
 * that is not over, and an ENABLE of kind KIPT_ENABLE_CHOSEN with the address that
 * executes. It ends with a TIME of kind KIPT_TIME_CUT where the trace has none. The
 * first TIME of a CPU is given as one of kind KIPT_TIME_FIRST if it is left out.
 *
 * Return: false if @give did, without memory (@stream.failed), or if the stretch is refused
 * (@refused).
 */
bool narrow_take(struct narrow *narrow, const struct kipt_record *records,
		 u32 count);

/**
 * narrow_timeless() - whether a stretch was asked for where there are no times
 * @narrow: the stream, at its end
 */
bool narrow_timeless(const struct narrow *narrow);

/**
 * narrow_end() - forget where the stream was
 * @narrow: its choices stay the caller's
 */
void narrow_end(struct narrow *narrow);

#endif /* KIPT_NARROW_H */
