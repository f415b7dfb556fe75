/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which code is mapped where in an address space: a search tree. A copy of one
 * shares all that neither changes, so that a fork costs nothing.
 */
#ifndef KIPT_PERF_TREE_H
#define KIPT_PERF_TREE_H

#include <stdbool.h>

#include "../../../kmod/decode/port.h"

struct perf_code;
struct perf_node;

/**
 * struct perf_mapping - code in a process
 * @start: first address
 * @end: last address + 1
 * @offset: of @start in the file
 * @code: the file; owned by the codes
 */
struct perf_mapping {
	u64 start;
	u64 end;
	u64 offset;
	struct perf_code *code;
};

/**
 * struct perf_pool - what all trees of a recording need
 * @held: bytes of their nodes
 * @random: state; not 0
 * @full: they would need more than PERF_POOL_MOST
 * @failed: nodes are missing: @full, or memory ran out
 */
struct perf_pool {
	u64 held;
	u64 random;
	bool full;
	bool failed;
};

#define PERF_POOL_MOST	(256ULL << 20)

/**
 * perf_tree_copy() - a tree like another
 * @root: NULL is the empty tree
 *
 * Return: the caller's until perf_tree_free().
 */
struct perf_node *perf_tree_copy(struct perf_node *root);

/**
 * perf_tree_free() - free it
 * @pool: where it is of
 * @root: may be NULL
 */
void perf_tree_free(struct perf_pool *pool, struct perf_node *root);

/**
 * perf_tree_map() - map code; what was there is cut
 * @pool: its @failed says afterwards whether all is there
 * @root: changed
 * @mapping: copied
 */
void perf_tree_map(struct perf_pool *pool, struct perf_node **root,
		   const struct perf_mapping *mapping);

/**
 * perf_tree_each() - go through all mappings
 * @root: the tree
 * @take: gets each, by address; false ends it
 * @ctx: its first argument
 *
 * Return: false if @take did.
 */
bool perf_tree_each(const struct perf_node *root,
		    bool (*take)(void *ctx, const struct perf_mapping *mapping),
		    void *ctx);

/**
 * perf_tree_find() - the mapping with the highest start below an address
 * @root: the tree
 * @address: the mapping starts there or below
 *
 * Return: the mapping, or NULL.
 */
const struct perf_mapping *perf_tree_find(const struct perf_node *root,
					  u64 address);

#endif /* KIPT_PERF_TREE_H */
