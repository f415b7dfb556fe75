// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts of taken branches by file, see branch_profile.h.
 */
#include <stdlib.h>
#include <unistd.h>

#include "../cli/file_map.h"
#include "../cli/lookup.h"
#include "../symbols/debug_file.h"
#include "branch_profile.h"

struct branch_profile *branch_profile_create(void)
{
	struct branch_profile *profile = calloc(1, sizeof(*profile));

	if (profile && code_files_init(&profile->files) &&
	    code_ranges_init(&profile->ranges))
		return profile;
	branch_profile_destroy(profile);
	return NULL;
}

void branch_profile_destroy(struct branch_profile *profile)
{
	if (!profile)
		return;
	code_files_free(&profile->files);
	code_ranges_free(&profile->ranges);
	free(profile->objects);
	free(profile);
}

/* Nothing is said of the kernel: it is in no file. A copy, as the next look-up may take the
 * place of what was found.
 */
static struct code_place user_place(struct branch_profile *profile, struct names *names,
				    u32 pid, u64 address)
{
	if (address >> 63)
		return (struct code_place){ .file = TEXT_NONE };
	return *code_files_find(&profile->files, names, pid, address);
}

static void place_count(struct branch_profile *profile, const struct code_place *at,
			enum branch_sort sort, u32 size)
{
	code_ranges_count(&profile->ranges, &(struct code_range){
		.begin = at->offset,
		.count = 1,
		.size = size,
		.file = at->file,
		.sort = sort,
	});
}

void branch_profile_branch(struct branch_profile *profile, struct names *names, u32 pid,
			   u64 from, u64 to)
{
	struct code_place source = user_place(profile, names, pid, from);
	struct code_place target = user_place(profile, names, pid, to);
	s64 distance = target.offset - source.offset;

	if (source.file == TEXT_NONE && target.file == TEXT_NONE) {
		profile->homeless += !(from >> 63 && to >> 63);
	} else if (source.file == target.file && distance == (s32)distance) {
		place_count(profile, &source, BRANCH_WITHIN, distance);
	} else {
		if (source.file != TEXT_NONE)
			place_count(profile, &source, BRANCH_OUT, 0);
		if (target.file != TEXT_NONE)
			place_count(profile, &target, BRANCH_INTO, 0);
	}
}

void branch_profile_range(struct branch_profile *profile, struct names *names, u32 pid,
			  u64 begin, u64 end, bool returned)
{
	struct code_place place;

	if (begin >> 63 || end >> 63)
		return;
	place = user_place(profile, names, pid, begin);
	if (place.file == TEXT_NONE || end < begin || end >= place.end ||
	    end - begin > ~0U)
		profile->homeless++;
	else
		place_count(profile, &place, returned ? BRANCH_RETURN_RANGE : BRANCH_RANGE,
			    end - begin);
}

/* Offsets that the file does not load now were of another file with its path. */
static bool range_loaded(const struct file_layout *layout, const struct code_range *range)
{
	u64 end = range->begin +
		  (range->sort == BRANCH_WITHIN ? (u64)(s32)range->size : range->size);
	u64 address;

	return file_layout_address(layout, range->begin, &address) &&
	       file_layout_address(layout, end, &address);
}

static bool range_keep(void *ctx, struct code_range *range)
{
	struct branch_profile *profile = ctx;
	struct branch_object *object = &profile->objects[range->file];

	if (!object->has_id) {
		profile->nameless += range->count;
		return false;
	}
	if (!range_loaded(&profile->files.list[range->file].layout, range)) {
		profile->homeless += range->count;
		return false;
	}
	range->file = object->of;
	return true;
}

static bool layout_same(const struct file_layout *a, const struct file_layout *b)
{
	unsigned int i;

	for (i = 0; i < a->file.segment_count && i < b->file.segment_count; i++) {
		const struct elf_segment *one = &a->file.segments[i], *two = &b->file.segments[i];

		if (one->offset != two->offset || one->address != two->address ||
		    one->size != two->size || one->code != two->code)
			return false;
	}
	return a->file.segment_count == b->file.segment_count;
}

/* Counts of a file go to the first one with its build id, unless that is laid out differently. */
static void object_join(struct branch_profile *profile, struct lookup *ids, u32 number)
{
	struct branch_object *object = &profile->objects[number], *first;
	u64 hash = profile->ranges.seed;
	const size_t *known;
	u32 i;

	for (i = 0; i < object->id.size; i++)
		hash = lookup_mix(hash, object->id.bytes[i]);
	known = lookup_get(ids, hash);
	first = known ? &profile->objects[*known] : NULL;
	if (!first)
		object->has_id = lookup_add(ids, hash, number);
	else if (build_id_same(&first->id, &object->id) &&
		 layout_same(&profile->files.list[*known].layout,
			     &profile->files.list[number].layout))
		object->of = *known;
	else
		object->has_id = false;
}

static void object_read(struct branch_profile *profile, struct lookup *ids, u32 number)
{
	struct branch_object *object = &profile->objects[number];
	int fd = file_open_regular(profile->files.paths.texts[number]);

	object->of = number;
	if (fd < 0)
		return;
	object->has_id = debug_file_build_id(fd, &object->id);
	close(fd);
	if (object->has_id)
		object_join(profile, ids, number);
}

bool branch_profile_settle(struct branch_profile *profile, struct names *names)
{
	size_t i, count = profile->files.paths.count;
	struct lookup ids = { 0 };

	profile->objects = calloc(count + 1, sizeof(*profile->objects));
	if (!profile->objects)
		return false;
	code_files_settle(&profile->files, names);
	for (i = 0; i < count; i++)
		object_read(profile, &ids, i);
	lookup_free(&ids);
	code_ranges_settle(&profile->ranges, range_keep, profile);
	return true;
}
