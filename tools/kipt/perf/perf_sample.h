/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Samples of events, which may hold trace: perf record --aux-sample has the kernel copy
 * the last bytes of a CPU's or thread's trace into each sample of another event.
 */
#ifndef KIPT_PERF_SAMPLE_H
#define KIPT_PERF_SAMPLE_H

#include "perf_file.h"

/**
 * struct perf_sample - what is taken from a sample
 * @has: PERF_SAMPLE_BIT_* of what is in it
 * @id: number of the event on its CPU or thread
 * @ip: address
 * @tid: thread
 * @time: in the clock of perf
 * @cpu: CPU
 * @trace: bytes of trace, in the event; NULL: it has none
 * @size: how many
 */
struct perf_sample {
	u64 has;
	u64 id;
	u64 ip;
	u64 time;
	u32 tid;
	u32 cpu;
	const u8 *trace;
	u64 size;
};

/**
 * perf_sample_read() - take a sample apart
 * @attr: of the event that was sampled
 * @event: of type PERF_EVENT_SAMPLE
 * @sample: filled; valid as long as @event
 *
 * Its members are in the order of perf_output_sample() in the kernel, which
 * linux/perf_event.h has under PERF_RECORD_SAMPLE.
 *
 * Return: false if it is too short for what @attr says is in it, or has a member that
 * is newer than this.
 */
bool perf_sample_read(const struct perf_attr *attr,
		      const struct perf_event *event,
		      struct perf_sample *sample);

#endif /* KIPT_PERF_SAMPLE_H */
