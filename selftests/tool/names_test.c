// SPDX-License-Identifier: GPL-2.0-only
/*
 * What was kept of addresses of processes that become known later: view_line_scope() and
 * profile_symbol() must see that. And of which addresses else an answer is said to be true:
 * each is looked up. Mappings that are kept name the files that ran. User space, no rights;
 * prints KTAP.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../tools/kipt/perf/perf_ksym.h"
#include "../../tools/kipt/symbols/elf_symbols.h"
#include "../../tools/kipt/symbols/symbols.h"
#include "../../tools/kipt/view/profile.h"
#include "../../tools/kipt/view/view.h"
#include "../decode/ktap.h"

static struct ktap ktap;

/* Of the process @pid, or of nobody knows which, before and after it is known. */
static void learned_test(const char *name, u32 pid)
{
	struct kipt_record record = { .type = KIPT_RECORD_BRANCH, .ip = (u64)learned_test };
	struct maps maps = { 0 };
	struct names *names = names_create("", &maps, false);
	struct profile *profile = names ? profile_create(names) : NULL;
	struct view view = { .names = names, .state.pid = pid };
	struct line_scope before, after;
	u32 bare, known;

	if (!profile)
		abort();
	bare = profile_symbol(profile, pid, 0, record.ip);
	before = view_line_scope(&view, &record);
	maps_read_pid(&maps, getpid());
	known = profile_symbol(profile, pid, 0, record.ip);
	after = view_line_scope(&view, &record);
	ktap_result(&ktap, !profile->symbols[bare].object && profile->symbols[known].object &&
			   memcmp(&before, &after, sizeof(before)), "%s", name);
	record.ip = record.value = ~0ULL << 63;
	before = view_line_scope(&view, &record);
	maps_read_pid(&maps, getpid());
	after = view_line_scope(&view, &record);
	ktap_result(&ktap, !memcmp(&before, &after, sizeof(before)), "%s_kernel", name);
	profile_destroy(profile);
	names_destroy(names);
	maps_free(&maps);
}

#define TABLES		300
#define ADDRESSES	96U

/* A table of a few symbols among so many addresses; some have no size, some overlap. */
static struct symbols *symbols_random(void)
{
	struct symbols *symbols = symbols_create();
	int count = rand() % 12;
	char name[16];

	while (symbols && count--) {
		snprintf(name, sizeof(name), "s%d", count);
		if (!symbols_add(symbols, rand() % ADDRESSES, rand() % 20, rand() % 3, name, "", ""))
			abort();
	}
	return symbols;
}

/* The name of the symbol that an address is in; "": it is in none. */
static const char *symbol_name(struct symbols *symbols, u64 address, struct symbol_place *place)
{
	return symbols_find(symbols, address, place) ? place->name : "";
}

static bool range_holds(struct symbols *symbols, u64 address)
{
	struct symbol_place place, other;
	const char *name = symbol_name(symbols, address, &place);
	u64 end = place.end < ADDRESSES + 40 ? place.end : ADDRESSES + 40, at;

	if (address < place.first || address >= place.end)
		return false;
	for (at = place.first; at < end; at++) {
		if (strcmp(symbol_name(symbols, at, &other), name))
			return false;
	}
	return true;
}

static void symbols_range_test(void)
{
	int wrong = 0, i;
	u64 address;

	for (i = 0; i < TABLES; i++) {
		struct symbols *symbols = symbols_random();

		if (!symbols)
			abort();
		for (address = 0; address < ADDRESSES + 20; address++)
			wrong += !range_holds(symbols, address);
		symbols_destroy(symbols);
	}
	ktap_result(&ktap, !wrong, "names_range_of_symbols");
}

/* The same of a file whose two segments may overlap; those of addresses do not. */
static struct elf_symbols *elf_random(void)
{
	struct elf_file file = { .segment_count = 2 };
	int i;

	for (i = 0; i < 2; i++) {
		file.segments[i].offset = rand() % 40;
		file.segments[i].size = rand() % 40;
		file.segments[i].address = i * 48;
	}
	return elf_symbols_made(&file, symbols_random());
}

