// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts and times by function, see profile.h. Finding the symbol of an address
 * takes longer than decoding a branch, so each address is looked up once: what
 * was found is kept for each process, and for each program that it ran.
 */
#include <stdlib.h>
#include <string.h>

#include "../cli/list_room.h"
#include "../cli/messages.h"
#include "../cli/printable.h"
#include "profile.h"
#include "wanted.h"

#define SYMBOLS_MAX	(1 << 18)
#define SPACES_MAX	(1 << 16)
#define CPUS_MAX	(1 << 13)
#define TASKS_MAX	(1 << 16)
/* Addresses whose symbols are kept; then all are looked up anew. */
#define KNOWN_MAX	(1 << 20)
/* Programs of which they are kept; a new one takes the place of an old one. */
#define KNOWN_SPACES	(1 << 12)

#define SPACE_KERNEL	0
#define SPACE_UNKNOWN	1

/* Symbols of addresses in one program of one process, which @key says, as far as
 * names_learned_of() was known; 0: of the kernel.
 */
struct profile_known {
	u64 key;
	u32 learned;
	struct lookup symbols;
};

#define GROW(list, count) ({						\
	void *grown = list_room(list, count, sizeof(*(list)));		\
									\
	if (grown)							\
		(list) = grown;						\
	grown;								\
})

static char *plain_copy(const char *text)
{
	char *copy = text ? strdup(text) : NULL;

	if (copy)
		plain_text(copy);
	return copy;
}

/* The profile's own copy of a name; NULL without memory. */
static char *object_get(struct profile *profile, const char *text)
{
	char *copy = plain_copy(text);
	u64 key = lookup_text(profile->seed, copy);
	size_t *found = copy ? lookup_get(&profile->object_of, key) : NULL;

	if (found && !strcmp(profile->objects[*found], copy)) {
		free(copy);
		return profile->objects[*found];
	}
	if (!copy || !GROW(profile->objects, profile->object_count) ||
	    !lookup_add(&profile->object_of, key, profile->object_count)) {
		free(copy);
		return NULL;
	}
	return profile->objects[profile->object_count++] = copy;
}

struct profile *profile_create(struct names *names)
{
	struct profile *profile = calloc(1, sizeof(*profile));

	if (!profile)
		return NULL;
	profile->names = names;
	profile->seed = lookup_seed();
	profile->symbols = calloc(1, sizeof(*profile->symbols));
	profile->spaces = calloc(2, sizeof(*profile->spaces));
	if (!profile->symbols || !profile->spaces)
		goto err;
	profile->symbol_count = 1;
	profile->space_count = 2;
	profile->symbols[0].space = SPACE_UNKNOWN;
	profile->symbols[0].object = object_get(profile, "others");
	if (profile->symbols[0].object)
		return profile;
err:
	profile_destroy(profile);
	return NULL;
}

static void known_forget(struct profile *profile)
{
	u32 i;

	for (i = 0; i < profile->known_count; i++)
		lookup_free(&profile->known[i].symbols);
	lookup_free(&profile->known_of);
	profile->known_count = 0;
	profile->known_next = 0;
	profile->known_addresses = 0;
	free(profile->known);
	profile->known = NULL;
}

void profile_destroy(struct profile *profile)
{
	u32 i;

	if (!profile)
		return;
	for (i = 0; i < profile->symbol_count; i++)
		free(profile->symbols[i].name);
	for (i = 0; i < profile->object_count; i++)
		free(profile->objects[i]);
	free(profile->objects);
	lookup_free(&profile->object_of);
	known_forget(profile);
	lookup_free(&profile->symbol_of);
	lookup_free(&profile->space_of);
	lookup_free(&profile->cpu_of);
	lookup_free(&profile->task_of);
	free(profile->symbols);
	free(profile->spaces);
	free(profile->cpus);
	free(profile->tasks);
	free(profile);
}

