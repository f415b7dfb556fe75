/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the benchmark prints: which way to decode is compared with which, and
 * what the ratio is to be. User space.
 */
#ifndef BENCH_MODE_H
#define BENCH_MODE_H

#include <stdbool.h>

#include "way.h"

/* What a mode is called is in mode.c. */
enum bench_mode_id {
	BENCH_MODE_COUNTS,
	BENCH_MODE_PACKED,
	BENCH_MODE_CALLS,
	BENCH_MODE_FIRST_MB,
	BENCH_MODE_THREADS2,
	BENCH_MODE_COUNTS_KERNEL,
	BENCH_MODE_PACKED_KERNEL,
	BENCH_MODE_CALLS_KERNEL,
	BENCH_MODE_AGAIN,
	BENCH_MODE_PACKETS,
	BENCH_MODE_SINK,
	BENCH_MODE_COUNTS_EARLIER,
	BENCH_MODE_PACKED_EARLIER,
	BENCH_MODE_CALLS_EARLIER,

	BENCH_MODES
};

/**
 * struct bench_mode - one of them
 * @name: in lines and options
 * @ours: what is judged
 * @peer: what it is compared with
 * @target: how many times as fast it is to be, in the geometric mean
 * @least: and on each trace
 * @memory: its peak of memory is to be no higher than that of what it is compared with
 */
struct bench_mode {
	const char *name;
	enum bench_way_id ours;
	enum bench_way_id peer;
	double target;
	double least;
	bool memory;
};

extern const struct bench_mode bench_modes[BENCH_MODES];

/**
 * bench_mode_find() - a mode by its name
 * @name: the name
 *
 * Return: enum bench_mode_id, or -1.
 */
int bench_mode_find(const char *name);

/**
 * bench_mode_target() - what a mode is to reach in the mean
 * @mode: enum bench_mode_id
 * @retc: of traces with RET compression
 *
 * Return: the ratio; less of counts without, where each RET is a TIP.
 */
double bench_mode_target(int mode, bool retc);

/**
 * bench_mode_least() - what a mode is to reach on a trace
 * @mode: enum bench_mode_id
 * @trace: its name
 *
 * Return: the ratio; less of counts where processes are made all the time or RETs are not
 * compressed, and as in the kernel where nodes do not fit in memory.
 */
double bench_mode_least(int mode, const char *trace);

#endif /* BENCH_MODE_H */
