// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packed records to plain ones, see unpack_paths.h and uapi/linux/kipt_record.h.
 * Owns the dictionaries: paths by number.
 *
 * Instructions for which no plain record came yet add up in @left, until a
 * record comes that counts instructions.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../cli/messages.h"
#include "unpack_paths.h"

/* Above what the decoder makes; a file that says more is none of its files. */
#define DICTIONARIES_MAX	4096
#define PATH_RECORDS_MAX	65536
/* Numbers are given one after the other, so a table of twice the paths that
 * came has room for all of them.
 */
#define NUMBERS_AHEAD		65536

#define BUFFER			1024

/**
 * struct sums - what a sequence of records comes to
 * @records: plain ones
 * @branches: BRANCH records
 * @enables: ENABLE records
 * @disables: DISABLE records
 * @executed: instructions that the records count, but for those that were left
 *	from before
 * @takes: the first of them counts those too
 * @left: instructions behind the last of them, or all if there is none
 */
struct sums {
	u64 records;
	u64 branches;
	u64 enables;
	u64 disables;
	u64 executed;
	bool takes;
	u64 left;
};

/**
 * struct path - what a path number stands for
 * @tail: instructions behind the last record
 * @nested: there are PATHS records among them
 * @summed: unpack->renamed when @sums were made, + 1; 0: they are not
 * @sums: what it comes to
 * @count: records; the rest is the first ones of a path that is coming in
 * @records: they, PATHS records among them
 */
struct path {
	u64 tail;
	bool nested;
	u64 summed;
	struct sums sums;
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
	/* How often a path's number was given to another one. */
	u64 renamed;
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
	unpack->renamed += dictionary->paths[number] != NULL;
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

