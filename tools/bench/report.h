/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What was measured: a table for people, a line for each figure for programs,
 * and the verdict. User space.
 */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include <stdbool.h>

enum bench_mode {
	BENCH_COUNTS,
	BENCH_PACKED,
	BENCH_CALLS,
	BENCH_JOBS2,
	BENCH_PACKETS,
	BENCH_COLD,
	BENCH_BRANCHES,
	BENCH_COUNTS_KERNEL,
	BENCH_PACKED_KERNEL,
	BENCH_CALLS_KERNEL,
	BENCH_PACKETS_KERNEL,

	BENCH_MODES
};

/**
 * bench_mode_name() - the name of a mode
 * @mode: enum bench_mode
 *
 * Return: a constant string.
 */
const char *bench_mode_name(int mode);

/**
 * bench_report_add() - a figure
 * @trace: name; used until bench_report_print()
 * @mode: enum bench_mode
 * @ours: nanoseconds per branch, or packet
 * @peer: the same of what it is compared with
 */
void bench_report_add(const char *trace, int mode, double ours, double peer);

/**
 * bench_report_print() - all of it on stdout
 * @scale: what targets are multiplied with before they are judged
 *
 * Return: true if each geometric mean reaches its target, and no trace has
 * less than half of it; modes that are there for information do not count.
 */
bool bench_report_print(double scale);

#endif /* BENCH_REPORT_H */
