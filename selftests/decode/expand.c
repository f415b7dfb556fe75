// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packed records to plain ones, see expand.h. A path is known by where its
 * PATH record stands in the stream. User space.
 */
#include <stdlib.h>

#include "expand.h"

/* Members of a path may be PATHS records, those of the paths these name not. */
#define DEPTH_MAX	1
/* More paths or dictionaries than any decoder has memory for. */
#define NUMBERS_MAX	(1U << 24)

/**
 * struct dictionary - the paths of one numbering
 * @at: by number: place of the PATH record + 1; 0: not named
 * @room: of @at
 */
struct dictionary {
	u64 *at;
	u32 room;
};

/**
 * struct expansion - what is known so far
 * @packed: the input
 * @count: its records
 * @plain: the output
 * @room: of @plain
 * @made: plain records
 * @left: instructions that no record has counted
 * @dictionaries: all that were spoken of
 * @nr_dictionaries: how many
 * @current: the one that numbers belong to
 * @wrong: the rule that was broken
 */
struct expansion {
	const struct kipt_record *packed;
	u64 count;
	struct kipt_record *plain;
	u64 room;
	u64 made;
	u64 left;
	struct dictionary *dictionaries;
	u32 nr_dictionaries;
	u32 current;
	const char *wrong;
};

static void *grow(void *array, u32 *room, u32 number, size_t size)
{
	u32 more = *room;

	if (number < *room)
		return array;
	while (more <= number)
		more = more ? more * 2 : 64;
	array = realloc(array, more * size);
	if (!array)
		exit(2);
	memset((u8 *)array + *room * size, 0, (more - *room) * size);
	*room = more;
	return array;
}

/* Where decoding starts from scratch nothing is counted (KIPT_SYNC_START). */
static void put(struct expansion *e, const struct kipt_record *record)
{
	struct kipt_record copy = *record;
	u64 sum = record->aux + e->left;

	switch (record->type) {
	case KIPT_RECORD_SYNC:
		if (record->kind == KIPT_SYNC_START)
			sum = 0;
		fallthrough;
	case KIPT_RECORD_BRANCH:
	case KIPT_RECORD_DISABLE:
		copy.aux = sum < 0xffffffffU ? (u32)sum : 0xffffffffU;
		fallthrough;
	case KIPT_RECORD_ENABLE:
	case KIPT_RECORD_GAP:
		e->left = 0;
		break;
	default:
		break;
	}
	if (e->made < e->room)
		e->plain[e->made] = copy;
	e->made++;
}

static const struct kipt_record *find(const struct expansion *e, u32 number)
{
	const struct dictionary *dictionary;

	if (e->current >= e->nr_dictionaries)
		return NULL;
	dictionary = &e->dictionaries[e->current];
	if (number >= dictionary->room || !dictionary->at[number])
		return NULL;
	return &e->packed[dictionary->at[number] - 1];
}

static void take_paths(struct expansion *e, const struct kipt_record *record,
		       u32 depth);

static void take_path(struct expansion *e, const struct kipt_record *path,
		      u32 depth)
{
	u64 i;

	for (i = 1; i <= path->value && !e->wrong; i++) {
		if (path[i].type == KIPT_RECORD_PATHS)
			take_paths(e, &path[i], depth + 1);
		else
			put(e, &path[i]);
	}
	e->left += path->ip;
}

static void take_paths(struct expansion *e, const struct kipt_record *record,
		       u32 depth)
{
	const u32 *numbers = kipt_record_paths(record);
	const struct kipt_record *path;
	u32 i;

	if (record->kind > KIPT_RECORD_PATHS_MAX)
		e->wrong = "a PATHS record has more than five paths";
	else if (depth > DEPTH_MAX)
		e->wrong = "a path in a path has a PATHS record";
	e->left += record->flags;
	for (i = 0; !e->wrong && i < record->kind; i++) {
		path = find(e, numbers[i]);
		if (path)
			take_path(e, path, depth);
		else
			e->wrong = "a PATHS record has a path without a name";
	}
}

static bool may_be_member(u32 type)
{
	return type == KIPT_RECORD_BRANCH || type == KIPT_RECORD_ENABLE ||
	       type == KIPT_RECORD_DISABLE || type == KIPT_RECORD_PATHS;
}

/* Returns how many records behind the PATH record belong to it. */
static u64 name_path(struct expansion *e, u64 at)
{
	const struct kipt_record *path = &e->packed[at];
	struct dictionary *dictionary;
	u64 i;

	if (path->value >= e->count - at) {
		e->wrong = "a path is longer than the stream";
		return 0;
	}
	if (path->aux >= NUMBERS_MAX || e->current >= NUMBERS_MAX) {
		e->wrong = "a path's number is far too large";
		return 0;
	}
	for (i = 1; i <= path->value; i++) {
		if (!may_be_member(path[i].type))
			e->wrong = "a path has a record of another type";
	}
	e->dictionaries = grow(e->dictionaries, &e->nr_dictionaries,
			       e->current, sizeof(*e->dictionaries));
	dictionary = &e->dictionaries[e->current];
	dictionary->at = grow(dictionary->at, &dictionary->room, path->aux,
			      sizeof(*dictionary->at));
	dictionary->at[path->aux] = at + 1;
	return path->value;
}

u64 expand(const struct kipt_record *packed, u64 count,
	   struct kipt_record *plain, u64 room, const char **wrong)
{
	struct expansion e = { .packed = packed, .count = count,
			       .plain = plain, .room = room };
	u64 at;
	u32 i;

	for (at = 0; at < count && !e.wrong; at++) {
		if (packed[at].type == KIPT_RECORD_PATH)
			at += name_path(&e, at);
		else if (packed[at].type == KIPT_RECORD_PATHS)
			take_paths(&e, &packed[at], 0);
		else if (packed[at].type == KIPT_RECORD_DICTIONARY)
			e.current = packed[at].aux;
		else
			put(&e, &packed[at]);
	}
	for (i = 0; i < e.nr_dictionaries; i++)
		free(e.dictionaries[i].at);
	free(e.dictionaries);
	*wrong = e.wrong;
	return e.made;
}
