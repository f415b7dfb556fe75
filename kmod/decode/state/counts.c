// SPDX-License-Identifier: GPL-2.0-only
/*
 * Edges and their numbers, see counts.h. Any context.
 */
#include "counts.h"

static u64 key_of(const struct kipt_counts *counts, u64 space, u64 from, u64 to)
{
	u64 key = (from ^ space << 16) * counts->index.factor;

	/* What of it varies most has to vary in its lower half, too. */
	return (key ^ key >> 32) ^ to;
}

static void enter(struct kipt_counts *counts, u32 number)
{
	const struct kipt_edge *edge = &counts->edges[number];

	kipt_index_put(&counts->index,
		       key_of(counts, edge->space, edge->from, edge->to), number);
}

static u32 add(struct kipt_counts *counts, u64 space, u64 from, u64 to,
	       u32 kind)
{
	u32 number = kipt_index_new(&counts->index), i;

	if (!number)
		return 0;
	counts->edges[number] = (struct kipt_edge){
		.space = space, .from = from, .to = to, .kind = kind
	};
	for (i = kipt_index_double(&counts->index) ? 1 : number; i <= number; i++)
		enter(counts, i);
	return number;
}

u32 kipt_counts_number(struct kipt_counts *counts, u64 space, u64 from, u64 to,
		       u32 kind)
{
	u32 at = kipt_index_first(&counts->index,
				  key_of(counts, space, from, to));
	const struct kipt_edge *edge;
	u32 number;

	while ((number = counts->index.slots[at]) != 0) {
		edge = &counts->edges[number];
		if (edge->from == from && edge->to == to &&
		    edge->space == space && edge->kind == kind)
			return number;
		at = kipt_index_next(&counts->index, at);
	}
	return add(counts, space, from, to, kind);
}

static u64 pair_key(u32 from, u32 to)
{
	u64 key = (u64)from * KIPT_INDEX_FACTOR ^ (u64)to * 0xc2b2ae3d27d4eb4fULL;

	return key ^ key >> 29;
}

static void enter_pair(struct kipt_pairs *pairs, u32 number)
{
	kipt_index_put(&pairs->index, pair_key(pairs->at[number].from, pairs->at[number].to),
		       number);
}

static u32 add_pair(struct kipt_pairs *pairs, u32 from, u32 to)
{
	u32 number = kipt_index_new(&pairs->index), i;

	if (!number)
		return 0;
	pairs->at[number] = (struct kipt_pair){ .from = from, .to = to };
	for (i = kipt_index_double(&pairs->index) ? 1 : number; i <= number; i++)
		enter_pair(pairs, i);
	return number;
}

u32 kipt_pairs_number(struct kipt_pairs *pairs, u32 from, u32 to)
{
	u32 at = kipt_index_first(&pairs->index, pair_key(from, to)), number;

	while ((number = pairs->index.slots[at]) != 0) {
		if (pairs->at[number].from == from && pairs->at[number].to == to)
			return number;
		at = kipt_index_next(&pairs->index, at);
	}
	return add_pair(pairs, from, to);
}
