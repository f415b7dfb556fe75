// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packed records to plain ones, see unpack.h and uapi/linux/kipt_record.h.
 * Owns the dictionaries: paths by number.
 *
 * Instructions for which no plain record came yet add up in @left, until a
 * record comes that counts instructions.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "say.h"
#include "unpack.h"

/* Above what the decoder makes; a file that says more is none of its files. */
#define DICTIONARIES_MAX	4096
#define PATH_RECORDS_MAX	65536
/* Numbers are given one after the other, so a table of twice the paths that
 * came has room for all of them.
 */
#define NUMBERS_AHEAD		65536

#define BUFFER			1024

/**
 * struct path - what a path number stands for
 * @tail: instructions behind the last record, or all if there is none
 * @executed: instructions that the records count
 * @branches: BRANCH records
 * @enables: ENABLE records
 * @disables: DISABLE records
 * @count: records; the rest is the first ones of a path that is coming in
 * @records: they
 */
struct path {
	u64 tail;
	u64 executed;
	u32 branches;
	u32 enables;
	u32 disables;
	u32 count;
	struct kipt_record records[];
};

struct dictionary {
	struct path **paths;
	u32 size;
	u32 defined;
};

struct unpack {
	struct dictionary *dictionaries;
	u32 count;
	u32 current;
	u64 left;
	/* A path whose records are coming in, and how many are missing. */
	struct path *coming;
	u32 missing;
	/* Plain records on their way out. */
	bool (*take)(void *ctx, const struct kipt_record *records, u32 count);
	void *ctx;
	struct tally *tally;
	bool refused;
	u32 used;
	struct kipt_record buffer[BUFFER];
};

static bool broken(const char *what)
{
	say_error("packed records make no sense: %s", what);
	return false;
}

static bool no_memory(void)
{
	say_errno(ENOMEM, "cannot keep the paths of packed records");
	return false;
}

struct unpack *unpack_create(void)
{
	struct unpack *unpack = calloc(1, sizeof(*unpack));

	if (!unpack)
		no_memory();
	return unpack;
}

static void dictionary_free(struct dictionary *dictionary)
{
	u32 i;

	for (i = 0; i < dictionary->size; i++)
		free(dictionary->paths[i]);
	free(dictionary->paths);
}

void unpack_destroy(struct unpack *unpack)
{
	u32 i;

	if (!unpack)
		return;
	for (i = 0; i < unpack->count; i++)
		dictionary_free(&unpack->dictionaries[i]);
	free(unpack->dictionaries);
	free(unpack);
}

static bool dictionary_choose(struct unpack *unpack, u32 number)
{
	u32 count = number + 1;
	struct dictionary *list;

	if (number >= DICTIONARIES_MAX)
		return broken("a dictionary's number is too large");
	unpack->current = number;
	if (count <= unpack->count)
		return true;
	list = realloc(unpack->dictionaries, count * sizeof(*list));
	if (!list)
		return no_memory();
	memset(list + unpack->count, 0,
	       (count - unpack->count) * sizeof(*list));
	unpack->dictionaries = list;
	unpack->count = count;
	return true;
}

static bool table_grow(struct dictionary *dictionary, u32 number)
{
	u32 size = number + number / 2 + 256;
	struct path **paths;

	if (number > 2 * (u64)dictionary->defined + NUMBERS_AHEAD)
		return broken("a path's number is too large");
	paths = realloc(dictionary->paths, size * sizeof(struct path *));
	if (!paths)
		return no_memory();
	memset(paths + dictionary->size, 0,
	       (size - dictionary->size) * sizeof(struct path *));
	dictionary->paths = paths;
	dictionary->size = size;
	return true;
}

static bool path_begin(struct unpack *unpack, const struct kipt_record *r)
{
	struct dictionary *dictionary;
	struct path *path;
	u32 number = r->aux;

	if (r->value > PATH_RECORDS_MAX)
		return broken("a path has too many records");
	if (!dictionary_choose(unpack, unpack->current))
		return false;
	dictionary = &unpack->dictionaries[unpack->current];
	if (number >= dictionary->size && !table_grow(dictionary, number))
		return false;
	path = calloc(1, sizeof(*path) + r->value * sizeof(*r));
	if (!path)
		return no_memory();
	path->tail = r->ip;
	free(dictionary->paths[number]);
	dictionary->paths[number] = path;
	dictionary->defined++;
	unpack->coming = path;
	unpack->missing = r->value;
	return true;
}

static bool path_record(struct unpack *unpack, const struct kipt_record *r)
{
	struct path *path = unpack->coming;

	switch (r->type) {
	case KIPT_RECORD_BRANCH:
		path->branches++;
		path->executed += r->aux;
		break;
	case KIPT_RECORD_DISABLE:
		path->disables++;
		path->executed += r->aux;
		break;
	case KIPT_RECORD_ENABLE:
		path->enables++;
		break;
	default:
		return broken("a path holds records that none may hold");
	}
	path->records[path->count++] = *r;
	unpack->missing--;
	return true;
}

