// SPDX-License-Identifier: GPL-2.0-only
/*
 * Inlined functions of compile units, see inlined.h. A unit is read as a whole: its
 * tree is walked once, and becomes stretches of code with the innermost function of each.
 */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "../cli/printable.h"
#include "inlined.h"

/* Entries of debug information within each other: what is deeper is not looked at. */
#define DEPTH_MOST	64
/* Ranges of code that are read of a file, and at most one for each of its bytes: many
 * entries can share a long list of them.
 */
#define RANGES_MOST	(1U << 23)

/* @next: the instance whose memory was taken before. @name: NULL: not looked up. */
struct instance {
	struct inlined inlined;
	Dwarf_Die die;
	char *name;
	struct instance *next;
};

/* @end: of the code; of a unit whose @unit it is, or of @inlined. */
struct range {
	u64 begin, end;
	struct unit *unit;
	const struct inlined *inlined;
};

/* From @begin up to the next stretch the innermost function is this. */
struct stretch {
	u64 begin;
	const struct inlined *inlined;
};

struct unit {
	Dwarf_Die die;
	bool read;
	struct stretch *stretches;
	size_t count;
	struct unit *next;
};

struct ranges {
	struct range *all;
	size_t count, room;
};

struct inlined_table {
	struct debug_file *file;
	bool read;
	/* From an address as linked to one as in the debug information. */
	u64 bias;
	struct unit *units;
	struct ranges of_units;
	struct instance *instances;
	u32 ranges_read, ranges_most;
};

/* A walk through a unit. @outer: of each entry that is open, what it is inlined in. */
struct walk {
	struct inlined_table *table;
	struct ranges ranges;
	Dwarf_Die open[DEPTH_MOST];
	const struct inlined *outer[DEPTH_MOST];
};

struct inlined_table *inlined_table_create(struct debug_file *file)
{
	struct inlined_table *table = calloc(1, sizeof(*table));

	if (table)
		table->file = file;
	return table;
}

void inlined_table_destroy(struct inlined_table *table)
{
	struct instance *instance;
	struct unit *unit;

	if (!table)
		return;
	while ((instance = table->instances)) {
		table->instances = instance->next;
		free(instance->name);
		free(instance);
	}
	while ((unit = table->units)) {
		table->units = unit->next;
		free(unit->stretches);
		free(unit);
	}
	free(table->of_units.all);
	free(table);
}

static void range_add(struct ranges *ranges, const struct range *range)
{
	size_t room = ranges->room ? 2 * ranges->room : 64;
	struct range *all;

	if (ranges->count == ranges->room) {
		all = realloc(ranges->all, room * sizeof(*all));
		if (!all)
			return;
		ranges->all = all;
		ranges->room = room;
	}
	ranges->all[ranges->count++] = *range;
}

/* The code of an entry; @range says what it is of. */
static void ranges_take(struct inlined_table *table, Dwarf_Die *die, struct range range,
			struct ranges *ranges)
{
	Dwarf_Addr base, begin, end;
	ptrdiff_t at = 0;

	while (table->ranges_read < table->ranges_most &&
	       (at = dwarf_ranges(die, at, &base, &begin, &end)) > 0) {
		table->ranges_read++;
		range.begin = begin;
		range.end = end;
		if (begin < end)
			range_add(ranges, &range);
	}
}

/* Those that begin at the same address: what is outside first. */
static int range_order(const void *a, const void *b)
{
	const struct range *x = a, *y = b;
	u32 x_level = x->inlined ? x->inlined->level : 0;
	u32 y_level = y->inlined ? y->inlined->level : 0;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	if (x_level != y_level)
		return x_level < y_level ? -1 : 1;
	return x->end > y->end ? -1 : x->end < y->end;
}

static void ranges_sort(struct ranges *ranges)
{
	if (ranges->count)
		qsort(ranges->all, ranges->count, sizeof(*ranges->all), range_order);
}

static void units_read(struct inlined_table *table)
{
	Dwfl_Module *module = table->file->module;
	GElf_Addr bias = 0, elf_bias = 0;
	Dwarf_Die *die = NULL;
	struct unit *unit;
	Dwarf *dwarf;
	size_t size;

	table->read = true;
	dwarf = dwfl_module_getdwarf(module, &bias);
	if (!dwarf || !elf_rawfile(dwarf_getelf(dwarf), &size) ||
	    !dwfl_module_getelf(module, &elf_bias))
		return;
	table->ranges_most = size < RANGES_MOST ? size : RANGES_MOST;
	table->bias = elf_bias - bias;
	while ((die = dwfl_module_nextcu(module, die, &bias))) {
		unit = calloc(1, sizeof(*unit));
		if (!unit)
			break;
		unit->die = *die;
		unit->next = table->units;
		table->units = unit;
		ranges_take(table, die, (struct range){ .unit = unit }, &table->of_units);
	}
	ranges_sort(&table->of_units);
}

/* Entries that may have inlined functions within them: gcc has the code of a lambda in a
 * type, in a function that has no code itself.
 */
static bool is_scope(Dwarf_Die *die)
{
	switch (dwarf_tag(die)) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
	case DW_TAG_subprogram:
		return true;
	case DW_TAG_inlined_subroutine:
		return dwarf_hasattr(die, DW_AT_low_pc) || dwarf_hasattr(die, DW_AT_ranges);
	}
	return false;
}

