/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counted edges that are no direct branch's: address space, from, to and kind to
 * a number and a count. Owns the memory it was given. Any context.
 */
#ifndef KIPT_DECODE_COUNTS_H
#define KIPT_DECODE_COUNTS_H

#include "../index.h"

/**
 * struct kipt_edge - an edge of the flow
 * @space: address space of @from
 * @from: the branch, or where an event came
 * @to: where control went
 * @count: how often
 * @kind: enum kipt_branch_kind
 * @reserved: fills
 */
struct kipt_edge {
	u64 space;
	u64 from;
	u64 to;
	u64 count;
	u32 kind;
	u32 reserved;
};

/**
 * struct kipt_counts - the edges
 * @edges: by number; number 0 is not used
 * @max: numbers there is memory for; 0: nothing is counted
 * @index: numbers by edge
 * @bytes: of trace that the graph was followed by since nodes were folded
 */
struct kipt_counts {
	struct kipt_edge *edges;
	u32 max;
	struct kipt_index index;
	u64 bytes;
};

/* Bytes of trace after which nodes are folded: none is passed more than six times for a byte,
 * so that what it counts stays below 2^32. Tests make it small.
 */
#ifndef KIPT_COUNTS_FOLD
#define KIPT_COUNTS_FOLD	(1ULL << 29)
#endif

/**
 * kipt_counts_number() - the number of an edge
 * @counts: the edges
 * @space: address space of @from
 * @from: the branch
 * @to: where control went
 * @kind: enum kipt_branch_kind
 *
 * Return: the number, or 0 if there is no room.
 */
u32 kipt_counts_number(struct kipt_counts *counts, u64 space, u64 from, u64 to,
		       u32 kind);

/**
 * struct kipt_pair - an edge from node to node
 * @from: number of the node
 * @to: number of the node
 * @count: how often
 */
struct kipt_pair {
	u32 from;
	u32 to;
	u64 count;
};

/**
 * struct kipt_pairs - those that are counted
 * @at: by number; number 0 is not used
 * @index: numbers by pair
 */
struct kipt_pairs {
	struct kipt_pair *at;
	struct kipt_index index;
};

/**
 * kipt_pairs_number() - the number of a pair
 * @pairs: the pairs
 * @from: number of the node
 * @to: number of the node
 *
 * Return: the number, or 0 if there is no room.
 */
u32 kipt_pairs_number(struct kipt_pairs *pairs, u32 from, u32 to);

#endif /* KIPT_DECODE_COUNTS_H */
