// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mappings of an address space, see perf_tree.h: a treap, sorted by start, with
 * ranks of chance. A node that several trees have is copied before it is changed.
 * Without memory nodes are dropped, and the pool says so.
 */
#include <stdlib.h>

#include "perf_tree.h"

struct perf_node {
	struct perf_mapping mapping;
	struct perf_node *low, *high;
	u32 refs;
	u32 rank;
};

static struct perf_node *node_create(struct perf_pool *pool)
{
	struct perf_node *node;

	if (pool->held + sizeof(*node) > PERF_POOL_MOST) {
		pool->full = pool->failed = true;
		return NULL;
	}
	node = calloc(1, sizeof(*node));
	if (!node) {
		pool->failed = true;
		return NULL;
	}
	pool->held += sizeof(*node);
	pool->random ^= pool->random << 13;
	pool->random ^= pool->random >> 7;
	pool->random ^= pool->random << 17;
	node->rank = pool->random >> 32;
	node->refs = 1;
	return node;
}

struct perf_node *perf_tree_copy(struct perf_node *root)
{
	if (root)
		root->refs++;
	return root;
}

void perf_tree_free(struct perf_pool *pool, struct perf_node *root)
{
	struct perf_node *high;

	while (root && !--root->refs) {
		high = root->high;
		perf_tree_free(pool, root->low);
		free(root);
		pool->held -= sizeof(*root);
		root = high;
	}
}

/* A node that may be changed, instead of one that others may have. */
static struct perf_node *node_own(struct perf_pool *pool,
				  struct perf_node *node)
{
	struct perf_node *own;

	if (node->refs == 1)
		return node;
	own = node_create(pool);
	if (own) {
		own->mapping = node->mapping;
		own->rank = node->rank;
		own->low = perf_tree_copy(node->low);
		own->high = perf_tree_copy(node->high);
	}
	perf_tree_free(pool, node);
	return own;
}

/* @root becomes @low, of what starts below an address, and @high. */
static void tree_split(struct perf_pool *pool, struct perf_node *root,
		       u64 address, struct perf_node **low,
		       struct perf_node **high)
{
	while (root) {
		root = node_own(pool, root);
		if (!root)
			break;
		if (root->mapping.start < address) {
			*low = root;
			low = &root->high;
			root = *low;
		} else {
			*high = root;
			high = &root->low;
			root = *high;
		}
	}
	*low = NULL;
	*high = NULL;
}

/* Both become one; all of @low is below all of @high. */
static struct perf_node *tree_join(struct perf_pool *pool,
				   struct perf_node *low,
				   struct perf_node *high)
{
	struct perf_node *root, **at = &root;

	while (low && high) {
		if (low->rank >= high->rank) {
			low = node_own(pool, low);
			if (!low)
				continue;
			*at = low;
			at = &low->high;
			low = *at;
		} else {
			high = node_own(pool, high);
			if (!high)
				continue;
			*at = high;
			at = &high->low;
			high = *at;
		}
	}
	*at = low ? low : high;
	return root;
}

/* A tree of one mapping, or the empty one. */
static struct perf_node *tree_of(struct perf_pool *pool,
				 const struct perf_mapping *mapping)
{
	struct perf_node *node;

	node = mapping->start < mapping->end ? node_create(pool) : NULL;
	if (node)
		node->mapping = *mapping;
	return node;
}

/* What a mapping has from an address on. */
static struct perf_mapping mapping_from(struct perf_mapping mapping,
					u64 address)
{
	if (mapping.start < address) {
		mapping.offset += address - mapping.start;
		mapping.start = address;
	}
	return mapping;
}

/* Ends the last mapping of a tree below an address. */
static struct perf_node *last_cut(struct perf_pool *pool,
				  struct perf_node *root, u64 address)
{
	const struct perf_mapping *found = perf_tree_find(root, ~0ULL);
	struct perf_node *low, *high;
	struct perf_mapping last;

	if (!found || found->end <= address)
		return root;
	last = *found;
	tree_split(pool, root, last.start, &low, &high);
	perf_tree_free(pool, high);
	last.end = address;
	return tree_join(pool, low, tree_of(pool, &last));
}

void perf_tree_map(struct perf_pool *pool, struct perf_node **root,
		   const struct perf_mapping *mapping)
{
	const struct perf_mapping *found;
	struct perf_mapping rest = { 0 };
	struct perf_node *low, *middle, *high;

	/* Whatever reaches beyond the end begins before it. */
	found = perf_tree_find(*root, mapping->end - 1);
	if (found)
		rest = mapping_from(*found, mapping->end);
	tree_split(pool, *root, mapping->end, &low, &high);
	tree_split(pool, low, mapping->start, &low, &middle);
	perf_tree_free(pool, middle);
	low = last_cut(pool, low, mapping->start);
	low = tree_join(pool, low, tree_of(pool, mapping));
	low = tree_join(pool, low, tree_of(pool, &rest));
	*root = tree_join(pool, low, high);
}

const struct perf_mapping *perf_tree_find(const struct perf_node *root,
					  u64 address)
{
	const struct perf_mapping *found = NULL;

	while (root) {
		if (root->mapping.start <= address) {
			found = &root->mapping;
			root = root->high;
		} else {
			root = root->low;
		}
	}
	return found;
}

bool perf_tree_each(const struct perf_node *root,
		    bool (*take)(void *ctx, const struct perf_mapping *mapping),
		    void *ctx)
{
	for (; root; root = root->high) {
		if (!perf_tree_each(root->low, take, ctx) ||
		    !take(ctx, &root->mapping))
			return false;
	}
	return true;
}
