// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stretches of code and their counts, see coverage.h.
 */
#include <stdlib.h>
#include <string.h>

#include "../cli/list_room.h"
#include "coverage.h"

#define ROOM_FIRST	4096
/* 400 MB. */
#define RANGES_MAX	(1U << 23)
/* So many answers are kept. A power of two. */
#define RECENT		4096

/* Where @address of @pid was found, after so many changes; @end 0: nothing was asked. */
struct coverage_recent {
	u64 address;
	u64 changes;
	u64 offset;
	u64 end;
	u32 pid;
	u32 file;
};

struct coverage *coverage_create(void)
{
	struct coverage *coverage = calloc(1, sizeof(*coverage));

	if (!coverage)
		return NULL;
	coverage->room = ROOM_FIRST;
	coverage->ranges = calloc(coverage->room, sizeof(*coverage->ranges));
	coverage->recent = calloc(RECENT, sizeof(*coverage->recent));
	if (coverage->ranges && coverage->recent)
		return coverage;
	coverage_destroy(coverage);
	return NULL;
}

void coverage_destroy(struct coverage *coverage)
{
	size_t i;

	if (!coverage)
		return;
	for (i = 0; i < coverage->paths.count; i++)
		free(coverage->files[i].called);
	free(coverage->files);
	text_list_free(&coverage->paths);
	free(coverage->ranges);
	free(coverage->recent);
	free(coverage);
}

static struct coverage_range *range_find(struct coverage_range *ranges, size_t room,
					 const struct coverage_range *range)
{
	u64 hash = lookup_mix(lookup_mix(range->begin, range->size), range->file);
	size_t at = (hash ^ hash >> 32) & (room - 1);

	while (ranges[at].count &&
	       (ranges[at].begin != range->begin || ranges[at].size != range->size ||
		ranges[at].file != range->file))
		at = (at + 1) & (room - 1);
	return &ranges[at];
}

static bool table_grow(struct coverage *coverage)
{
	size_t i, room = 2 * coverage->room;
	struct coverage_range *ranges;

	if (2 * coverage->count < coverage->room)
		return true;
	ranges = coverage->count < RANGES_MAX ? calloc(room, sizeof(*ranges)) : NULL;
	if (!ranges)
		return false;
	for (i = 0; i < coverage->room; i++) {
		if (coverage->ranges[i].count)
			*range_find(ranges, room, &coverage->ranges[i]) = coverage->ranges[i];
	}
	free(coverage->ranges);
	coverage->ranges = ranges;
	coverage->room = room;
	return true;
}

static void range_count(struct coverage *coverage, const struct coverage_range *range)
{
	struct coverage_range *found = range_find(coverage->ranges, coverage->room, range);

	if (found->count) {
		found->count++;
	} else if (table_grow(coverage)) {
		*range_find(coverage->ranges, coverage->room, range) = *range;
		coverage->count++;
	} else {
		coverage->dropped++;
	}
}

/* The number of a file, which is new or not. */
static u32 file_number(struct coverage *coverage, const struct file_place *place, u64 address)
{
	const char *path = place->path ? place->path : place->called;
	size_t count = coverage->paths.count;
	struct coverage_file *files = list_room(coverage->files, count, sizeof(*files));
	u32 number;
	char *called;

	if (!files)
		return TEXT_NONE;
	coverage->files = files;
	number = text_list_number(&coverage->paths, path, COVERAGE_FILES);
	if (number == TEXT_NONE || number < count)
		return number;
	called = strdup(place->called);
	if (!called)
		coverage->dropped++;
	files[number] = (struct coverage_file){
		.called = called,
		.kernel = !place->path,
		.address = address,
		.offset = place->offset,
	};
	return number;
}

/* Where an address is; without a file that is TEXT_NONE. */
static const struct coverage_recent *place_get(struct coverage *coverage, struct names *names,
					       u32 pid, u64 address)
{
	u32 of = address >> 63 ? 0 : pid;
	struct coverage_recent *recent =
		&coverage->recent[(address ^ address >> 12 ^ of) & (RECENT - 1)];
	struct file_place place;
	bool found;

	if (recent->end && recent->address == address && recent->pid == of &&
	    recent->changes == names_changes(names))
		return recent;
	found = names_file(names, of, address, &place);
	*recent = (struct coverage_recent){
		.address = address,
		/* Symbols may have been read now. */
		.changes = names_changes(names),
		.offset = found ? place.offset : 0,
		.end = found ? place.end : ~0ULL,
		.pid = of,
		.file = found ? file_number(coverage, &place, address) : TEXT_NONE,
	};
	return recent;
}

void coverage_add(struct coverage *coverage, struct names *names, u32 pid, u64 begin,
		  u64 end)
{
	const struct coverage_recent *place;
	u64 stop;

	for (; begin < end; begin = stop) {
		place = place_get(coverage, names, pid, begin);
		stop = place->end > begin && place->end < end ? place->end : end;
		if (place->file == TEXT_NONE)
			coverage->homeless++;
		else
			range_count(coverage, &(struct coverage_range){
				.begin = place->offset,
				.count = 1,
				.size = stop - begin,
				.file = place->file,
			});
	}
}

static int range_compare(const void *left, const void *right)
{
	const struct coverage_range *a = left, *b = right;

	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	if (a->begin != b->begin)
		return a->begin < b->begin ? -1 : 1;
	return a->size < b->size ? -1 : a->size > b->size;
}

static void layout_settle(struct coverage *coverage, struct names *names, size_t number)
{
	struct coverage_file *file = &coverage->files[number];

	if (!file->kernel)
		file_layout_read(&file->layout, coverage->paths.texts[number]);
	else if (!file->called ||
		 !names_kernel_range(names, file->called, &file->layout.begin,
				     &file->layout.end))
		file->layout.begin = file->offset;
	if (!file_layout_address(&file->layout, file->offset, &file->offset))
		file->offset = file->layout.begin;
}

/* Code at an offset that the file does not load now was of another file with its path. */
static bool range_settle(const struct coverage *coverage, struct coverage_range *range)
{
	struct file_layout *layout = &coverage->files[range->file].layout;

	if (!file_layout_address(layout, range->begin, &range->begin) ||
	    range->begin < layout->begin || range->begin - layout->begin > ~0U)
		return false;
	if (range->begin + range->size > layout->end)
		layout->end = range->begin + range->size;
	return true;
}

void coverage_settle(struct coverage *coverage, struct names *names)
{
	struct coverage_range *range;
	size_t i, count = 0;

	for (i = 0; i < coverage->paths.count; i++)
		layout_settle(coverage, names, i);
	for (i = 0; i < coverage->room; i++) {
		range = &coverage->ranges[i];
		if (range->count && range_settle(coverage, range))
			coverage->ranges[count++] = *range;
		else
			coverage->homeless += range->count;
	}
	coverage->count = count;
	qsort(coverage->ranges, count, sizeof(*coverage->ranges), range_compare);
}
