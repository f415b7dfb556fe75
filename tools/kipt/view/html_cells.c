// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sums by stretches of time, see html_cells.h.
 */
#include <stdlib.h>
#include <string.h>

#include "../cli/list_room.h"
#include "../cli/lookup.h"
#include "html_cells.h"

static u32 *recent_of(struct html_cells *cells, const struct html_cell *cell)
{
	u64 hash = lookup_mix(lookup_mix(1, cell->bucket), cell->key);

	return &cells->recent[hash & (HTML_RECENT - 1)];
}

bool html_cells_add(struct html_cells *cells, const struct html_cell *cell)
{
	u32 *recent = recent_of(cells, cell);
	struct html_cell *at = *recent ? &cells->cells[*recent - 1] : NULL;

	if (at && at->bucket == cell->bucket && at->key == cell->key) {
		at->ticks += cell->ticks;
		at->count += cell->count;
		return true;
	}
	at = list_room(cells->cells, cells->count, sizeof(*at));
	if (!at)
		return false;
	cells->cells = at;
	at[cells->count++] = *cell;
	*recent = cells->count;
	return true;
}

static int cell_compare(const void *a, const void *b)
{
	const struct html_cell *left = a, *right = b;

	if (left->bucket != right->bucket)
		return left->bucket < right->bucket ? -1 : 1;
	return left->key < right->key ? -1 : left->key > right->key;
}

/* A list of @count entries may have room for twice as many: that stays true if it shrinks
 * to a power of two, which list_room() takes for full.
 */
void html_cells_sort(struct html_cells *cells)
{
	struct html_cell *at, *end = cells->cells + cells->count, *last = NULL;

	memset(cells->recent, 0, sizeof(cells->recent));
	if (!cells->count)
		return;
	qsort(cells->cells, cells->count, sizeof(*cells->cells), cell_compare);
	cells->count = 0;
	for (at = cells->cells; at < end; at++) {
		if (!at->ticks && !at->count)
			continue;
		if (last && last->bucket == at->bucket && last->key == at->key) {
			last->ticks += at->ticks;
			last->count += at->count;
			continue;
		}
		last = &cells->cells[cells->count++];
		*last = *at;
	}
}

static void cells_widen(struct html_cells *cells)
{
	size_t i;

	memset(cells->recent, 0, sizeof(cells->recent));
	for (i = 0; i < cells->count; i++)
		cells->cells[i].bucket >>= 1;
}

void html_sums_widen(struct html_sums *sums)
{
	sums->shift++;
	cells_widen(&sums->paths);
	cells_widen(&sums->runs);
	cells_widen(&sums->losses);
}

u64 html_sums_buckets(const struct html_sums *sums)
{
	return sums->any ? (sums->last >> sums->shift) - (sums->first >> sums->shift) + 1 : 0;
}

void html_sums_reach(struct html_sums *sums, u64 tsc, u32 most)
{
	if (!sums->any || tsc < sums->first)
		sums->first = tsc;
	if (!sums->any || tsc > sums->last)
		sums->last = tsc;
	sums->any = true;
	while (html_sums_buckets(sums) > most)
		html_sums_widen(sums);
}

bool html_sums_spread(struct html_sums *sums, struct html_cells *cells, u64 key, u64 from,
		      u64 to)
{
	struct html_cell cell = { .key = key };
	u64 last;
	bool ok = true;

	while (ok && from < to) {
		cell.bucket = from >> sums->shift;
		last = from | ((1ULL << sums->shift) - 1);
		cell.ticks = (to - 1 < last ? to - 1 : last) - from + 1;
		from += cell.ticks;
		ok = html_cells_add(cells, &cell);
	}
	return ok;
}
