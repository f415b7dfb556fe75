/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Packed records by two threads against one: the speed, and the proof that
 * what comes out is the same. User space.
 */
#ifndef BENCH_TWO_CORES_H
#define BENCH_TWO_CORES_H

#include "trace.h"

/**
 * struct bench_two_cores - best times, nanoseconds on the wall
 * @one: one thread
 * @two: two threads
 * @branches: that were decoded in that time
 */
struct bench_two_cores {
	double one;
	double two;
	u64 branches;
};

/**
 * bench_two_cores_measure() - decode by one and by two threads in turn
 * @trace: loaded; a small one is decoded as if it came many times in a row
 * @rounds: how often, not counting rounds in which other programs ran
 * @result: written
 *
 * Return: false after a sentence on stderr.
 */
bool bench_two_cores_measure(const struct bench_trace *trace, int rounds,
			     struct bench_two_cores *result);

/**
 * bench_two_cores_prove() - hold two threads against one
 * @trace: loaded
 *
 * The packed records of two threads, expanded, must be byte for byte those
 * that one thread makes that walks every block, the first time as well as
 * with what was remembered from it. Return: false after a sentence on stderr.
 */
bool bench_two_cores_prove(const struct bench_trace *trace);

#endif /* BENCH_TWO_CORES_H */
