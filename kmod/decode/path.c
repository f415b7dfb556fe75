// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory of paths. Any context.
 */
#include "path.h"

/* Places at first. Tests make it small. */
#ifndef KIPT_PATHS_FIRST
#define KIPT_PATHS_FIRST	1024U
#endif

_Static_assert(sizeof(struct kipt_path) == 64, "one is a cache line");

void kipt_paths_init(struct kipt_paths *paths, struct kipt_path *at, u32 max,
		     struct kipt_path_slot *slots, u32 nr_slots, u64 *words, u32 room)
{
	paths->at = at;
	paths->max = max;
	paths->slots = slots;
	paths->most = nr_slots;
	paths->words = words;
	paths->room = room < 1U << 31 ? room : 1U << 31;
	kipt_paths_clear(paths);
}

void kipt_paths_clear(struct kipt_paths *paths)
{
	paths->count = 1;
	paths->used = 1;
	paths->full = false;
	paths->numbers = 0;
	paths->bytes = 0;
	paths->last = 0;
	if (!paths->max)
		return;
	memset(&paths->at[0], 0, sizeof(paths->at[0]));
	paths->size = paths->most < KIPT_PATHS_FIRST ? paths->most : KIPT_PATHS_FIRST;
	memset(paths->slots, 0, sizeof(*paths->slots) * paths->size);
}
