// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which file an address was mapped from: at an exec, over a fork, where a mapping took
 * the place of another; what cannot be known has no file. Also compares random tables
 * with a search that looks at everything. User space.
 */
#include <stdlib.h>
#include <string.h>

#include "../../kmod/shared/image_table.h"
#include "../decode/ktap.h"
#include "../decode/random_below.h"

#define SPACES		40U
#define RANGES		24U
#define TABLES		3000U
#define QUESTIONS	40U
#define NEW		KIPT_RAW_SPACE_NEW
#define PAGE		4096ULL
#define EVER		(~0ULL)

static struct ktap ktap;
static struct kipt_raw_space spaces[SPACES + 80];
static struct kipt_raw_range ranges[RANGES];
static u32 bases[SPACES + 80];
static u64 changes[SPACES + 80];
static struct kipt_image_table table;

static void check(const char *name, bool good)
{
	ktap_result(&ktap, good, "image_table_%s", name);
}

static void table_begins(void)
{
	table = (struct kipt_image_table){
		.spaces = spaces, .ranges = ranges, .bases = bases, .changes = changes,
	};
}

static void range(u64 begin, u64 end, u64 offset, u32 file)
{
	ranges[table.nr_ranges++] = (struct kipt_raw_range){
		.begin = begin * PAGE, .end = end * PAGE, .offset = offset * PAGE,
		.file = file,
	};
}

static void space(u32 tgid, u32 flags, u64 from, u32 first, u32 count)
{
	spaces[table.nr_spaces++] = (struct kipt_raw_space){
		.tgid = tgid, .flags = flags, .from = from, .first = first,
		.count = count,
	};
}

/* Is address @ip of a process page @offset of @file, or is it @kind? */
static bool is(enum kipt_image_found kind, u32 tgid, u64 born, u64 begin, u64 end,
	       u64 ip, u32 file, u64 offset)
{
	struct kipt_image_place place = { .file = 99 };

	if (kipt_image_table_find(&table, tgid, born, begin, end, ip * PAGE + 5,
				  &place) != kind)
		return false;
	return kind != KIPT_IMAGE_FILE ||
	       (place.file == file && place.offset == offset * PAGE + 5);
}

#define IS_FILE(...)	is(KIPT_IMAGE_FILE, __VA_ARGS__)
#define IS_NONE(...)	is(KIPT_IMAGE_NONE, __VA_ARGS__, 0, 0)
#define IS_UNSURE(...)	is(KIPT_IMAGE_UNSURE, __VA_ARGS__, 0, 0)

/* A shell that forks at 100; the child executes another program at 200. */
static void fork_and_exec(void)
{
	table_begins();
	range(10, 20, 3, 0);
	range(30, 40, 0, 1);
	range(10, 15, 0, 2);
	space(7, 0, 0, 0, 2);
	space(8, NEW, 100, 0, 2);
	space(8, NEW, 200, 2, 1);
	check("settles", kipt_image_table_settle(&table, 3) && !table.nr_changes);
	check("of_the_parent", IS_FILE(7, 50, 60, 70, 12, 0, 5));
	check("ends_of_a_range", IS_FILE(7, 50, 60, 70, 10, 0, 3) &&
	      IS_FILE(7, 50, 60, 70, 19, 0, 12) && IS_NONE(7, 50, 60, 70, 20) &&
	      IS_NONE(7, 50, 60, 70, 9));
	check("of_the_child", IS_FILE(8, 110, 110, 150, 12, 0, 5));
	/* The stretch has both; when the address space began decides. */
	check("before_the_exec", IS_FILE(8, 110, 110, 300, 12, 0, 5));
	check("after_the_exec", IS_FILE(8, 205, 110, 300, 12, 2, 2));
	check("nothing_of_before_the_exec", IS_NONE(8, 205, 110, 300, 35));
	check("without_times", IS_FILE(8, 205, 0, EVER, 12, 2, 2));
	check("another_process", IS_NONE(9, 205, 0, EVER, 12));
	check("before_the_fork", IS_NONE(8, 50, 0, EVER, 12));
}

/* A library that another takes the place of, at 100; and at 200 memory of no file. */
static void replaced(void)
{
	table_begins();
	range(10, 20, 0, 0);
	range(10, 20, 0, 1);
	range(10, 20, 0, KIPT_RAW_NO_FILE);
	range(30, 40, 0, 2);
	space(7, 0, 0, 0, 1);
	space(7, 0, 100, 1, 1);
	space(7, 0, 200, 2, 2);
	space(7, NEW, 300, 0, 1);
	check("changes_are_counted", kipt_image_table_settle(&table, 3) &&
	      kipt_image_table_changes(&table, 99) == 0 &&
	      kipt_image_table_changes(&table, 100) == 1 &&
	      kipt_image_table_changes(&table, 250) == 2 &&
	      kipt_image_table_changes(&table, EVER) == 2);
	check("before_it_was_replaced", IS_FILE(7, 1, 10, 99, 12, 0, 2));
	check("after_it_was_replaced", IS_FILE(7, 1, 100, 150, 12, 1, 2));
	check("while_it_is_replaced", IS_UNSURE(7, 1, 90, 110, 12));
	check("memory_of_no_file", IS_NONE(7, 1, 210, 220, 12));
	check("file_and_no_file", IS_UNSURE(7, 1, 190, 220, 12));
	ranges[1] = (struct kipt_raw_range){
		.begin = 5 * PAGE, .end = 20 * PAGE, .file = KIPT_RAW_NO_FILE,
	};
	check("no_file_and_no_file", IS_NONE(7, 1, 190, 220, 12));
	/* It was mapped at some time: what ran there ran then. */
	check("mapped_meanwhile", IS_FILE(7, 1, 190, 220, 32, 2, 2));
	check("of_the_next_program", IS_FILE(7, 301, 290, 310, 12, 0, 2));
}

