/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One measurement in a process of its own: what was measured before has left no
 * memory, no page tables and nothing remembered. User space.
 */
#ifndef BENCH_CHILD_H
#define BENCH_CHILD_H

#include <stdbool.h>

#include "../../kmod/decode/port.h"

/**
 * struct bench_figure - what a measurement gives
 * @time: nanoseconds: CPU time of the thread, or of several on the wall
 * @others: nanoseconds of CPU time of other programs meanwhile; 0 for CPU time
 * @memory: bytes by which the most resident memory (VmHWM) grew
 * @packets: that were read, by those that read packets only
 * @insns: instructions that libipt found
 * @hash: over the branches that were handed to a sink
 * @errors: after which libipt went on at the next PSB
 */
struct bench_figure {
	double time;
	double others;
	u64 memory;
	u64 packets;
	u64 insns;
	u64 hash;
	u64 errors;
};

/**
 * bench_child_run() - call a function in a new process
 * @work: fills @figure but for @memory, and what it makes need not be freed;
 *	false after a sentence on stderr if it cannot
 * @ctx: its first argument
 * @figure: written
 *
 * Return: false after a sentence on stderr.
 */
bool bench_child_run(bool (*work)(const void *ctx, struct bench_figure *figure),
		     const void *ctx, struct bench_figure *figure);

#endif /* BENCH_CHILD_H */
