/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Our decoder on a trace, in one of its modes: what is decoded, who takes the
 * records, how long it took. User space.
 */
#ifndef BENCH_OURS_H
#define BENCH_OURS_H

#include "core.h"
#include "trace.h"

struct bench_ours;

/**
 * bench_ours_create() - a flow with nothing cached
 * @core: which one
 * @trace: loaded; used until bench_ours_destroy()
 * @output: KIPT_FLOW_*
 * @sink: copied; takes the records
 *
 * Return: the caller's; NULL after a sentence on stderr.
 */
struct bench_ours *bench_ours_create(const struct bench_core *core,
				     const struct bench_trace *trace,
				     u32 output, const struct kipt_sink *sink);

/**
 * bench_ours_destroy() - free it
 * @ours: may be NULL
 */
void bench_ours_destroy(struct bench_ours *ours);

/**
 * bench_ours_decode() - one measurement
 * @ours: what it cached before is used again
 * @size: bytes of the trace from its beginning
 * @passes: how often they are decoded
 *
 * Counts, if any, are given once at the end. Return: nanoseconds.
 */
double bench_ours_decode(struct bench_ours *ours, u64 size, u64 passes);

/**
 * bench_ours_packets() - read all packets of a trace
 * @core: which decoder
 * @trace: loaded
 * @passes: how often
 * @count: packets of the last time, written
 *
 * Return: nanoseconds.
 */
double bench_ours_packets(const struct bench_core *core,
			  const struct bench_trace *trace, u64 passes,
			  u64 *count);

#endif /* BENCH_OURS_H */
