/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ways to decode a trace: those that are measured, ours, those of an earlier commit and
 * libipt's. Each is
 * measured in a process of its own, and its clock starts before the decoder's
 * memory is mapped and stops when what was decoded is handed out. User space.
 */
#ifndef BENCH_WAY_H
#define BENCH_WAY_H

#include "child.h"
#include "core.h"
#include "trace.h"

/* What a way is called is in way.c. */
enum bench_way_id {
	BENCH_WAY_COUNTS,
	BENCH_WAY_PACKED,
	BENCH_WAY_CALLS,
	BENCH_WAY_FIRST_MB,
	BENCH_WAY_ONE_THREAD,
	BENCH_WAY_TWO_THREADS,
	BENCH_WAY_COUNTS_KERNEL,
	BENCH_WAY_PACKED_KERNEL,
	BENCH_WAY_CALLS_KERNEL,
	BENCH_WAY_AGAIN,
	BENCH_WAY_PACKETS,
	BENCH_WAY_SINK,
	BENCH_WAY_COUNTS_EARLIER,
	BENCH_WAY_PACKED_EARLIER,
	BENCH_WAY_CALLS_EARLIER,
	BENCH_WAY_LIBIPT,
	BENCH_WAY_LIBIPT_FIRST_MB,
	BENCH_WAY_LIBIPT_AGAIN,
	BENCH_WAY_LIBIPT_PACKETS,
	BENCH_WAY_LIBIPT_SINK,

	BENCH_WAYS
};

/**
 * struct bench_way - one of them
 * @name: for people
 * @core: our decoder; NULL: libipt
 * @output: KIPT_FLOW_*; 0: packets only
 * @memory: of our decoder, all threads together
 * @threads: how many; 0: the one that calls, without the tool's jobs
 * @beginning: the first megabyte of the trace only
 * @again: the second pass is measured, by a decoder that has just made a first
 *	and handed out what it found
 * @sink: each branch is handed to a sink, see sink.h; packed ones are expanded first
 */
struct bench_way {
	const char *name;
	const struct bench_core *core;
	u32 output;
	u64 memory;
	u32 threads;
	bool beginning;
	bool again;
	bool sink;
};

extern const struct bench_way bench_ways[BENCH_WAYS];

/**
 * bench_way_config() - how our decoder reads a trace
 * @way: one of ours
 * @trace: loaded
 *
 * Return: the configuration.
 */
struct kipt_flow_config bench_way_config(const struct bench_way *way,
					 const struct bench_trace *trace);

/**
 * bench_way_size() - how much of a trace is decoded
 * @way: which
 * @trace: loaded
 *
 * Return: bytes from its beginning.
 */
u64 bench_way_size(const struct bench_way *way, const struct bench_trace *trace);

/**
 * bench_way_check() - does a way find what is right?
 * @way: which; libipt is not judged
 * @trace: loaded
 *
 * Compares it with the walk of every block. Return: false after a sentence on
 * stderr.
 */
bool bench_way_check(const struct bench_way *way,
		     const struct bench_trace *trace);

/**
 * bench_way_measure() - measure it once
 * @way: which
 * @trace: loaded
 * @figure: written
 *
 * Return: false after a sentence on stderr.
 */
bool bench_way_measure(const struct bench_way *way,
		       const struct bench_trace *trace,
		       struct bench_figure *figure);

#endif /* BENCH_WAY_H */
