/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How often control went from where to where, in which address space.
 */
#ifndef KIPT_EDGE_COUNTS_H
#define KIPT_EDGE_COUNTS_H

#include <stdbool.h>

#include "../../../kmod/decode/port.h"

/**
 * struct edge - one of them
 * @from: the branch, or where an event came
 * @to: where control went
 * @count: how often
 * @cr3: page table of user addresses, 0 if their process is known, or nothing
 * @pid: process of user addresses, 0 if not known
 * @kind: enum kipt_branch_kind
 * @guest: it is a guest's, which has a kernel of its own
 */
struct edge {
	u64 from;
	u64 to;
	u64 count;
	u64 cr3;
	u32 pid;
	u16 kind;
	bool guest;
};

struct edges;

/**
 * edge_in_kernel() - does an edge belong to all address spaces
 * @edge: the edge
 *
 * Return: true if both of its addresses are the kernel's.
 */
bool edge_in_kernel(const struct edge *edge);

/**
 * edge_same_space() - do edges belong to one address space
 * @a: an edge of a list
 * @b: another one
 *
 * Return: true if process or page table are the same; also if neither is known.
 */
bool edge_same_space(const struct edge *a, const struct edge *b);

/**
 * edges_create() - none yet
 *
 * Return: the caller's until edges_destroy(); NULL without memory.
 */
struct edges *edges_create(void);

/**
 * edges_destroy() - free them
 * @edges: may be NULL
 */
void edges_destroy(struct edges *edges);

/**
 * edges_add() - control went some way
 * @edges: where to
 * @edge: the edge, @count times more; process and page table count only where
 *	one of the addresses is not the kernel's, the page table only where the
 *	process is not known
 *
 * Return: true, or false without memory.
 */
bool edges_add(struct edges *edges, const struct edge *edge);

/**
 * edges_count() - how many there are
 * @edges: the edges
 *
 * Return: their number.
 */
size_t edges_count(const struct edges *edges);

/**
 * edges_sum() - all counts together
 * @edges: the edges
 *
 * Return: the sum.
 */
u64 edges_sum(const struct edges *edges);

/**
 * edges_sort() - all edges, the most frequent first
 * @edges: nothing is added any more
 *
 * Of equal counts the lowest addresses come first. Return: the list, which
 * is @edges' own.
 */
const struct edge *edges_sort(struct edges *edges);

/**
 * edges_hash() - one number for all of them
 * @edges: nothing is added any more
 *
 * The hash of summary.h over from, to, kind and count of each, in the order of
 * edges_sort(). Return: it.
 */
u64 edges_hash(struct edges *edges);

#endif /* KIPT_EDGE_COUNTS_H */
