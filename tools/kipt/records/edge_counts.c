// SPDX-License-Identifier: GPL-2.0-only
/*
 * Edges and their counts, see edge_counts.h. An open hash table, at most half full;
 * an entry with count 0 is free.
 */
#include <stdlib.h>

#include "edge_counts.h"
#include "summary.h"

#define SIZE_FIRST	1024

struct edges {
	struct edge *table;
	size_t size;
	size_t count;
	bool sorted;
};

struct edges *edges_create(void)
{
	struct edges *edges = calloc(1, sizeof(*edges));

	if (!edges)
		return NULL;
	edges->size = SIZE_FIRST;
	edges->table = calloc(edges->size, sizeof(*edges->table));
	if (edges->table)
		return edges;
	free(edges);
	return NULL;
}

void edges_destroy(struct edges *edges)
{
	if (!edges)
		return;
	free(edges->table);
	free(edges);
}

bool edge_in_kernel(const struct edge *edge)
{
	return (edge->from & edge->to) >> 63;
}

bool edge_same_space(const struct edge *a, const struct edge *b)
{
	return a->pid == b->pid && a->cr3 == b->cr3 && a->guest == b->guest;
}

static bool is_same(const struct edge *a, const struct edge *b)
{
	return a->from == b->from && a->to == b->to && a->kind == b->kind &&
	       edge_same_space(a, b);
}

static struct edge *edge_find(const struct edges *edges,
			      const struct edge *edge)
{
	u64 hash = edge->from * 0x9e3779b97f4a7c15ULL +
		   edge->to * 0xc2b2ae3d27d4eb4fULL +
		   (edge->cr3 >> 12) * 0x165667b19e3779f9ULL +
		   edge->pid + edge->kind + edge->guest;
	size_t at = (hash ^ hash >> 32) & (edges->size - 1);

	while (edges->table[at].count && !is_same(&edges->table[at], edge))
		at = (at + 1) & (edges->size - 1);
	return &edges->table[at];
}

static bool edges_grow(struct edges *edges)
{
	struct edges larger = { .size = edges->size * 2,
				.count = edges->count };
	size_t i;

	larger.table = calloc(larger.size, sizeof(*larger.table));
	if (!larger.table)
		return false;
	for (i = 0; i < edges->size; i++) {
		const struct edge *edge = &edges->table[i];

		if (edge->count)
			*edge_find(&larger, edge) = *edge;
	}
	free(edges->table);
	*edges = larger;
	return true;
}

bool edges_add(struct edges *edges, const struct edge *edge)
{
	struct edge key = *edge, *found;

	if (!edge->count)
		return true;
	if (edge_in_kernel(edge))
		key.pid = 0;
	if (edge_in_kernel(edge) || edge->pid)
		key.cr3 = 0;
	found = edge_find(edges, &key);
	if (found->count) {
		found->count += key.count;
		return true;
	}
	*found = key;
	edges->count++;
	return 2 * edges->count < edges->size || edges_grow(edges);
}

size_t edges_count(const struct edges *edges)
{
	return edges->count;
}

u64 edges_sum(const struct edges *edges)
{
	u64 sum = 0;
	size_t i;

	for (i = 0; i < edges->size; i++)
		sum += edges->table[i].count;
	return sum;
}

static int edge_compare(const void *left, const void *right)
{
	const struct edge *a = left, *b = right;

	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	if (a->to != b->to)
		return a->to < b->to ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return a->cr3 < b->cr3 ? -1 : a->cr3 > b->cr3;
}

const struct edge *edges_sort(struct edges *edges)
{
	/* Free entries have the lowest count: they come last. */
	if (!edges->sorted)
		qsort(edges->table, edges->size, sizeof(*edges->table),
		      edge_compare);
	edges->sorted = true;
	return edges->table;
}

u64 edges_hash(struct edges *edges)
{
	const struct edge *list = edges_sort(edges);
	u64 hash = TALLY_HASH_START;
	size_t i;

	for (i = 0; i < edges->count; i++) {
		hash = (hash ^ list[i].from) * TALLY_HASH_PRIME;
		hash = (hash ^ list[i].to) * TALLY_HASH_PRIME;
		hash = (hash ^ list[i].kind) * TALLY_HASH_PRIME;
		hash = (hash ^ list[i].count) * TALLY_HASH_PRIME;
	}
	return hash;
}
