// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packed records to plain ones, see expand.h. Knows paths by where they stand
 * in the list. User space, one thread.
 */
#include <stdlib.h>

#include "expand.h"

#define PATHS_MAX	(1 << 14)

/**
 * struct expansion - what is known while reading
 * @packed: the input
 * @plain: the output
 * @left: instructions that no record has counted yet
 * @paths: by number: the place of its PATH record + 1, 0: none
 */
struct expansion {
	const struct record_list *packed;
	struct record_list *plain;
	u64 left;
	u32 paths[PATHS_MAX];
};

bool record_list_add(void *ctx, const struct kipt_record *records, u32 n)
{
	struct record_list *list = ctx;

	if (!n)
		abort();
	if (n > LIST_MAX - list->count) {
		list->full = true;
		n = LIST_MAX - list->count;
	}
	memcpy(list->records + list->count, records, n * sizeof(*records));
	list->count += n;
	return true;
}

/* The first three count instructions; where decoding starts anew, there are
 * none.
 */
static void put(struct expansion *e, const struct kipt_record *record)
{
	struct kipt_record copy = *record;
	u64 sum = record->aux + e->left;

	switch (record->type) {
	case KIPT_RECORD_BRANCH:
	case KIPT_RECORD_DISABLE:
	case KIPT_RECORD_SYNC:
		if (record->type != KIPT_RECORD_SYNC ||
		    record->kind != KIPT_SYNC_START)
			copy.aux = sum < ~0U ? (u32)sum : ~0U;
		/* fallthrough */
	case KIPT_RECORD_ENABLE:
	case KIPT_RECORD_GAP:
		e->left = 0;
		break;
	}
	record_list_add(e->plain, &copy, 1);
}

static void take_paths(struct expansion *e, const struct kipt_record *record,
		       u32 depth);

static void take_path(struct expansion *e, u32 number, u32 depth)
{
	const struct kipt_record *path, *record;
	u32 i;

	if (number >= PATHS_MAX || !e->paths[number])
		abort();
	path = &e->packed->records[e->paths[number] - 1];
	for (i = 1; i <= path->value; i++) {
		record = path + i;
		if (record->type == KIPT_RECORD_PATHS)
			take_paths(e, record, depth + 1);
		else
			put(e, record);
	}
	e->left += path->ip;
}

static void take_paths(struct expansion *e, const struct kipt_record *record,
		       u32 depth)
{
	const u32 *numbers = kipt_record_paths(record);
	u32 i;

	if (record->kind > KIPT_RECORD_PATHS_MAX || depth > 1)
		abort();
	e->left += record->flags;
	for (i = 0; i < record->kind; i++)
		take_path(e, numbers[i], depth);
}

static bool may_be_in_path(u32 type)
{
	return type == KIPT_RECORD_BRANCH || type == KIPT_RECORD_ENABLE ||
	       type == KIPT_RECORD_DISABLE || type == KIPT_RECORD_PATHS;
}

/* Returns how many records behind it are the path's. */
static u32 name_path(struct expansion *e, u32 at)
{
	const struct kipt_record *path = &e->packed->records[at];
	u64 i;

	if (path->aux >= PATHS_MAX)
		abort();
	if (path->value >= e->packed->count - at)
		abort();
	for (i = 1; i <= path->value; i++) {
		if (!may_be_in_path(path[i].type))
			abort();
	}
	e->paths[path->aux] = at + 1;
	return (u32)path->value;
}

void expand(const struct record_list *packed, struct record_list *plain)
{
	static struct expansion e;
	u32 at;

	memset(&e, 0, sizeof(e));
	e.packed = packed;
	e.plain = plain;
	plain->count = 0;
	plain->full = false;
	for (at = 0; at < packed->count; at++) {
		if (packed->records[at].type == KIPT_RECORD_PATH)
			at += name_path(&e, at);
		else if (packed->records[at].type == KIPT_RECORD_PATHS)
			take_paths(&e, &packed->records[at], 0);
		else
			put(&e, &packed->records[at]);
	}
}
