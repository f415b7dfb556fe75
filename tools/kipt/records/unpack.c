// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packed records to plain ones, see unpack.h. Owns the dictionaries.
 */
#include <stdlib.h>
#include <string.h>

#include "unpack.h"
#include "unpack_nodes.h"
#include "unpack_paths.h"

/* Above what the decoder makes; a file that says more is none of its files. */
#define DICTIONARIES_MAX	4096

struct dictionary {
	struct unpack_nodes nodes;
	struct unpack_paths paths;
};

/**
 * struct unpack - what is known
 * @dictionaries: they
 * @count: how many
 * @current: the one that numbers belong to
 * @out: plain records
 */
struct unpack {
	struct dictionary *dictionaries;
	u32 count;
	u32 current;
	struct unpack_out out;
};

static bool dictionary_choose(struct unpack *unpack, u32 number)
{
	u32 count = number + 1;
	struct dictionary *list;

	if (number >= DICTIONARIES_MAX)
		return unpack_broken("a dictionary's number is too large");
	unpack->current = number;
	if (count <= unpack->count)
		return true;
	list = realloc(unpack->dictionaries, count * sizeof(*list));
	if (!list)
		return unpack_no_memory();
	memset(list + unpack->count, 0, (count - unpack->count) * sizeof(*list));
	unpack->dictionaries = list;
	unpack->count = count;
	return true;
}

struct unpack *unpack_create(void)
{
	struct unpack *unpack = calloc(1, sizeof(*unpack));

	if (!unpack || !dictionary_choose(unpack, 0)) {
		unpack_destroy(unpack);
		unpack_no_memory();
		return NULL;
	}
	return unpack;
}

void unpack_destroy(struct unpack *unpack)
{
	u32 i;

	if (!unpack)
		return;
	for (i = 0; i < unpack->count; i++) {
		unpack_nodes_free(&unpack->dictionaries[i].nodes);
		unpack_paths_free(&unpack->dictionaries[i].paths);
	}
	free(unpack->dictionaries);
	free(unpack);
}

#define TYPES	(1ULL << KIPT_RECORD_PATH | 1ULL << KIPT_RECORD_PATHS | \
		 1ULL << KIPT_RECORD_DICTIONARY | 1ULL << KIPT_RECORD_NODE | \
		 1ULL << KIPT_RECORD_LINK | 1ULL << KIPT_RECORD_WALK)

/* All types are looked at together: no jump depends on a record. */
bool unpack_wants(const struct kipt_record *records, u32 count)
{
	u64 types = 0;
	u32 i;

	for (i = 0; i < count; i++)
		types |= (u64)(records[i].type < 64) << (records[i].type & 63);
	return types & TYPES;
}

static bool record_take(struct unpack *unpack, const struct kipt_record *r)
{
	struct dictionary *dictionary = &unpack->dictionaries[unpack->current];

	if (dictionary->paths.missing)
		return unpack_paths_take(&dictionary->paths, &unpack->out, r);
	switch (r->type) {
	case KIPT_RECORD_NODE:
	case KIPT_RECORD_LINK:
	case KIPT_RECORD_WALK:
		return unpack_nodes_take(&dictionary->nodes, &unpack->out, r);
	case KIPT_RECORD_PATH:
	case KIPT_RECORD_PATHS:
		return unpack_paths_take(&dictionary->paths, &unpack->out, r);
	case KIPT_RECORD_DICTIONARY:
		return dictionary_choose(unpack, r->aux);
	default:
		return unpack_put(&unpack->out, r);
	}
}

bool unpack_records(struct unpack *unpack, const struct kipt_record *records,
		    u32 count,
		    bool (*take)(void *ctx, const struct kipt_record *records,
				 u32 count), void *ctx)
{
	bool good = true;
	u32 i;

	unpack->out.take = take;
	unpack->out.ctx = ctx;
	for (i = 0; i < count && good; i++)
		good = record_take(unpack, &records[i]);
	return unpack_flush(&unpack->out) && good;
}
