/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Time in nanoseconds. What one thread does is measured by that thread's time
 * on a CPU, so that other load on the machine counts for nobody; what several
 * do by the clock on the wall. User space.
 */
#ifndef BENCH_STOPWATCH_H
#define BENCH_STOPWATCH_H

#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

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

/**
 * stopwatch_others() - CPU time of all but this program, on all CPUs
 *
 * What other machines took from this one included, as far as it knows. Return:
 * nanoseconds since some point, in ticks; 0 if the kernel does not say.
 */
static inline double stopwatch_others(void)
{
	unsigned long long user, nice, system, idle, wait, irq, soft, steal;
	FILE *file = fopen("/proc/stat", "re");
	struct rusage usage;
	double all, own;
	int got = 0;

	if (file) {
		got = fscanf(file, "cpu %llu %llu %llu %llu %llu %llu %llu %llu",
			     &user, &nice, &system, &idle, &wait, &irq, &soft,
			     &steal);
		fclose(file);
	}
	if (got != 8)
		return 0;
	getrusage(RUSAGE_SELF, &usage);
	all = (double)(user + nice + system + irq + soft + steal);
	own = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	      (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
	return all / (double)sysconf(_SC_CLK_TCK) * 1e9 - own * 1e9;
}

#endif /* BENCH_STOPWATCH_H */
