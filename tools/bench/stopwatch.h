/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Time in nanoseconds. What one thread does is measured by that thread's time
 * on a CPU, so that other load on the machine counts for nobody; what several
 * do by the clock on the wall. User space.
 */
#ifndef BENCH_STOPWATCH_H
#define BENCH_STOPWATCH_H

#include <time.h>

static inline double stopwatch_read(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/**
 * stopwatch_thread() - CPU time of the calling thread
 *
 * Return: nanoseconds since some point.
 */
static inline double stopwatch_thread(void)
{
	return stopwatch_read(CLOCK_THREAD_CPUTIME_ID);
}

/**
 * stopwatch_wall() - time
 *
 * Return: nanoseconds since some point.
 */
static inline double stopwatch_wall(void)
{
	return stopwatch_read(CLOCK_MONOTONIC);
}

#endif /* BENCH_STOPWATCH_H */
