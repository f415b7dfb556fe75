// SPDX-License-Identifier: GPL-2.0-only
/*
 * Paths to plain records, see unpack_paths.h.
 */
#include <stdlib.h>
#include <string.h>

#include "unpack_paths.h"

/* Above what decoders made; a file that says more is none of their files. */
#define PATH_RECORDS_MAX	65536
/* Numbers are given one after the other, so a table of twice the paths that
 * came has room for all of them.
 */
#define NUMBERS_AHEAD		65536
/* So many records a path of paths has at most: above what decoders made, too. */
#define NESTED_RECORDS_MAX	(1U << 20)

/**
 * struct unpack_path - what a path number means
 * @tail: instructions after the last record
 * @nested: there are PATHS records among them
 * @count: records; the rest is the first ones of a path that is coming in
 * @records: they, PATHS records among them
 */
struct unpack_path {
	u64 tail;
	bool nested;
	u32 count;
	struct kipt_record records[];
};

void unpack_paths_free(struct unpack_paths *paths)
{
	u32 i;

	for (i = 0; i < paths->size; i++)
		free(paths->at[i]);
	free(paths->at);
}

static bool grow(struct unpack_paths *paths, u32 number)
{
	u32 size = number + number / 2 + 256;
	struct unpack_path **at;

	if (number > 2 * (u64)paths->defined + NUMBERS_AHEAD)
		return unpack_broken("a path's number is too large");
	at = realloc(paths->at, size * sizeof(struct unpack_path *));
	if (!at)
		return unpack_no_memory();
	memset(at + paths->size, 0, (size - paths->size) * sizeof(struct unpack_path *));
	paths->at = at;
	paths->size = size;
	return true;
}

static bool path_begin(struct unpack_paths *paths, const struct kipt_record *r)
{
	struct unpack_path *path;
	u32 number = r->aux;

	if (r->value > PATH_RECORDS_MAX)
		return unpack_broken("a path has too many records");
	if (number >= paths->size && !grow(paths, number))
		return false;
	path = calloc(1, sizeof(*path) + r->value * sizeof(*r));
	if (!path)
		return unpack_no_memory();
	path->tail = r->ip;
	free(paths->at[number]);
	paths->at[number] = path;
	paths->defined++;
	paths->coming = path;
	paths->missing = (u32)r->value;
	return true;
}

static bool path_record(struct unpack_paths *paths, const struct kipt_record *r)
{
	struct unpack_path *path = paths->coming;

	if (r->type != KIPT_RECORD_BRANCH && r->type != KIPT_RECORD_DISABLE &&
	    r->type != KIPT_RECORD_ENABLE && r->type != KIPT_RECORD_PATHS)
		return unpack_broken("a path holds records that none may hold");
	path->nested |= r->type == KIPT_RECORD_PATHS;
	path->records[path->count++] = *r;
	paths->missing--;
	return true;
}

/* A path may be made of paths, which are made of plain records: @inside. */
static bool paths_put(struct unpack_paths *paths, struct unpack_out *out,
		      const struct kipt_record *r, bool inside);

static bool path_put(struct unpack_paths *paths, struct unpack_out *out,
		     const struct unpack_path *path)
{
	bool good = true;
	u32 i;

	for (i = 0; i < path->count && good; i++) {
		if (path->records[i].type == KIPT_RECORD_PATHS)
			good = paths_put(paths, out, &path->records[i], true);
		else
			good = unpack_put(out, &path->records[i]);
	}
	out->left += path->tail;
	return good;
}

/* Where a path changes its meaning, those that have it do, too: asked when it is taken. */
static bool is_bounded(const struct unpack_paths *paths, const struct unpack_path *path)
{
	u32 records = path->count, i, k;

	for (i = 0; i < path->count && records <= NESTED_RECORDS_MAX; i++) {
		const struct kipt_record *r = &path->records[i];
		const u32 *numbers = kipt_record_paths(r);

		for (k = 0; r->type == KIPT_RECORD_PATHS && k < r->kind &&
			    k < KIPT_RECORD_PATHS_MAX; k++) {
			if (numbers[k] < paths->size && paths->at[numbers[k]])
				records += paths->at[numbers[k]]->count;
		}
	}
	return records <= NESTED_RECORDS_MAX;
}

static bool paths_put(struct unpack_paths *paths, struct unpack_out *out,
		      const struct kipt_record *r, bool inside)
{
	const u32 *numbers = kipt_record_paths(r);
	const struct unpack_path *path;
	u32 i;

	if (r->kind > KIPT_RECORD_PATHS_MAX)
		return unpack_broken("too many paths in one record");
	out->left += r->flags;
	for (i = 0; i < r->kind; i++) {
		path = numbers[i] < paths->size ? paths->at[numbers[i]] : NULL;
		if (!path)
			return unpack_broken("a path was taken that was not named");
		if (inside && path->nested)
			return unpack_broken("paths within paths within paths");
		if (path->nested && !is_bounded(paths, path))
			return unpack_broken("a path of paths has too many records");
		if (!path_put(paths, out, path))
			return false;
	}
	return true;
}

bool unpack_paths_take(struct unpack_paths *paths, struct unpack_out *out,
		       const struct kipt_record *r)
{
	if (paths->missing)
		return path_record(paths, r);
	return r->type == KIPT_RECORD_PATH ? path_begin(paths, r) :
					     paths_put(paths, out, r, false);
}