/* More changes in one stretch than are looked at. */
static void many_changes(void)
{
	u32 i;

	table_begins();
	range(10, 20, 0, 0);
	for (i = 0; i < 100; i++)
		space(7, 0, i * 10, 0, 1);
	check("few_changes", kipt_image_table_settle(&table, 1) &&
	      IS_FILE(7, 1, 100, 500, 12, 0, 2));
	check("too_many_changes", IS_UNSURE(7, 1, 0, EVER, 12));
}

/* As the header says it, looking at all spaces and ranges. */
static enum kipt_image_found plain(u32 tgid, u64 born, u64 begin, u64 end, u64 ip,
				   struct kipt_image_place *place)
{
	u32 i, j, base = ~0U, last = ~0U;
	enum kipt_image_found found = KIPT_IMAGE_NONE;
	struct kipt_image_place here;

	for (i = 0; i < table.nr_spaces; i++) {
		if (spaces[i].tgid != tgid || spaces[i].from > born)
			continue;
		if (base == ~0U || spaces[i].flags & NEW)
			base = i;
	}
	if (base == ~0U)
		return KIPT_IMAGE_NONE;
	for (last = base + 1; last < table.nr_spaces && spaces[last].tgid == tgid &&
	     !(spaces[last].flags & NEW); last++)
		;
	for (i = base; i < last; i++) {
		/* It holds up to the next one. */
		if (spaces[i].from > end ||
		    (i + 1 < last && spaces[i + 1].from <= begin))
			continue;
		/* What comes after the program is the begin again. */
		for (j = spaces[i].first; j < spaces[i].first + spaces[i].count; j++) {
			if (ip < ranges[j].begin || ip >= ranges[j].end)
				continue;
			here.file = ranges[j].file;
			here.offset = ranges[j].offset + ip - ranges[j].begin;
			if (here.file == KIPT_RAW_NO_FILE)
				here.offset = 0;
			if (found && (here.file != place->file ||
				      here.offset != place->offset))
				return KIPT_IMAGE_UNSURE;
			*place = here;
			found = KIPT_IMAGE_FILE;
		}
	}
	return found && place->file == KIPT_RAW_NO_FILE ? KIPT_IMAGE_NONE : found;
}

static void table_by_chance(void)
{
	u32 i, tgid = 1, from = 0, at = 0;

	table_begins();
	for (i = 0; i < RANGES; i++) {
		if (!(i % 4))
			at = 0;
		at += random_below(3);
		range(at, at + 1 + random_below(4), random_below(3),
		      random_below(5) ? random_below(2) :
		      KIPT_RAW_NO_FILE);
		at = ranges[i].end / PAGE;
	}
	for (i = 0; i < SPACES; i++) {
		if (!random_below(6)) {
			tgid += random_below(2);
			from = 0;
		}
		from += random_below(5);
		if (i && spaces[i - 1].tgid == tgid && from < spaces[i - 1].from)
			from = spaces[i - 1].from;
		space(tgid, random_below(3) ? 0 : NEW, from,
		      random_below(RANGES / 4) * 4, random_below(5));
	}
}

static void by_chance(void)
{
	struct kipt_image_place got, wanted;
	u32 tables, i, tgid, found[3] = { 0 };
	u64 born, begin, end, ip;
	enum kipt_image_found kind;
	bool good = true;

	for (tables = 0; tables < TABLES && good; tables++) {
		table_by_chance();
		good = kipt_image_table_settle(&table, 2);
		for (i = 0; i < QUESTIONS && good; i++) {
			tgid = 1 + random_below(4);
			born = random_below(60);
			begin = born + random_below(20);
			end = begin + random_below(20);
			ip = random_below(16) * PAGE + 7;
			memset(&got, 0, sizeof(got));
			memset(&wanted, 0, sizeof(wanted));
			kind = plain(tgid, born, begin, end, ip, &wanted);
			found[kind]++;
			good = kipt_image_table_find(&table, tgid, born, begin, end,
						     ip, &got) == kind &&
			       (kind != KIPT_IMAGE_FILE ||
				(got.file == wanted.file &&
				 got.offset == wanted.offset));
		}
	}
	check("by_chance", good && found[0] > 1000 && found[1] > 1000 &&
	      found[2] > 100);
}

int main(void)
{
	fork_and_exec();
	replaced();
	many_changes();
	by_chance();
	return ktap_end(&ktap);
}
