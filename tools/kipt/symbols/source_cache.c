// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lines by record, see source_cache.h. Each record has one place; who comes
 * later takes it.
 */
#include <string.h>
#include <sys/mman.h>

#include "source_cache.h"

/* 16 MiB, of which the large pages that are used are there; a power of two. */
#define LINES	65536

struct line_cache {
	struct cached_line lines[LINES];
};

_Static_assert(sizeof(struct cached_line) == 256, "four lines of the CPU's cache");

/* In large pages, which the kernel fills with zeros as they are used. */
struct line_cache *line_cache_create(void)
{
	void *memory = mmap(NULL, sizeof(struct line_cache), PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return NULL;
	madvise(memory, sizeof(struct line_cache), MADV_HUGEPAGE);
	return memory;
}

void line_cache_destroy(struct line_cache *cache)
{
	if (cache)
		munmap(cache, sizeof(*cache));
}

static u32 place_of(const struct kipt_record *record)
{
	u64 hash = record->ip * 0x9e3779b97f4a7c15ULL +
		   record->value * 0xc2b2ae3d27d4eb4fULL;

	return (hash >> 40) % LINES;
}

void line_cache_prefetch(const struct line_cache *cache,
			 const struct kipt_record *record)
{
	const char *line = (const char *)&cache->lines[place_of(record)];

	__builtin_prefetch(line);
	__builtin_prefetch(line + 64);
}

struct cached_line *line_cache_find(struct line_cache *cache,
				    const struct kipt_record *record,
				    const struct line_scope *scope)
{
	struct cached_line *line = &cache->lines[place_of(record)];

	if (line->ip == record->ip && line->value == record->value &&
	    line->type == record->type && line->kind == record->kind &&
	    line->flags == record->flags &&
	    !memcmp(&line->scope, scope, sizeof(*scope)))
		return line;
	line->ip = record->ip;
	line->value = record->value;
	line->scope = *scope;
	line->type = record->type;
	line->kind = record->kind;
	line->flags = record->flags;
	line->length = 0;
	return line;
}
