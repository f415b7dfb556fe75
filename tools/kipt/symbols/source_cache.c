// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lines by record, see source_cache.h. Each record has one place; who comes
 * later takes it.
 */
#include <stdlib.h>

#include "source_cache.h"

/* 4 MiB; a power of two. */
#define LINES	16384

struct line_cache {
	u32 version;
	struct cached_line lines[LINES];
};

struct line_cache *line_cache_create(void)
{
	struct line_cache *cache = calloc(1, sizeof(*cache));

	if (cache)
		cache->version = 1;
	return cache;
}

void line_cache_destroy(struct line_cache *cache)
{
	free(cache);
}

void line_cache_forget(struct line_cache *cache)
{
	cache->version++;
}

static u32 place_of(const struct kipt_record *record)
{
	u64 hash = record->ip * 0x9e3779b97f4a7c15ULL +
		   record->value * 0xc2b2ae3d27d4eb4fULL;

	return (hash >> 40) % LINES;
}

struct cached_line *line_cache_find(struct line_cache *cache,
				    const struct kipt_record *record)
{
	struct cached_line *line = &cache->lines[place_of(record)];

	if (line->ip == record->ip && line->value == record->value &&
	    line->version == cache->version && line->type == record->type &&
	    line->kind == record->kind && line->flags == record->flags)
		return line;
	line->ip = record->ip;
	line->value = record->value;
	line->version = cache->version;
	line->type = record->type;
	line->kind = record->kind;
	line->flags = record->flags;
	line->length = 0;
	return line;
}
