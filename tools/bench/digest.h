/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a stream of branches comes to: how many there are, which, in which
 * order. Two ways to decode a trace are held against each other by it. User
 * space.
 */
#ifndef BENCH_DIGEST_H
#define BENCH_DIGEST_H

#include "../../kmod/decode/port.h"

#define BENCH_DIGEST_GAPS	32

/**
 * struct bench_digest - sums over branches
 * @branches: how many
 * @insns: instructions they count
 * @edges: from where to where, of which kind, how often; in any order
 * @order: from where to where, of which kind, one after the other
 * @gaps: GAP records by kind
 */
struct bench_digest {
	u64 branches;
	u64 insns;
	u64 edges;
	u64 order;
	u64 gaps[BENCH_DIGEST_GAPS];
};

/* All branches, and those that KIPT_FLOW_CALLS asks for. */
struct bench_digests {
	struct bench_digest all;
	struct bench_digest calls;
};

/**
 * bench_digest_records() - a struct kipt_sink.emit
 * @ctx: the struct bench_digests
 * @records: BRANCH, EDGE and GAP records count
 * @n: how many
 *
 * EDGE records say nothing of @insns and @order. Return: true.
 */
bool bench_digest_records(void *ctx, const struct kipt_record *records, u32 n);

/**
 * bench_digest_equal() - the same branches, as far as counts tell?
 * @a: one
 * @b: the other
 *
 * Return: true if numbers, edges and gaps are the same.
 */
bool bench_digest_equal(const struct bench_digest *a,
			const struct bench_digest *b);

#endif /* BENCH_DIGEST_H */
