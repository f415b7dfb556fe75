/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * libipt at its best on a trace: its block decoder with code from mapped
 * files, whose block cache lives on from one decode to the next, and its
 * packet decoder. Owns all that is libipt's. User space.
 */
#ifndef BENCH_PEER_H
#define BENCH_PEER_H

#include "trace.h"

/**
 * struct bench_peer_sums - what libipt found in one decode
 * @blocks: blocks
 * @insns: instructions
 * @errors: after which it went on at the next PSB
 */
struct bench_peer_sums {
	u64 blocks;
	u64 insns;
	u64 errors;
};

struct bench_peer;

/**
 * bench_peer_create() - a section cache with all code pages, nothing cached
 * @trace: loaded; used until bench_peer_destroy()
 *
 * Return: the caller's; NULL after a sentence on stderr.
 */
struct bench_peer *bench_peer_create(const struct bench_trace *trace);

/**
 * bench_peer_destroy() - free it
 * @peer: may be NULL
 */
void bench_peer_destroy(struct bench_peer *peer);

/**
 * bench_peer_blocks() - decode by blocks once
 * @peer: what it cached before is used again
 * @size: bytes of the trace from its beginning
 * @sums: written
 *
 * Return: nanoseconds.
 */
double bench_peer_blocks(struct bench_peer *peer, u64 size,
			 struct bench_peer_sums *sums);

/**
 * bench_peer_packets() - read all packets
 * @peer: for its trace
 * @passes: how often
 * @count: packets of the last time, written
 *
 * Return: nanoseconds.
 */
double bench_peer_packets(struct bench_peer *peer, u64 passes, u64 *count);

#endif /* BENCH_PEER_H */