static const struct inlined *instance_add(struct walk *walk, Dwarf_Die *die,
					  const struct inlined *outer)
{
	struct instance *instance = calloc(1, sizeof(*instance));
	struct range range = { 0 };

	if (!instance)
		return outer;
	instance->inlined.outer = outer;
	instance->inlined.level = outer ? outer->level + 1 : 1;
	instance->die = *die;
	instance->next = walk->table->instances;
	walk->table->instances = instance;
	range.inlined = &instance->inlined;
	ranges_take(walk->table, die, range, &walk->ranges);
	return &instance->inlined;
}

/* What is within an entry is inlined in this. */
static const struct inlined *entry_take(struct walk *walk, Dwarf_Die *die,
					const struct inlined *outer)
{
	switch (dwarf_tag(die)) {
	case DW_TAG_inlined_subroutine:
		return instance_add(walk, die, outer);
	case DW_TAG_subprogram:
		return NULL;
	}
	return outer;
}

/* Each entry is farther on in the file than the one before: nothing comes twice. */
static void tree_walk(struct walk *walk, struct unit *unit)
{
	Dwarf_Off offset, last = dwarf_dieoffset(&unit->die);
	const struct inlined *within;
	Dwarf_Die *die = walk->open;
	u32 depth = 0;

	if (dwarf_child(&unit->die, die))
		return;
	for (;;) {
		die = &walk->open[depth];
		offset = dwarf_dieoffset(die);
		if (offset <= last)
			return;
		last = offset;
		if (is_scope(die)) {
			within = entry_take(walk, die, walk->outer[depth]);
			if (depth + 1 < DEPTH_MOST && !dwarf_child(die, die + 1)) {
				walk->outer[++depth] = within;
				continue;
			}
		}
		while (dwarf_siblingof(&walk->open[depth], &walk->open[depth])) {
			if (!depth--)
				return;
		}
	}
}

/* Up to the end of what is open and ends there, that has the code; then what it is in. */
static u32 stretches_close(struct unit *unit, const struct range **open, u32 depth, u64 end)
{
	while (depth && open[depth - 1]->end <= end) {
		depth--;
		unit->stretches[unit->count++] = (struct stretch){
			open[depth]->end, depth ? open[depth - 1]->inlined : NULL,
		};
	}
	return depth;
}

/* @ranges: in order. What ends after what it begins in ends with it. */
static void stretches_make(struct unit *unit, const struct ranges *ranges)
{
	const struct range *open[DEPTH_MOST];
	struct range *range;
	u32 depth = 0;
	size_t i;

	unit->stretches = calloc(2 * ranges->count, sizeof(*unit->stretches));
	for (i = 0; unit->stretches && i < ranges->count; i++) {
		range = &ranges->all[i];
		depth = stretches_close(unit, open, depth, range->begin);
		if (depth == DEPTH_MOST)
			continue;
		if (depth && range->end > open[depth - 1]->end)
			range->end = open[depth - 1]->end;
		open[depth++] = range;
		unit->stretches[unit->count++] = (struct stretch){
			range->begin, range->inlined,
		};
	}
	if (unit->stretches)
		stretches_close(unit, open, depth, ~0ULL);
}

static void unit_read(struct inlined_table *table, struct unit *unit)
{
	struct walk *walk = calloc(1, sizeof(*walk));

	unit->read = true;
	if (!walk)
		return;
	walk->table = table;
	tree_walk(walk, unit);
	ranges_sort(&walk->ranges);
	stretches_make(unit, &walk->ranges);
	free(walk->ranges.all);
	free(walk);
}

static struct unit *unit_find(const struct inlined_table *table, u64 address)
{
	const struct range *all = table->of_units.all;
	size_t low = 0, high = table->of_units.count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (all[middle].begin <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && address < all[low - 1].end ? all[low - 1].unit : NULL;
}

static const struct inlined *stretch_find(const struct unit *unit, u64 address)
{
	size_t low = 0, high = unit->count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (unit->stretches[middle].begin <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? unit->stretches[low - 1].inlined : NULL;
}

const struct inlined *inlined_find(struct inlined_table *table, u64 address)
{
	struct unit *unit;

	if (!table->read)
		units_read(table);
	address += table->bias;
	unit = unit_find(table, address);
	if (!unit)
		return NULL;
	if (!unit->read)
		unit_read(table, unit);
	return stretch_find(unit, address);
}

const struct inlined *inlined_outer(const struct inlined *inlined, u32 level)
{
	while (inlined->level > level)
		inlined = inlined->outer;
	return inlined;
}

u32 inlined_shared(const struct inlined *a, const struct inlined *b)
{
	u32 level = a && b ? a->level < b->level ? a->level : b->level : 0;

	while (level && inlined_outer(a, level) != inlined_outer(b, level))
		level--;
	return level;
}

static const char *attribute_text(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;

	return dwarf_formstring(dwarf_attr_integrate(die, name, &attribute));
}

const char *inlined_name(const struct inlined *inlined)
{
	struct instance *instance = (struct instance *)inlined;
	const char *name = instance->name;

	if (name)
		return name;
	name = attribute_text(&instance->die, DW_AT_linkage_name);
	if (!name)
		name = attribute_text(&instance->die, DW_AT_MIPS_linkage_name);
	if (!name)
		name = attribute_text(&instance->die, DW_AT_name);
	instance->name = strdup(name && *name ? name : "?");
	if (!instance->name)
		return "?";
	plain_text(instance->name);
	return instance->name;
}
