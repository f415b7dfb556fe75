// SPDX-License-Identifier: GPL-2.0-only
/*
 * Address spaces and their ranges, see image_table.h. Spaces are in the order of
 * processes and times, so each question is a search or two.
 */
#include "image_table.h"

#define PAGE_BITS	(4096ULL - 1)
/* Offsets in files end before this. */
#define OFFSET_END	(1ULL << 62)
/* Of what a process had mapped in one stretch of time, so much is compared. */
#define CHANGES_COMPARED	64U

static bool is_range(const struct kipt_raw_range *range, u32 files)
{
	return range->begin < range->end && range->end <= KIPT_RAW_USER_END &&
	       range->offset <= OFFSET_END - KIPT_RAW_USER_END && !range->reserved &&
	       !((range->begin | range->end | range->offset) & PAGE_BITS) &&
	       (range->file < files || range->file >= KIPT_RAW_VDSO);
}

/* @before: NULL, or the one that comes before it. */
static bool is_space(const struct kipt_image_table *table,
		     const struct kipt_raw_space *before,
		     const struct kipt_raw_space *space)
{
	if (space->flags & ~KIPT_RAW_SPACE_NEW ||
	    (u64)space->first + space->count > table->nr_ranges)
		return false;
	return !before || before->tgid < space->tgid ||
	       (before->tgid == space->tgid && before->from <= space->from);
}

bool kipt_image_table_settle(struct kipt_image_table *table, u32 files)
{
	const struct kipt_raw_space *before = NULL, *space;
	u32 i;

	table->nr_changes = 0;
	for (i = 0; i < table->nr_ranges; i++)
		if (!is_range(&table->ranges[i], files))
			return false;
	for (i = 0; i < table->nr_spaces; i++, before = space) {
		space = &table->spaces[i];
		if (!is_space(table, before, space))
			return false;
		table->bases[i] = i;
		if (!before || before->tgid != space->tgid ||
		    space->flags & KIPT_RAW_SPACE_NEW)
			continue;
		table->bases[i] = table->bases[i - 1];
		table->changes[table->nr_changes++] = space->from;
	}
	return true;
}

/* Return: the number of the last space of a process that begins until @tsc, or ~0. */
static u32 last_until(const struct kipt_image_table *table, u32 tgid, u64 tsc)
{
	u32 low = 0, high = table->nr_spaces, middle;
	const struct kipt_raw_space *space;

	while (low < high) {
		middle = low + (high - low) / 2;
		space = &table->spaces[middle];
		if (space->tgid < tgid ||
		    (space->tgid == tgid && space->from <= tsc))
			low = middle + 1;
		else
			high = middle;
	}
	return low && table->spaces[low - 1].tgid == tgid ? low - 1 : ~0U;
}

static const struct kipt_raw_range *
find_range(const struct kipt_image_table *table,
	   const struct kipt_raw_space *space, u64 ip)
{
	u32 low = space->first, high = low + space->count, middle;
	const struct kipt_raw_range *range;

	while (low < high) {
		middle = low + (high - low) / 2;
		range = &table->ranges[middle];
		if (ip < range->begin)
			high = middle;
		else if (ip >= range->end)
			low = middle + 1;
		else
			return range;
	}
	return NULL;
}

/* Does space @number belong to the fork or exec @base, and begin until @end? */
static bool holds(const struct kipt_image_table *table, u32 base, u32 number,
		  u64 end)
{
	return number < table->nr_spaces && table->bases[number] == base &&
	       table->spaces[number].from <= end;
}

/* The last space since the fork or exec @base that begins until @begin; else the first. */
static u32 first_at(const struct kipt_image_table *table, u32 base, u64 begin)
{
	u32 low = base, high = table->nr_spaces, middle;

	while (high - low > 1) {
		middle = low + (high - low) / 2;
		if (holds(table, base, middle, begin))
			low = middle;
		else
			high = middle;
	}
	return low;
}

enum kipt_image_found
kipt_image_table_find(const struct kipt_image_table *table, u32 tgid, u64 born,
		      u64 begin, u64 end, u64 ip, struct kipt_image_place *place)
{
	const struct kipt_raw_range *range, *found = NULL;
	u32 number = last_until(table, tgid, born), base, left;

	if (number == ~0U)
		return KIPT_IMAGE_NONE;
	base = table->bases[number];
	number = first_at(table, base, begin);
	for (left = CHANGES_COMPARED; holds(table, base, number, end); number++) {
		if (!left--)
			return KIPT_IMAGE_UNSURE;
		range = find_range(table, &table->spaces[number], ip);
		if (range && found &&
		    (range->file != found->file ||
		     (range->file != KIPT_RAW_NO_FILE &&
		      range->offset - range->begin !=
		      found->offset - found->begin)))
			return KIPT_IMAGE_UNSURE;
		found = range ? range : found;
	}
	if (!found || found->file == KIPT_RAW_NO_FILE)
		return KIPT_IMAGE_NONE;
	place->file = found->file;
	place->offset = found->offset + ip - found->begin;
	return KIPT_IMAGE_FILE;
}

u32 kipt_image_table_changes(const struct kipt_image_table *table, u64 tsc)
{
	u32 low = 0, high = table->nr_changes, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (table->changes[middle] <= tsc)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}
