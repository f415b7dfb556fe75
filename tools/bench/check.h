/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is measured must be right: each way to decode is held against the one
 * that walks every block and remembers nothing. User space.
 */
#ifndef BENCH_CHECK_H
#define BENCH_CHECK_H

#include "core.h"
#include "trace.h"

/**
 * bench_check_flow() - decode a trace twice, cold and remembering, and compare
 * @core: which decoder
 * @trace: loaded
 * @output: KIPT_FLOW_* as it is measured
 *
 * COUNTS must come to the same edges, all else to the same branches in the
 * same order, packed ones after they were expanded. Return: false after a
 * sentence on stderr.
 */
bool bench_check_flow(const struct bench_core *core,
		      const struct bench_trace *trace, u32 output);

/**
 * bench_check_packets() - read all packets, and compare
 * @core: which decoder
 * @trace: loaded
 *
 * The reader of many packets at once must give what the reader of one gave
 * when the trace was loaded. Return: false after a sentence on stderr.
 */
bool bench_check_packets(const struct bench_core *core,
			 const struct bench_trace *trace);

#endif /* BENCH_CHECK_H */