	if (r->type != KIPT_RECORD_BRANCH && r->type != KIPT_RECORD_DISABLE &&
	    r->type != KIPT_RECORD_ENABLE && r->type != KIPT_RECORD_PATHS)
		return broken("a path holds records that none may hold");
	path->nested |= r->type == KIPT_RECORD_PATHS;
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

static bool counts_insns(const struct kipt_record *r)
{
	return r->type == KIPT_RECORD_BRANCH ||
	       r->type == KIPT_RECORD_DISABLE ||
	       (r->type == KIPT_RECORD_SYNC && r->kind != KIPT_SYNC_START);
}

static bool drops_insns(const struct kipt_record *r)
{
	return r->type == KIPT_RECORD_ENABLE || r->type == KIPT_RECORD_GAP ||
	       (r->type == KIPT_RECORD_SYNC && r->kind == KIPT_SYNC_START);
}

static bool paths_check(const struct kipt_record *r)
{
	return r->kind <= KIPT_RECORD_PATHS_MAX ||
	       broken("too many paths in one record");
}

static u32 sum(u32 insns, u64 left)
{
	return insns + left < 0xffffffffU ? insns + left : 0xffffffffU;
}

/* Put a record out; it gets what is left, if it counts. */
static bool put(struct unpack *unpack, const struct kipt_record *r)
{
	struct kipt_record *out;

	if (unpack->used == BUFFER && !flush(unpack))
		return false;
	out = &unpack->buffer[unpack->used++];
	*out = *r;
	if (counts_insns(r)) {
		out->aux = sum(r->aux, unpack->left);
		unpack->left = 0;
	} else if (drops_insns(r)) {
		unpack->left = 0;
	}
	return true;
}

static bool no_path(void)
{
	return broken("a path was taken that was not named");
}

static bool nested_path(void)
{
	return broken("paths within paths within paths");
}

/* A path may be made of paths, which are made of plain records: @inside. */
static inline struct path *path_find(const struct unpack *unpack, u32 number,
			      bool inside)
{
	const struct dictionary *dictionary;
	struct path *path = NULL;

	if (unpack->current < unpack->count) {
		dictionary = &unpack->dictionaries[unpack->current];
		if (number < dictionary->size)
			path = dictionary->paths[number];
	}
	if (!path) {
		no_path();
	} else if (inside && path->nested) {
		nested_path();
		path = NULL;
	}
	return path;
}

static void sums_record(struct sums *sums, const struct kipt_record *r)
{
	bool counts = counts_insns(r);

	if (counts)
		sums->executed += r->aux + sums->left;
	if (!sums->records)
		sums->takes = counts;
	sums->records++;
	sums->branches += r->type == KIPT_RECORD_BRANCH;
	sums->enables += r->type == KIPT_RECORD_ENABLE;
	sums->disables += r->type == KIPT_RECORD_DISABLE;
	if (counts || drops_insns(r))
		sums->left = 0;
}

/* @sums, and then @more. */
static void sums_add(struct sums *sums, const struct sums *more)
{
	if (!more->records) {
		sums->left += more->left;
		return;
	}
	if (more->takes)
		sums->executed += sums->left;
	if (!sums->records)
		sums->takes = more->takes;
	sums->records += more->records;
	sums->branches += more->branches;
	sums->enables += more->enables;
	sums->disables += more->disables;
	sums->executed += more->executed;
	sums->left = more->left;
}

static bool path_sum(const struct unpack *unpack, struct path *path);

static bool sums_paths(const struct unpack *unpack, struct sums *sums,
		       const struct kipt_record *r, bool inside)
{
	const u32 *numbers = kipt_record_paths(r);
	struct path *path;
	u32 i;

	if (!paths_check(r))
		return false;
	sums->left += r->flags;
	for (i = 0; i < r->kind; i++) {
		path = path_find(unpack, numbers[i], inside);
		if (!path || !path_sum(unpack, path))
			return false;
		sums_add(sums, &path->sums);
	}
	return true;
}

/* Made when they are needed first: what a path refers to may come later. And
 * again when it may be another one.
 */
static bool path_sum(const struct unpack *unpack, struct path *path)
{
	u32 i;

	if (path->summed == unpack->renamed + 1 ||
	    (path->summed && !path->nested))
		return true;
	memset(&path->sums, 0, sizeof(path->sums));
	for (i = 0; i < path->count; i++) {
		if (path->records[i].type != KIPT_RECORD_PATHS)
			sums_record(&path->sums, &path->records[i]);
		else if (!sums_paths(unpack, &path->sums, &path->records[i],
				     true))
			return false;
	}
	path->sums.left += path->tail;
	path->summed = unpack->renamed + 1;
	return true;
}

/* Count what is taken; those that were left from before are added. */
static bool paths_tally(struct unpack *unpack, const struct kipt_record *r)
{
	struct sums sums = { .left = unpack->left };
	struct tally *tally = unpack->tally;

	if (!sums_paths(unpack, &sums, r, false))
		return false;
	tally->records += sums.records;
	tally->types[KIPT_RECORD_BRANCH] += sums.branches;
	tally->types[KIPT_RECORD_ENABLE] += sums.enables;
	tally->types[KIPT_RECORD_DISABLE] += sums.disables;
	tally->executed += sums.executed;
	unpack->left = sums.left;
	return true;
}

static bool paths_put(struct unpack *unpack, const struct kipt_record *r,
		      bool inside);

/* Every record that a path may hold counts instructions or drops them, and
 * there are none between them: only the first can get what is left.
 */
static bool plain_put(struct unpack *unpack, const struct path *path)
{
	struct kipt_record *out;
	u32 i;

	if (unpack->used + path->count > BUFFER && !flush(unpack))
		return false;
	out = &unpack->buffer[unpack->used];
	for (i = 0; i < path->count; i++)
		out[i] = path->records[i];
	if (counts_insns(out))
		out->aux = sum(out->aux, unpack->left);
	unpack->used += path->count;
	unpack->left = path->tail;
	return true;
}

static bool path_put(struct unpack *unpack, const struct path *path)
{
	bool good = true;
	u32 i;

	if (!path->nested && path->count && path->count <= BUFFER)
		return plain_put(unpack, path);
	for (i = 0; i < path->count && good; i++) {
		if (path->records[i].type == KIPT_RECORD_PATHS)
			good = paths_put(unpack, &path->records[i], true);
		else
			good = put(unpack, &path->records[i]);
	}
	unpack->left += path->tail;
	return good;
}

static bool paths_put(struct unpack *unpack, const struct kipt_record *r,
		      bool inside)
{
	const u32 *numbers = kipt_record_paths(r);
	const struct path *path;
	u32 i;

	if (!paths_check(r))
		return false;
	unpack->left += r->flags;
	for (i = 0; i < r->kind; i++) {
		path = path_find(unpack, numbers[i], inside);
		if (!path || !path_put(unpack, path))
			return false;
	}
	return true;
}

static bool paths_take(struct unpack *unpack, const struct kipt_record *r)
{
	return unpack->tally ? paths_tally(unpack, r) :
			       paths_put(unpack, r, false);
}

static bool plain_take(struct unpack *unpack, const struct kipt_record *r)
{
	if (!unpack->tally)
		return put(unpack, r);
	tally_record(unpack->tally, r);
	if (counts_insns(r))
		unpack->tally->executed += unpack->left;
	if (counts_insns(r) || drops_insns(r))
		unpack->left = 0;
	return true;
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
