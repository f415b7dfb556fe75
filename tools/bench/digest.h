/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a stream of branches comes to: how many there are, which, of which
 * address space, in which order, at which times. Two ways to decode a trace are
 * compared by it. User space, and the kernel for the benchmark.
 */
#ifndef BENCH_DIGEST_H
#define BENCH_DIGEST_H

#include "../../kmod/decode/port.h"

#define BENCH_DIGEST_GAPS	32

/**
 * struct bench_digest - sums over branches
 * @branches: how many
 * @insns: instructions they count, and, of all branches, DISABLE and SYNC records
 * @edges: from where to where, of which kind and address space, how often; in
 *	any order
 * @order: from where to where, of which kind, one after the other
 * @gaps: GAP records by kind
 * @time_records: TIME and CBR records
 * @times: what they say, and how many branches come before each
 */
struct bench_digest {
	u64 branches;
	u64 insns;
	u64 edges;
	u64 order;
	u64 gaps[BENCH_DIGEST_GAPS];
	u64 time_records;
	u64 times;
};

/**
 * struct bench_digests - sums over two kinds of branches
 * @all: all branches
 * @calls: those that KIPT_FLOW_CALLS asks for
 * @space: address space of what comes next: its CR3, 0 before one is known
 */
struct bench_digests {
	struct bench_digest all;
	struct bench_digest calls;
	u64 space;
};

/**
 * bench_digest_records() - a struct kipt_sink.emit
 * @ctx: the struct bench_digests
 * @records: BRANCH, EDGE, GAP, TIME and CBR records count, and the instructions
 *	of DISABLE and SYNC records; CONTEXT, SYNC and SPACE records say of which
 *	address space they are. The flow names spaces by bench_digest_space()
 * @n: how many
 *
 * EDGE records say nothing of @insns and @order. Return: true.
 */
bool bench_digest_records(void *ctx, const struct kipt_record *records, u32 n);

/**
 * bench_digest_space() - a struct kipt_code.space: each CR3 is a space
 * @ctx: ignored
 * @cr3: CR3
 * @nr: ignored
 *
 * Return: @cr3.
 */
u64 bench_digest_space(void *ctx, u64 cr3, bool nr);

/**
 * bench_digest_equal() - are the branches the same, as far as these figures show?
 * @a: one
 * @b: the other
 *
 * Return: true if numbers, edges by address space and gaps are the same.
 */
bool bench_digest_equal(const struct bench_digest *a,
			const struct bench_digest *b);

#endif /* BENCH_DIGEST_H */