static bool elf_range_holds(struct elf_symbols *elf, u64 offset)
{
	struct symbol_place place, other;
	bool found = elf_symbols_find(elf, offset, &place), same;
	u64 at;

	if (!found && !place.end)
		return true;
	if (offset < place.first || offset >= place.end)
		return false;
	for (at = place.first; at < place.end; at++) {
		same = elf_symbols_find(elf, at, &other) == found && other.end;
		if (!same || (found && strcmp(other.name, place.name)))
			return false;
	}
	return true;
}

static void elf_range_test(void)
{
	int wrong = 0, i;
	u64 offset;

	for (i = 0; i < TABLES; i++) {
		struct elf_symbols *elf = elf_random();

		if (!elf)
			abort();
		for (offset = 0; offset < ADDRESSES; offset++)
			wrong += !elf_range_holds(elf, offset);
		elf_symbols_destroy(elf);
	}
	ktap_result(&ktap, !wrong, "names_range_of_files");
}

/* Is there code at some time at an address? */
static bool code_at(const struct perf_ksyms *ksyms, u64 address)
{
	size_t i;

	for (i = 0; i < ksyms->count; i++) {
		if (address - ksyms->list[i].address < ksyms->list[i].size)
			return true;
	}
	return false;
}

static bool apart_holds(const struct perf_ksyms *ksyms, u64 address)
{
	u64 first = 0, end = ADDRESSES + 40, at;

	perf_ksyms_apart(ksyms, address, &first, &end);
	if (code_at(ksyms, address))
		return first == address && end == address + 1;
	if (address < first || address >= end)
		return false;
	for (at = first; at < end; at++) {
		if (at != address && code_at(ksyms, at))
			return false;
	}
	return true;
}

static void ksyms_range_test(void)
{
	int wrong = 0, i, count;
	u64 address;

	for (i = 0; i < TABLES; i++) {
		struct perf_ksyms ksyms = { 0 };

		for (count = rand() % 6; count; count--) {
			struct perf_ksym ksym = {
				.address = rand() % ADDRESSES, .size = rand() % 20,
				.to = ~0ULL, .name = "code",
			};

			if (!perf_ksym_add(&ksyms, &ksym))
				abort();
		}
		if (!perf_ksyms_sort(&ksyms, 0))
			abort();
		for (address = 0; address < ADDRESSES + 20; address++)
			wrong += !apart_holds(&ksyms, address);
		perf_ksyms_free(&ksyms);
	}
	ktap_result(&ktap, !wrong, "names_range_apart_from_code_that_comes_and_goes");
}

/* How a function here is called, by mappings that were kept. */
static const char *saved_symbol(struct maps *maps, struct place *place)
{
	struct names *names = names_create("", maps, false);
	static char symbol[64];

	if (!names)
		abort();
	names_find(names, getpid(), (u64)saved_symbol, place);
	snprintf(symbol, sizeof(symbol), "%s", place->symbol ? place->symbol : "");
	place->symbol = NULL;
	names_destroy(names);
	return symbol;
}

static void saved_test(void)
{
	struct maps now = { 0 }, maps = { 0 };
	char path[] = "/tmp/names_test.XXXXXX";
	const struct mapping *mapping;
	struct process *process;
	struct place place;
	bool same;
	int fd = mkstemp(path);

	if (fd < 0 || !maps_read_pid(&now, getpid()) || !maps_save(&now, path) ||
	    !maps_load(&maps, path, true))
		abort();
	close(fd);
	unlink(path);
	same = !strcmp(saved_symbol(&maps, &place), "saved_symbol");
	process = maps_process(&maps, getpid());
	mapping = maps_find(process, (u64)saved_symbol);
	ktap_result(&ktap, same && mapping->id.size, "names_of_mappings_that_were_kept");
	((struct mapping *)mapping)->id.bytes[0] ^= 1;
	ktap_result(&ktap, !*saved_symbol(&maps, &place) && place.offset,
		    "names_of_another_file_are_none");
	maps_free(&maps);
	maps_free(&now);
}

int main(void)
{
	ktap_start();
	symbols_range_test();
	elf_range_test();
	ksyms_range_test();
	saved_test();
	learned_test("names_learned", getpid());
	learned_test("names_learned_of_no_process", 0);
	return ktap_end(&ktap);
}
