// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts of what is at a place in a file, see code_ranges.h.
 */
#include <stdlib.h>
#include <string.h>

#include "../cli/lookup.h"
#include "code_ranges.h"

#define ROOM_FIRST	4096
/* 400 MB. */
#define RANGES_MAX	(1U << 23)

bool code_ranges_init(struct code_ranges *ranges)
{
	memset(ranges, 0, sizeof(*ranges));
	ranges->room = ROOM_FIRST;
	ranges->seed = lookup_seed();
	ranges->list = calloc(ranges->room, sizeof(*ranges->list));
	return ranges->list;
}

void code_ranges_free(struct code_ranges *ranges)
{
	free(ranges->list);
}

static int range_compare(const void *left, const void *right)
{
	const struct code_range *a = left, *b = right;

	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	if (a->begin != b->begin)
		return a->begin < b->begin ? -1 : 1;
	if (a->size != b->size)
		return a->size < b->size ? -1 : 1;
	return a->sort < b->sort ? -1 : a->sort > b->sort;
}

static struct code_range *range_find(struct code_range *list, size_t room, u64 seed,
				     const struct code_range *range)
{
	u64 hash = lookup_mix(lookup_mix(lookup_mix(seed, range->begin), range->size),
			      (u32)range->sort << 16 | range->file);
	size_t at = (hash ^ hash >> 32) & (room - 1);

	while (list[at].count && range_compare(&list[at], range))
		at = (at + 1) & (room - 1);
	return &list[at];
}

static bool table_grow(struct code_ranges *ranges)
{
	size_t i, room = 2 * ranges->room;
	struct code_range *list;

	if (2 * ranges->count < ranges->room)
		return true;
	list = ranges->count < RANGES_MAX ? calloc(room, sizeof(*list)) : NULL;
	if (!list)
		return false;
	for (i = 0; i < ranges->room; i++) {
		if (ranges->list[i].count)
			*range_find(list, room, ranges->seed, &ranges->list[i]) = ranges->list[i];
	}
	free(ranges->list);
	ranges->list = list;
	ranges->room = room;
	return true;
}

void code_ranges_count(struct code_ranges *ranges, const struct code_range *range)
{
	struct code_range *found = range_find(ranges->list, ranges->room, ranges->seed, range);

	if (found->count) {
		found->count++;
	} else if (table_grow(ranges)) {
		*range_find(ranges->list, ranges->room, ranges->seed, range) = *range;
		ranges->count++;
	} else {
		ranges->dropped++;
	}
}

/* What is the same after it was changed. */
static void list_merge(struct code_ranges *ranges)
{
	struct code_range *list = ranges->list;
	size_t i, count = 0;

	for (i = 0; i < ranges->count; i++) {
		if (count && !range_compare(&list[count - 1], &list[i]))
			list[count - 1].count += list[i].count;
		else
			list[count++] = list[i];
	}
	ranges->count = count;
}

u64 code_ranges_settle(struct code_ranges *ranges,
		       bool (*keep)(void *ctx, struct code_range *range), void *ctx)
{
	struct code_range *range;
	size_t i, count = 0;
	u64 left = 0;

	for (i = 0; i < ranges->room; i++) {
		range = &ranges->list[i];
		if (range->count && keep(ctx, range))
			ranges->list[count++] = *range;
		else
			left += range->count;
	}
	ranges->count = count;
	qsort(ranges->list, count, sizeof(*ranges->list), range_compare);
	list_merge(ranges);
	return left;
}
