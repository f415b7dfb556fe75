// SPDX-License-Identifier: GPL-2.0-only
/*
 * Address to name, see symbols.h. Where symbols come from is for
 * kernel_symbols.c and elf_symbols.c.
 */
#include <stdlib.h>
#include <string.h>

#include "../cli/printable.h"
#include "symbols.h"

/* More than the largest programs have. A file of others may have one long name,
 * and millions of symbols that are called so.
 */
#define SYMBOLS_MAX	(1U << 24)
#define TEXT_MAX	(1U << 28)

struct symbol {
	u64 start;
	u64 size;
	u32 name;
	u32 object;
	int rank;
};

/* Addresses that were looked for last, each at one place. A power of two. */
#define FOUND	1024U

struct found {
	u64 address;
	/* How many symbols begin at it or before. */
	size_t count;
};

struct symbols {
	struct symbol *list;
	size_t count, room;
	char *text;
	size_t text_size, text_room;
	/* Offset of the last object added: they come in runs. */
	u32 object;
	bool sorted;
	struct found found[FOUND];
};

struct symbols *symbols_create(void)
{
	return calloc(1, sizeof(struct symbols));
}

void symbols_destroy(struct symbols *symbols)
{
	if (!symbols)
		return;
	free(symbols->list);
	free(symbols->text);
	free(symbols);
}

static bool text_reserve(struct symbols *symbols, size_t more)
{
	size_t room = symbols->text_room;
	char *text;

	if (more > TEXT_MAX - symbols->text_size)
		return false;
	if (symbols->text_size + more <= room)
		return true;
	room = 2 * room + more + 4096;
	text = realloc(symbols->text, room);
	if (!text)
		return false;
	symbols->text = text;
	symbols->text_room = room;
	return true;
}

/* Keep name and suffix as one string; returns its offset. */
static u32 text_keep(struct symbols *symbols, const char *name,
		     const char *suffix)
{
	size_t len = strlen(name), more = strlen(suffix) + 1;
	u32 at = symbols->text_size;

	memcpy(symbols->text + at, name, len);
	memcpy(symbols->text + at + len, suffix, more);
	plain_text(symbols->text + at);
	symbols->text_size += len + more;
	return at;
}

bool symbols_add(struct symbols *symbols, u64 start, u64 size, int rank,
		 const char *name, const char *suffix, const char *object)
{
	struct symbol *list = symbols->list;
	struct symbol *symbol;

	if (symbols->count == SYMBOLS_MAX)
		return false;
	if (symbols->count == symbols->room) {
		size_t room = symbols->room * 2 + 256;

		list = realloc(list, room * sizeof(*list));
		if (!list)
			return false;
		symbols->list = list;
		symbols->room = room;
	}
	if (!text_reserve(symbols, strlen(name) + strlen(suffix) +
			  strlen(object) + 2))
		return false;
	if (!symbols->count ||
	    strcmp(symbols->text + symbols->object, object))
		symbols->object = text_keep(symbols, object, "");
	symbol = &list[symbols->count++];
	symbol->start = start;
	symbol->size = size;
	symbol->rank = rank;
	symbol->name = text_keep(symbols, name, suffix);
	symbol->object = symbols->object;
	symbols->sorted = false;
	return true;
}

static int symbol_compare(const void *left, const void *right)
{
	const struct symbol *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank > b->rank ? -1 : 1;
	return a->name < b->name ? -1 : a->name > b->name;
}

/* Sort, and keep the best of each address. */
static void symbols_sort(struct symbols *symbols)
{
	size_t i, kept = 0;

	qsort(symbols->list, symbols->count, sizeof(*symbols->list),
	      symbol_compare);
	for (i = 0; i < symbols->count; i++) {
		if (kept &&
		    symbols->list[kept - 1].start == symbols->list[i].start)
			continue;
		symbols->list[kept++] = symbols->list[i];
	}
	symbols->count = kept;
	symbols->sorted = true;
	memset(symbols->found, 0, sizeof(symbols->found));
	/* Nothing was found of address 0 yet; another one that is not at this place. */
	symbols->found[0].address = 1;
}

/* How many begin at an address or before. */
static size_t count_to(const struct symbols *symbols, u64 address)
{
	size_t low = 0, high = symbols->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (symbols->list[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static size_t found_count(struct symbols *symbols, u64 address)
{
	struct found *found =
		&symbols->found[(address ^ address >> 10) & (FOUND - 1)];

	if (found->address != address)
		*found = (struct found){ address,
					 count_to(symbols, address) };
	return found->count;
}

bool symbols_find(struct symbols *symbols, u64 address,
		  struct symbol_place *place)
{
	const struct symbol *symbol;
	size_t count;

	if (!symbols->sorted && symbols->count)
		symbols_sort(symbols);
	count = found_count(symbols, address);
	place->first = 0;
	place->end = count < symbols->count ? symbols->list[count].start : ~0ULL;
	if (!count)
		return false;
	symbol = &symbols->list[count - 1];
	place->first = symbol->start;
	if (symbol->size && address - symbol->start >= symbol->size) {
		place->first = symbol->start + symbol->size;
		return false;
	}
	if (symbol->size && place->end - symbol->start > symbol->size)
		place->end = symbol->start + symbol->size;
	place->name = symbols->text + symbol->name;
	place->object = symbols->text + symbol->object;
	place->start = symbol->start;
	return true;
}

void symbols_each(const struct symbols *symbols,
		  void (*found)(void *ctx, const struct symbol_entry *entry),
		  void *ctx)
{
	size_t i;

	for (i = 0; i < symbols->count; i++) {
		const struct symbol *symbol = &symbols->list[i];
		const struct symbol_entry entry = {
			.name = symbols->text + symbol->name,
			.object = symbols->text + symbol->object,
			.start = symbol->start,
			.size = symbol->size,
			.rank = symbol->rank,
		};

		found(ctx, &entry);
	}
}

size_t symbols_count(const struct symbols *symbols)
{
	return symbols->count;
}
