/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lines of text that records were shown as. The same branches come again and
 * again, and to find their symbols takes longer than to decode them.
 */
#ifndef KIPT_SOURCE_CACHE_H
#define KIPT_SOURCE_CACHE_H

#include <string.h>

#include "../../../kmod/decode/port.h"

#define CACHED_LINE_ROOM	208

/**
 * struct line_scope - what a line depends on beside its record; 0 where it does not
 * @cpu, @tid: where the record is from, if lines say so
 * @pid, @version: process whose names user addresses have, and names_version_of() then
 * @learned: names_learned_of() then
 * @kernel: names_code_version_of() then
 */
struct line_scope {
	u32 cpu;
	u32 tid;
	u32 pid;
	u32 version;
	u32 learned;
	u32 kernel;
};

/**
 * struct cached_line - a line
 * @ip, @value, @flags, @type, @kind: of its record
 * @scope: what else it depends on
 * @length: bytes of @text; 0: it is to be made
 * @text: without a 0 at the end
 */
struct cached_line {
	u64 ip;
	u64 value;
	struct line_scope scope;
	u16 flags;
	u8 type;
	u8 kind;
	u32 length;
	char text[CACHED_LINE_ROOM];
};

/* 16 MiB, of which the large pages that are used are there; a power of two. */
#define CACHED_LINES	65536

/* Each record has one place; who comes later takes it. */
struct line_cache {
	struct cached_line lines[CACHED_LINES];
};

/**
 * line_cache_create() - no line is known
 *
 * Return: the caller's until line_cache_destroy(); NULL without memory.
 */
struct line_cache *line_cache_create(void);

/**
 * line_cache_destroy() - free it
 * @cache: may be NULL
 */
void line_cache_destroy(struct line_cache *cache);

static inline u32 line_cache_place(const struct kipt_record *record)
{
	u64 hash = record->ip * 0x9e3779b97f4a7c15ULL +
		   record->value * 0xc2b2ae3d27d4eb4fULL;

	return (hash >> 40) % CACHED_LINES;
}

/**
 * line_cache_find() - the line of a record
 * @cache: the cache
 * @record: all of it but its aux decides
 * @scope: and all of this
 *
 * Return: the line, valid until the next call; it is the caller's to fill if
 * its length is 0.
 */
static inline struct cached_line *line_cache_find(struct line_cache *cache,
						  const struct kipt_record *record,
						  const struct line_scope *scope)
{
	struct cached_line *line = &cache->lines[line_cache_place(record)];

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

/**
 * line_cache_prefetch() - have the line of a record in the CPU's cache soon
 * @cache: the cache
 * @record: line_cache_find() will be called for it
 */
static inline void line_cache_prefetch(const struct line_cache *cache,
				       const struct kipt_record *record)
{
	const char *line = (const char *)&cache->lines[line_cache_place(record)];

	__builtin_prefetch(line);
	__builtin_prefetch(line + 64);
}

#endif /* KIPT_SOURCE_CACHE_H */
