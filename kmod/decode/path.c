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
	paths->factor = 0xc2b2ae3d27d4eb4fULL;
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
	paths->last = 0;
	if (!paths->max)
		return;
	memset(&paths->at[0], 0, sizeof(paths->at[0]));
	paths->size = paths->most < KIPT_PATHS_FIRST ? paths->most : KIPT_PATHS_FIRST;
	memset(paths->slots, 0, sizeof(*paths->slots) * paths->size);
}

/* What a path is found by. */
static u64 hash_of(const struct kipt_paths *paths, const struct kipt_path *path)
{
	const u64 *guards;
	u32 n;

	if ((u8)path->from == KIPT_PATH_PGD_NO_IP)
		return kipt_path_hash(paths, path->from, 0);
	if (path->from & 1)
		return kipt_path_hash(paths, path->from, path->ips[1]);
	guards = kipt_path_guards(paths, path, &n);
	return kipt_path_hash(paths, path->from, n ? guards[0] : 0);
}

static struct kipt_path_slot *first_slot(const struct kipt_paths *paths,
					 const struct kipt_path *path)
{
	return kipt_paths_first(paths, hash_of(paths, path));
}

static void enter(struct kipt_paths *paths, u32 number)
{
	struct kipt_path_slot *slot = first_slot(paths, &paths->at[number]);

	while (slot->number)
		slot = kipt_paths_next(paths, slot);
	slot->from = paths->at[number].from;
	slot->number = number;
}

static void enter_all(struct kipt_paths *paths)
{
	u32 i;

	memset(paths->slots, 0, sizeof(*paths->slots) * paths->size);
	for (i = 1; i < paths->count; i++)
		enter(paths, i);
}

bool kipt_paths_alike(const struct kipt_paths *paths, const struct kipt_path *path)
{
	struct kipt_path_slot *slot = first_slot(paths, path);
	u32 alike = 0;

	for (; slot->number; slot = kipt_paths_next(paths, slot))
		alike += slot->from == path->from;
	return alike >= KIPT_PATHS_ALIKE;
}

void kipt_paths_put(struct kipt_paths *paths, const struct kipt_path *path)
{
	u32 number = paths->count;

	if (number == paths->max) {
		paths->full = true;
		return;
	}
	paths->at[number] = *path;
	paths->count++;
	paths->last = number;
	if (paths->count * 2 <= paths->size || paths->size == paths->most) {
		enter(paths, number);
		return;
	}
	paths->size *= 2;
	enter_all(paths);
}
