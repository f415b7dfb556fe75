/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is measured must be right: each way to decode is compared with the one
 * that walks every block and remembers nothing. User space.
 */
#ifndef BENCH_CHECK_H
#define BENCH_CHECK_H

#include "way.h"

/**
 * bench_check_flow() - decode a trace as it is measured, and compare
 * @way: ours, with an output
 * @trace: loaded
 *
 * COUNTS must come to the same edges of the same address spaces, all else to
 * the same branches in the same order, packed ones after they were expanded,
 * and with TIME to the same times at the same branches. Where a second pass is
 * measured, both are compared. Return: false after a sentence on stderr.
 */
bool bench_check_flow(const struct bench_way *way,
		      const struct bench_trace *trace);

/**
 * bench_check_packets() - read all packets, and compare
 * @core: which decoder
 * @trace: loaded
 *
 * They must be those that were read when the trace was loaded, which a core that is compiled
 * in another way may get wrong. Return: false after a sentence on stderr.
 */
bool bench_check_packets(const struct bench_core *core,
			 const struct bench_trace *trace);

#endif /* BENCH_CHECK_H */