static u32 space_get(struct profile *profile, u32 pid, u64 cr3, u64 address)
{
	u64 key = pid ? 1ULL << 63 | pid : cr3;
	size_t *found;

	if (address >> 63 && pid != NAMES_GUEST)
		return SPACE_KERNEL;
	if (!key)
		return SPACE_UNKNOWN;
	found = lookup_get(&profile->space_of, key);
	if (found)
		return *found;
	profile->spaces_full |= profile->space_count == SPACES_MAX;
	if (profile->spaces_full ||
	    !GROW(profile->spaces, profile->space_count) ||
	    !lookup_add(&profile->space_of, key, profile->space_count))
		return SPACE_UNKNOWN;
	profile->spaces[profile->space_count] = (struct profile_space){
		.pid = pid, .cr3 = pid ? 0 : cr3,
	};
	return profile->space_count++;
}

static bool text_same(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static u32 symbol_add(struct profile *profile, u64 key, u32 next,
		      const struct profile_symbol *like)
{
	struct profile_symbol *symbol;

	if (profile->symbol_count == SYMBOLS_MAX)
		return 0;
	if (!GROW(profile->symbols, profile->symbol_count)) {
		profile->failed = true;
		return 0;
	}
	symbol = &profile->symbols[profile->symbol_count];
	*symbol = (struct profile_symbol){
		.name = plain_copy(like->name),
		.object = like->object ? object_get(profile, like->object) :
					 NULL,
		.called = like->called,
		.start = like->start,
		.space = like->space,
		.wanted = profile->wanted &&
			  wanted_has(profile->wanted, like),
		.next = next,
	};
	if (!symbol->name == !like->name && !symbol->object == !like->object &&
	    lookup_add(&profile->symbol_of, key, profile->symbol_count))
		return profile->symbol_count++;
	free(symbol->name);
	profile->failed = true;
	return 0;
}

/* Names are compared as well: a process runs several programs one after the other,
 * whose functions may be at the same addresses.
 */
static u32 symbol_find(struct profile *profile, u32 space, u32 pid,
		       u64 address, bool called)
{
	struct profile_symbol like = { .space = space };
	struct place place;
	size_t *first;
	u64 key;
	u32 at;

	names_find(profile->names, pid, address, &place);
	/* Neither is changed, nor kept. */
	like.name = (char *)place.symbol;
	like.object = (char *)place.object;
	like.called = called && !place.symbol;
	like.start = place.symbol ? place.start : called ? place.offset : 0;
	key = lookup_mix(lookup_mix(profile->seed, space), like.start);
	key = lookup_text(lookup_text(key, like.name), like.object);
	first = lookup_get(&profile->symbol_of, key);
	for (at = first ? *first : 0; at; at = profile->symbols[at].next) {
		const struct profile_symbol *symbol = &profile->symbols[at];

		if (symbol->space == space && symbol->start == like.start &&
		    symbol->called == like.called &&
		    text_same(symbol->name, like.name) &&
		    text_same(symbol->object, like.object))
			return at;
	}
	return symbol_add(profile, key, first ? *first : 0, &like);
}

static void known_empty(struct profile *profile, struct profile_known *known)
{
	profile->known_addresses -= known->symbols.count;
	lookup_free(&known->symbols);
}

/* Room for one more program, where the oldest was if there are many. */
static struct profile_known *known_room(struct profile *profile)
{
	struct profile_known *known;

	if (profile->known_count < KNOWN_SPACES) {
		if (!GROW(profile->known, profile->known_count))
			return NULL;
		return &profile->known[profile->known_count++];
	}
	/* Keys of those that are gone stay there until they are too many. */
	if (profile->known_of.count > 4 * KNOWN_SPACES)
		known_forget(profile);
	if (!profile->known_count)
		return known_room(profile);
	known = &profile->known[profile->known_next++ % KNOWN_SPACES];
	known_empty(profile, known);
	return known;
}

/* NULL: no memory, and nothing is kept. */
static struct lookup *known_get(struct profile *profile, u32 space)
{
	u64 key = (u64)space << 32 | (space == SPACE_KERNEL ?
				      names_code_version_of(profile->names) :
				      names_version_of(profile->names));
	u32 learned = space == SPACE_KERNEL ? 0 : names_learned_of(profile->names);
	size_t *found = lookup_get(&profile->known_of, key);
	struct profile_known *known;

	if (found && profile->known[*found].key == key) {
		known = &profile->known[*found];
		if (known->learned != learned)
			known_empty(profile, known);
		known->learned = learned;
		return &known->symbols;
	}
	known = known_room(profile);
	if (!known)
		return NULL;
	*known = (struct profile_known){ .key = key, .learned = learned };
	/* Without memory nobody finds it, and it is made anew. */
	lookup_add(&profile->known_of, key, known - profile->known);
	return &known->symbols;
}

/* No address that code can have has that bit alone. */
static u64 key_of(u64 address, bool called)
{
	return called ? address ^ 1ULL << 61 : address;
}

static u32 known_symbol(struct profile *profile, u32 pid, u64 cr3, u64 address,
			bool called)
{
	u32 space = space_get(profile, pid, cr3, address), symbol;
	struct lookup *known = known_get(profile, space);
	u64 key = key_of(address, called);
	size_t *found = known ? lookup_get(known, key) : NULL;

	if (found)
		return *found;
	symbol = symbol_find(profile, space, pid, address, called);
	if (known && lookup_add(known, key, symbol) &&
	    ++profile->known_addresses >= KNOWN_MAX)
		known_forget(profile);
	return symbol;
}

/* All numbers were given once. */
static void numbers_begin(struct profile *profile)
{
	u32 i;

	memset(profile->recent, 0, sizeof(profile->recent));
	for (i = 0; i < profile->symbol_count; i++)
		profile->symbols[i].size = 0;
	profile->code.number = 1;
}

u32 profile_code(struct profile *profile, u32 pid, u64 cr3)
{
	struct profile_code *code = &profile->code;
	u64 changes = names_changes(profile->names);

	/* With page-table isolation it changes at each entry into the kernel. */
	cr3 = pid ? 0 : cr3;
	if (code->number && code->pid == pid && code->cr3 == cr3 &&
	    code->changes == changes)
		return code->number;
	*code = (struct profile_code){ pid, cr3, changes, code->number + 1 };
	if (!code->number)
		numbers_begin(profile);
	return code->number;
}

/* The first symbol is that of all functions there was no room for. */
static void range_learn(struct profile *profile, struct profile_symbol *symbol, u32 pid,
			u64 address)
{
	struct place place;
	bool known;

	names_find(profile->names, pid, address, &place);
	known = symbol != profile->symbols && address >= place.first && address < place.end;
	symbol->code = profile->code.number;
	symbol->first = place.first;
	symbol->size = known ? place.end - place.first : 0;
}

static u32 symbol_get(struct profile *profile, u32 pid, u64 cr3, u64 address,
		      bool called)
{
	u32 code = profile_code(profile, pid, cr3);
	u64 key = key_of(address, called);
	struct profile_recent *recent = profile_recent(profile, key);

	if (recent->key == key && recent->code == code)
		return recent->symbol;
	*recent = (struct profile_recent){
		key, code, known_symbol(profile, pid, cr3, address, called),
	};
	if (profile->symbols[recent->symbol].code != code)
		range_learn(profile, &profile->symbols[recent->symbol], pid, address);
	return recent->symbol;
}

u32 profile_symbol(struct profile *profile, u32 pid, u64 cr3, u64 address)
{
	return symbol_get(profile, pid, cr3, address, false);
}

u32 profile_function(struct profile *profile, u32 pid, u64 cr3, u64 address)
{
	return symbol_get(profile, pid, cr3, address, true);
}

void profile_place(const struct profile *profile, u32 symbol, u64 address,
		   struct place *place)
{
	const struct profile_symbol *at = &profile->symbols[symbol];

	place->symbol = at->name;
	place->object = at->object;
	place->start = at->name ? at->start : address;
	place->offset = at->name ? address - at->start : address;
	place->first = 0;
	place->end = 0;
}

struct profile_cpu *profile_cpu(struct profile *profile, u64 cpu)
{
	size_t *found = lookup_get(&profile->cpu_of, cpu);

	if (found)
		return &profile->cpus[*found];
	profile->cpus_full |= profile->cpu_count == CPUS_MAX;
	if (profile->cpus_full ||
	    !GROW(profile->cpus, profile->cpu_count) ||
	    !lookup_add(&profile->cpu_of, cpu, profile->cpu_count))
		return NULL;
	profile->cpus[profile->cpu_count] = (struct profile_cpu){ .cpu = cpu };
	return &profile->cpus[profile->cpu_count++];
}

struct profile_task *profile_task(struct profile *profile, u32 tid, u32 pid)
{
	u64 key = (u64)pid << 32 | tid;
	size_t *found = lookup_get(&profile->task_of, key);

	if (found)
		return &profile->tasks[*found];
	profile->tasks_full |= profile->task_count == TASKS_MAX;
	if (profile->tasks_full ||
	    !GROW(profile->tasks, profile->task_count) ||
	    !lookup_add(&profile->task_of, key, profile->task_count))
		return NULL;
	profile->tasks[profile->task_count] = (struct profile_task){
		.tid = tid, .pid = pid,
	};
	return &profile->tasks[profile->task_count++];
}

bool profile_has_times(const struct profile *profile)
{
	u32 i;

	for (i = 0; i < profile->cpu_count; i++) {
		if (profile->cpus[i].first)
			return true;
	}
	return false;
}

void profile_notes(const struct profile *profile)
{
	if (profile->symbol_count == SYMBOLS_MAX)
		say_note("there are more than %u functions: those that came later are [others]",
			 SYMBOLS_MAX - 1);
	if (profile->spaces_full)
		say_note("there are more than %u processes: those that came later are shown as \"process unknown\"",
			 SPACES_MAX - 2);
	if (profile->tasks_full)
		say_note("there are more than %u threads: those that came later are in no list of them",
			 TASKS_MAX);
	if (profile->cpus_full)
		say_note("there are more than %u CPUs: the times of those that came later are in no sum of CPUs",
			 CPUS_MAX);
}

static bool symbol_used(const struct profile_symbol *symbol)
{
	return symbol->branches || symbol->calls || symbol->self ||
	       symbol->total;
}

bool profile_several_spaces(const struct profile *profile)
{
	u32 i, seen = SPACE_KERNEL;

	for (i = 0; i < profile->symbol_count; i++) {
		const struct profile_symbol *symbol = &profile->symbols[i];

		if (symbol->space == SPACE_KERNEL || !symbol_used(symbol))
			continue;
		if (seen != SPACE_KERNEL && seen != symbol->space)
			return true;
		seen = symbol->space;
	}
	return false;
}

static int symbol_compare(const void *left, const void *right)
{
	const struct profile_symbol *a = *(const struct profile_symbol **)left;
	const struct profile_symbol *b = *(const struct profile_symbol **)right;

	if (a->self != b->self)
		return a->self > b->self ? -1 : 1;
	if (a->branches != b->branches)
		return a->branches > b->branches ? -1 : 1;
	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	/* As they came. */
	return a < b ? -1 : a > b;
}

const struct profile_symbol **profile_sort(const struct profile *profile,
					   size_t *count)
{
	const struct profile_symbol **list;
	u32 i;

	*count = 0;
	list = malloc(profile->symbol_count * sizeof(const void *));
	if (!list)
		return NULL;
	for (i = 0; i < profile->symbol_count; i++) {
		if (symbol_used(&profile->symbols[i]))
			list[(*count)++] = &profile->symbols[i];
	}
	qsort(list, *count, sizeof(*list), symbol_compare);
	return list;
}
