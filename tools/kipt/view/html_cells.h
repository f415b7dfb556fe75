/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sums by stretches of time. All stretches, the buckets, are equally long, a power of two of
 * ticks, and become longer as the trace does.
 */
#ifndef KIPT_HTML_CELLS_H
#define KIPT_HTML_CELLS_H

#include <stdbool.h>
#include <stddef.h>

#include "../../../kmod/decode/port.h"

/**
 * struct html_cell - a sum
 * @bucket: the TSC divided by the length of a bucket
 * @key: of what
 * @ticks: time
 * @count: how often
 */
struct html_cell {
	u64 bucket;
	u64 key;
	u64 ticks;
	u64 count;
};

/* Sums that are found again at once. A power of two. */
#define HTML_RECENT	16384U

/**
 * struct html_cells - sums of one kind
 * @cells: sums; those of the same bucket and key may be several until html_cells_sort()
 * @count: how many
 * @recent: index + 1 of a sum by a hash of it
 */
struct html_cells {
	struct html_cell *cells;
	size_t count;
	u32 recent[HTML_RECENT];
};

/**
 * struct html_sums - sums of all kinds, which share their buckets
 * @shift: a bucket is 1 << @shift ticks
 * @first, @last: of all times
 * @any: there are times
 */
struct html_sums {
	struct html_cells paths, runs, losses;
	u32 shift;
	u64 first, last;
	bool any;
};

/**
 * html_cells_add() - add to a sum
 * @cells: sums
 * @cell: what to add
 *
 * Return: false without memory.
 */
bool html_cells_add(struct html_cells *cells, const struct html_cell *cell);

/**
 * html_cells_sort() - sort by bucket and key, and have each once
 * @cells: sums; those of nothing are dropped
 */
void html_cells_sort(struct html_cells *cells);

/**
 * html_sums_reach() - make buckets so long that a time is within them
 * @sums: sums
 * @tsc: the time
 * @most: buckets at most
 */
void html_sums_reach(struct html_sums *sums, u64 tsc, u32 most);

/**
 * html_sums_widen() - make buckets twice as long
 * @sums: sums
 */
void html_sums_widen(struct html_sums *sums);

/**
 * html_sums_buckets() - how many buckets there are, empty ones too
 * @sums: sums
 *
 * Return: the number.
 */
u64 html_sums_buckets(const struct html_sums *sums);

/**
 * html_sums_spread() - add a stretch of time to the buckets that it is in
 * @sums: reaches both of its ends
 * @cells: sums
 * @key: of what
 * @from, @to: TSCs
 *
 * Return: false without memory.
 */
bool html_sums_spread(struct html_sums *sums, struct html_cells *cells, u64 key, u64 from,
		      u64 to);

#endif /* KIPT_HTML_CELLS_H */
