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
 * @count: numbers given, number 0 included
 * @max: numbers there is memory for; 0: nothing is counted
 * @full: an edge was wanted and there was no room
 * @index: numbers by edge
 * @bytes: of trace that the graph was followed by since nodes were folded
 */
struct kipt_counts {
	struct kipt_edge *edges;
	u32 count;
	u32 max;
	bool full;
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
 * kipt_counts_init() - no edges
 * @counts: the edges
 * @edges: memory of @max edges, the caller's
 * @max: 2 or more, or 0
 * @slots: memory of @nr_slots numbers, the caller's
 * @nr_slots: a power of two, at least twice @max
 */
void kipt_counts_init(struct kipt_counts *counts, struct kipt_edge *edges,
		      u32 max, u32 *slots, u32 nr_slots);

/**
 * kipt_counts_clear() - drop all edges; numbers are given anew
 * @counts: the edges
 */
void kipt_counts_clear(struct kipt_counts *counts);

/**
 * kipt_counts_number() - the number of an edge
 * @counts: the edges; @full is set if there is no room
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
 * @count: numbers given, number 0 included
 * @max: numbers there is memory for; 0: nothing is counted
 * @full: a pair was wanted and there was no room
 * @index: numbers by pair
 */
struct kipt_pairs {
	struct kipt_pair *at;
	u32 count;
	u32 max;
	bool full;
	struct kipt_index index;
};

/**
 * kipt_pairs_init() - no pairs
 * @pairs: the pairs
 * @at: memory of @max pairs, the caller's
 * @max: 2 or more
 * @slots: memory of @nr_slots numbers, the caller's
 * @nr_slots: a power of two, at least twice @max
 */
void kipt_pairs_init(struct kipt_pairs *pairs, struct kipt_pair *at, u32 max, u32 *slots,
		     u32 nr_slots);

/**
 * kipt_pairs_clear() - drop all pairs; numbers are given anew
 * @pairs: the pairs; may be none
 */
void kipt_pairs_clear(struct kipt_pairs *pairs);

/**
 * kipt_pairs_number() - the number of a pair
 * @pairs: the pairs; @full is set if there is no room
 * @from: number of the node
 * @to: number of the node
 *
 * Return: the number, or 0 if there is no room.
 */
u32 kipt_pairs_number(struct kipt_pairs *pairs, u32 from, u32 to);

#endif /* KIPT_DECODE_COUNTS_H */
