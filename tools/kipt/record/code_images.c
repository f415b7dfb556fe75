// SPDX-License-Identifier: GPL-2.0-only
/*
 * From the mappings of a recording of perf to the tables of kipt_raw.h. Each file
 * goes to the kernel once, as it was found; processes that have forked share ranges.
 */
#include <string.h>

#include "../cli/lookup.h"
#include "../cli/messages.h"
#include "../perf/perf_maps.h"
#include "code_images.h"
#include "image_tables.h"

struct images {
	struct image_tables tables;
	struct perf_file *file;
	struct perf_maps *maps;
	struct perf_aux aux;
	/* By address: the number of a file; of a tree, the first space that has it. */
	struct lookup numbers, trees;
	/* The recording does not say it for certain, and a note said so. */
	bool unknown;
};

static bool event_take(void *ctx, const struct perf_event *event)
{
	struct images *images = ctx;

	return perf_aux_take(&images->aux, images->file, event) &&
	       perf_maps_take(images->maps, images->file, event);
}

/* Of 32 bits it is [vdso32] here: the module knows which one a process has. */
static bool is_vdso(const struct perf_code *code)
{
	return code->path && !strncmp(code->path, "[vdso", strlen("[vdso"));
}

static bool file_number(struct images *images, const struct perf_code *code,
			u32 *number)
{
	const size_t *known = lookup_get(&images->numbers, (uintptr_t)code);

	*number = known ? *known : is_vdso(code) ? KIPT_RAW_VDSO :
		  image_tables_file(&images->tables, perf_code_open(code));
	return known || lookup_add(&images->numbers, (uintptr_t)code, *number) ||
	       image_tables_no_memory(&images->tables);
}

static bool mapping_take(void *ctx, const struct perf_mapping *mapping)
{
	struct images *images = ctx;
	struct kipt_raw_range range = {
		.begin = mapping->start,
		.end = mapping->end,
		.offset = mapping->offset,
	};

	return file_number(images, mapping->code, &range.file) &&
	       image_tables_range(&images->tables, &range);
}

static bool ranges_take(struct images *images, const struct perf_space *from,
			struct kipt_raw_space *space)
{
	const size_t *known = lookup_get(&images->trees, (uintptr_t)from->root);

	if (known) {
		space->first = images->tables.spaces[*known].first;
		space->count = images->tables.spaces[*known].count;
		return true;
	}
	space->first = images->tables.range_count;
	if (!perf_tree_each(from->root, mapping_take, images))
		return false;
	space->count = images->tables.range_count - space->first;
	return lookup_add(&images->trees, (uintptr_t)from->root,
			  images->tables.space_count) ||
	       image_tables_no_memory(&images->tables);
}

static bool space_take(void *ctx, const struct perf_space *from)
{
	struct images *images = ctx;
	struct kipt_raw_space space = {
		.tgid = from->pid,
		.flags = from->begins ? KIPT_RAW_SPACE_NEW : 0,
		.from = from->from,
	};

	return ranges_take(images, from, &space) &&
	       image_tables_space(&images->tables, &space);
}

static bool recording_read(struct images *images, const char *path)
{
	if (!perf_file_events(images->file, event_take, images) ||
	    !perf_maps_settle(images->maps, images->file, &images->aux.clock))
		return false;
	if (!images->aux.clock.mult) {
		say_note("%s says nothing of the TSC: code of programs that ended is missing",
			 path);
		images->unknown = true;
	}
	if (perf_maps_lost(images->maps)) {
		say_note("perf lost %llu events: nobody knows what programs had mapped, and code of those that ended is missing",
			 (unsigned long long)perf_maps_lost(images->maps));
		images->unknown = true;
	}
	if (!images->unknown)
		perf_maps_files(images->maps, images->file, NULL);
	return true;
}

static void images_free(struct images *images)
{
	perf_maps_destroy(images->maps);
	perf_aux_free(&images->aux);
	perf_file_close(images->file);
	lookup_free(&images->numbers);
	lookup_free(&images->trees);
	image_tables_free(&images->tables);
}

bool code_images_give(const char *path, const struct kipt_session *session)
{
	struct images images = { 0 };
	bool ok = image_tables_open(&images.tables, session);

	if (ok)
		images.file = perf_file_open(path);
	if (images.file)
		images.maps = perf_maps_create();
	ok = images.maps && recording_read(&images, path);
	if (ok && !images.unknown)
		ok = perf_maps_each(images.maps, space_take, &images) &&
		     image_tables_give(&images.tables, session->id);
	images_free(&images);
	return ok;
}
