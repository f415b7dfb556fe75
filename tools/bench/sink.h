/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A sink that is handed one branch after the other, and hashes from where to where each
 * goes. User space.
 */
#ifndef BENCH_SINK_H
#define BENCH_SINK_H

#include "../../kmod/decode/port.h"

/* FNV-1a's prime, over words instead of bytes. */
#define BENCH_SINK_PRIME	1099511628211ULL

/**
 * struct bench_sink - what branches came to
 * @left: how many it takes; libipt goes on to the next instruction that would need a packet
 *	where the trace ends, and with it past our last branch
 * @hash: over those that it took
 */
struct bench_sink {
	u64 left;
	u64 hash;
};

/**
 * bench_sink_take() - a branch
 * @sink: the sink
 * @from: address of the branch
 * @to: address that it goes to
 */
static inline void bench_sink_take(struct bench_sink *sink, u64 from, u64 to)
{
	if (!sink->left)
		return;
	sink->left--;
	sink->hash = (sink->hash ^ from) * BENCH_SINK_PRIME;
	sink->hash = (sink->hash ^ to) * BENCH_SINK_PRIME;
}

#endif /* BENCH_SINK_H */
