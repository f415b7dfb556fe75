/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Samples of what else perf recorded beside Intel PT: tracepoints, counters, breakpoints.
 * They are shown among the records of the trace, at their time.
 */
#ifndef KIPT_PERF_SAMPLES_H
#define KIPT_PERF_SAMPLES_H

#include "perf_aux.h"

/**
 * struct perf_moment - a sample at its time
 * @tsc: its time; while they are taken, in the clock of perf
 * @ip: address, if @has_ip
 * @place: CPU that it was on, or its thread where the trace is one of threads; while
 *	they are taken, the CPU, and
 * @tid: the thread
 * @attr: number of the event that was sampled
 * @has_ip, @has_cpu, @has_tid: what is known of it
 */
struct perf_moment {
	u64 tsc;
	u64 ip;
	u32 place, tid;
	u32 attr : 29;
	u32 has_ip : 1;
	u32 has_cpu : 1;
	u32 has_tid : 1;
};

/**
 * struct perf_samples - samples of a recording; all zero at the begin
 * @list: by place and time once they are settled
 * @count: how many
 * @left: so many more there are than are kept
 * @nowhere: of so many it is not known when or where they were
 */
struct perf_samples {
	struct perf_moment *list;
	size_t count;
	u64 left;
	u64 nowhere;
};

/**
 * perf_samples_take() - take what an event says
 * @samples: samples
 * @file: the recording
 * @event: any event
 *
 * Return: true, or false after a sentence: no memory.
 */
bool perf_samples_take(struct perf_samples *samples, const struct perf_file *file,
		       const struct perf_event *event);

/**
 * perf_samples_settle() - put them in order, in time of the TSC
 * @samples: all were taken
 * @clock: how times relate; without, none is kept
 * @by_cpu: the trace is one of CPUs, not of threads
 */
void perf_samples_settle(struct perf_samples *samples, const struct perf_clock *clock,
			 bool by_cpu);

/**
 * perf_samples_of() - those of one CPU or thread
 * @samples: settled
 * @place: the CPU or thread
 * @count: filled: how many
 *
 * Return: the first.
 */
const struct perf_moment *perf_samples_of(const struct perf_samples *samples, u32 place,
					  size_t *count);

/**
 * perf_samples_free() - free them
 * @samples: all zero afterwards
 */
void perf_samples_free(struct perf_samples *samples);

#endif /* KIPT_PERF_SAMPLES_H */
