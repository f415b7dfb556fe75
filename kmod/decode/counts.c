// SPDX-License-Identifier: GPL-2.0-only
/*
 * Edges and their numbers, see counts.h. Any context.
 */
#include "counts.h"

void kipt_counts_init(struct kipt_counts *counts, struct kipt_edge *edges,
		      u32 max, u32 *slots, u32 nr_slots)
{
	counts->edges = edges;
	counts->max = max;
	counts->index.slots = slots;
	counts->index.max = nr_slots;
	kipt_counts_clear(counts);
}

void kipt_counts_clear(struct kipt_counts *counts)
{
	counts->count = 1;
	counts->full = false;
	kipt_index_clear(&counts->index);
}

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
	u32 number = counts->count, i;

	if (number >= counts->max) {
		counts->full = true;
		return 0;
	}
	counts->edges[number] = (struct kipt_edge){
		.space = space, .from = from, .to = to, .kind = kind
	};
	counts->count++;
	if (kipt_index_double(&counts->index, counts->count)) {
		for (i = 1; i < number; i++)
			enter(counts, i);
	}
	enter(counts, number);
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