static bool flush(struct unpack *unpack)
{
	if (unpack->used &&
	    !unpack->take(unpack->ctx, unpack->buffer, unpack->used))
		unpack->refused = true;
	unpack->used = 0;
	return !unpack->refused;
}

static bool counts_insns(u32 type)
{
	return type == KIPT_RECORD_BRANCH || type == KIPT_RECORD_DISABLE ||
	       type == KIPT_RECORD_SYNC;
}

static u32 sum(u32 insns, u64 left)
{
	return insns + left < 0xffffffffU ? insns + left : 0xffffffffU;
}

/* Put records out; the first of them gets what is left, if it counts. */
static bool put(struct unpack *unpack, const struct kipt_record *records,
		u32 count)
{
	u32 done = 0, part;

	while (done < count) {
		if (unpack->used == BUFFER && !flush(unpack))
			return false;
		part = BUFFER - unpack->used;
		if (part > count - done)
			part = count - done;
		memcpy(unpack->buffer + unpack->used, records + done,
		       part * sizeof(*records));
		if (!done && unpack->left && counts_insns(records->type))
			unpack->buffer[unpack->used].aux =
				sum(records->aux, unpack->left);
		unpack->used += part;
		done += part;
	}
	return true;
}

/* Count what a path does; the first record decides about what is left. */
static void path_tally(struct unpack *unpack, const struct path *path)
{
	struct tally *tally = unpack->tally;

	tally->records += path->count;
	tally->types[KIPT_RECORD_BRANCH] += path->branches;
	tally->types[KIPT_RECORD_ENABLE] += path->enables;
	tally->types[KIPT_RECORD_DISABLE] += path->disables;
	tally->executed += path->executed;
	if (counts_insns(path->records[0].type))
		tally->executed += unpack->left;
}

static bool path_take(struct unpack *unpack, u32 number)
{
	const struct dictionary *dictionary =
		&unpack->dictionaries[unpack->current];
	const struct path *path;

	if (unpack->current >= unpack->count || number >= dictionary->size ||
	    !dictionary->paths[number])
		return broken("a path was taken that was not named");
	path = dictionary->paths[number];
	if (!path->count) {
		unpack->left += path->tail;
		return true;
	}
	if (unpack->tally)
		path_tally(unpack, path);
	else if (!put(unpack, path->records, path->count))
		return false;
	unpack->left = path->tail;
	return true;
}

static bool paths_take(struct unpack *unpack, const struct kipt_record *r)
{
	const u32 *numbers = kipt_record_paths(r);
	bool good = true;
	u32 i;

	if (r->kind > KIPT_RECORD_PATHS_MAX)
		return broken("too many paths in one record");
	unpack->left += r->flags;
	for (i = 0; i < r->kind && good; i++)
		good = path_take(unpack, numbers[i]);
	return good;
}

static bool plain_take(struct unpack *unpack, const struct kipt_record *r)
{
	bool counts = counts_insns(r->type), good = true;

	if (unpack->tally) {
		tally_record(unpack->tally, r);
		if (counts)
			unpack->tally->executed += unpack->left;
	} else {
		good = put(unpack, r, 1);
	}
	if (counts || r->type == KIPT_RECORD_ENABLE ||
	    r->type == KIPT_RECORD_GAP)
		unpack->left = 0;
	return good;
}

static bool record_take(struct unpack *unpack, const struct kipt_record *r)
{
	if (unpack->missing)
		return path_record(unpack, r);
	switch (r->type) {
	case KIPT_RECORD_PATH:
		return path_begin(unpack, r);
	case KIPT_RECORD_PATHS:
		return paths_take(unpack, r);
	case KIPT_RECORD_DICTIONARY:
		return dictionary_choose(unpack, r->aux);
	default:
		return plain_take(unpack, r);
	}
}

bool unpack_records(struct unpack *unpack, const struct kipt_record *records,
		    u32 count,
		    bool (*take)(void *ctx, const struct kipt_record *records,
				 u32 count), void *ctx)
{
	bool good = true;
	u32 i;

	unpack->take = take;
	unpack->ctx = ctx;
	unpack->tally = NULL;
	for (i = 0; i < count && good; i++)
		good = record_take(unpack, &records[i]);
	return flush(unpack) && good;
}

bool unpack_tally(struct unpack *unpack, const struct kipt_record *records,
		  u32 count, struct tally *tally)
{
	bool good = true;
	u32 i;

	unpack->tally = tally;
	for (i = 0; i < count && good; i++)
		good = record_take(unpack, &records[i]);
	return good;
}
