// SPDX-License-Identifier: GPL-2.0-only
/*
 * The store of kept code against a plain list of everything ever put in:
 * what it gives is what was put; it stays within its pages; the newest are
 * there; equal pages take one place, others do not though their hashes be
 * equal; no program makes it slow. The numbers are the same in each run. User
 * space.
 */
#include <stdlib.h>
#include <unistd.h>

#include "../../kmod/shared/code_store.h"
#include "../decode/ktap.h"
#include "../decode/random_below.h"

#define SLOTS		128U
#define BYTES		((u64)SLOTS * KIPT_CODE_PAGE)
#define PUTS		20000U
#define BASE		0x400000ULL
/* What a run of pages never crosses. */
#define REGION		(256ULL << 10)
#define SEED		0x8a5cd789635d2dffULL
/* Scattered pages of one address space, and how far apart. */
#define SCATTERED	60000U
#define APART		(2ULL << 20)
/* It takes less than one, or minutes. */
#define HANGS_SECONDS	300

static struct ktap ktap;
static struct kipt_code_store *store;
static void *memory;

/* A page is made of its number alone. */
struct put {
	u64 id;
	u64 addr;
	u32 content;
};

static struct put all_puts[PUTS];
static u32 nr_puts;

static void check(const char *name, bool good)
{
	ktap_result(&ktap, good, "%s", name);
}

/* All have the same hash; otherwise contents have one of their own. */
static bool collide;

static u64 hash_of(u32 content)
{
	return collide ? 1 : content * 0x9e3779b97f4a7c15ULL;
}

static void fill(u8 *page, u32 content)
{
	u32 i;

	memset(page, (int)(content / 4), KIPT_CODE_PAGE);
	for (i = 0; i < 4; i++)
		page[100 + i] = (u8)(content >> i * 8);
}

static bool put(u64 id, u64 addr, u32 content)
{
	u8 page[KIPT_CODE_PAGE];

	fill(page, content);
	if (kipt_code_store_wants(store))
		kipt_code_store_grow(store, calloc(1, KIPT_CODE_PAGE));
	if (nr_puts < PUTS)
		all_puts[nr_puts++] = (struct put){ id, addr, content };
	return kipt_code_store_put(store, id, addr, hash_of(content), page);
}

/* Whether the store has it, and it is right. */
static bool has(u64 id, u64 addr, u32 content)
{
	u8 page[KIPT_CODE_PAGE], got[KIPT_CODE_PAGE];

	fill(page, content);
	return kipt_code_store_get(store, id, addr, got, KIPT_CODE_PAGE) &&
	       !memcmp(page, got, KIPT_CODE_PAGE);
}

static bool is_there(u64 id, u64 addr)
{
	u8 byte;

	return kipt_code_store_get(store, id, addr, &byte, 1);
}

static void begin(void)
{
	if (memory) {
		void *chunk;

		kipt_code_store_clear(store);
		while ((chunk = kipt_code_store_shrink(store)))
			free(chunk);
		free(memory);
	}
	memory = calloc(1, kipt_code_store_size(BYTES));
	store = kipt_code_store_init(memory, BYTES, SEED);
	nr_puts = 0;
}

static void equal_pages_are_one(void)
{
	u32 id, i;
	bool all = true;

	begin();
	for (id = 1; id <= 50; id++)
		for (i = 0; i < 20; i++)
			put(id, BASE + i * KIPT_CODE_PAGE, i);
	check("equal_pages_are_held_once", kipt_code_store_bytes(store) ==
	      20 * KIPT_CODE_PAGE);
	for (id = 1; id <= 50; id++)
		for (i = 0; i < 20; i++)
			all &= has(id, BASE + i * KIPT_CODE_PAGE, i);
	check("equal_pages_are_read_by_all", all);
	check("of_another_space_there_is_none", !is_there(51, BASE));
	check("behind_the_last_page_there_is_none",
	      !is_there(1, BASE + 20 * KIPT_CODE_PAGE));
	check("nothing_was_dropped", !kipt_code_store_dropped(store));
}

static void the_newest_are_kept(void)
{
	u32 i;
	bool all = true, none = true;

	begin();
	for (i = 0; i < 3 * SLOTS; i++)
		put(i + 1, BASE, i);
	for (i = 0; i < 3 * SLOTS; i++) {
		if (i < 2 * SLOTS)
			none &= !is_there(i + 1, BASE);
		else
			all &= has(i + 1, BASE, i);
	}
	check("the_newest_are_kept", all);
	check("the_oldest_are_dropped", none);
	check("dropped_bytes_are_counted", kipt_code_store_dropped(store) ==
	      2ULL * SLOTS * KIPT_CODE_PAGE);
	check("the_bound_holds", kipt_code_store_bytes(store) == BYTES &&
	      !kipt_code_store_wants(store));
}

static void without_memory_nothing_is_kept(void)
{
	u8 page[KIPT_CODE_PAGE] = { 1 };

	begin();
	check("without_memory_nothing_is_kept",
	      !kipt_code_store_put(store, 1, BASE, 1, page) &&
	      !is_there(1, BASE) && kipt_code_store_dropped(store) ==
	      KIPT_CODE_PAGE);
}

/* What it gives for the newest put of an address is that, or nothing. */
static bool agrees(void)
{
	u32 i, j, there = 0;

	for (i = nr_puts; i-- > 0;) {
		bool newest = true;

		for (j = i + 1; j < nr_puts && newest && j < i + 400; j++)
			newest = all_puts[j].id != all_puts[i].id ||
				 all_puts[j].addr != all_puts[i].addr;
		if (!newest)
			continue;
		if (!is_there(all_puts[i].id, all_puts[i].addr))
			break;
		if (!has(all_puts[i].id, all_puts[i].addr, all_puts[i].content))
			return false;
		there++;
	}
	return there > 10 && kipt_code_store_bytes(store) <= BYTES;
}

static void random_puts_agree(const char *name)
{
	u32 i, id = 1, round = 0;
	bool good = true;

	begin();
	for (i = 0; i < PUTS && good; i++) {
		u32 page = next_random() % 16;

		if (next_random() % 12 == 0)
			id++;
		/* An address has one content as long as one lives there. */
		put(id, BASE + page * KIPT_CODE_PAGE,
		    id % 3 ? page : id * 16 + page);
		if (++round == 997) {
			good = agrees();
			round = 0;
		}
	}
	check(name, good);
}

static void equal_hashes_are_told_apart(void)
{
	u32 i;
	bool all = true;

	collide = true;
	begin();
	for (i = 0; i < 2 * SLOTS; i++)
		put(i + 1, BASE, i);
	for (i = SLOTS; i < 2 * SLOTS; i++)
		all &= has(i + 1, BASE, i);
	check("equal_hashes_are_told_apart", all);
	random_puts_agree("random_puts_with_equal_hashes_agree");
	collide = false;
}

static void runs_end_with_their_region(void)
{
	u64 first = BASE + REGION - 5 * KIPT_CODE_PAGE;
	bool all = true;
	u32 i;

	begin();
	for (i = 0; i < 10; i++)
		put(1, first + i * KIPT_CODE_PAGE, i);
	for (i = 0; i < 10; i++)
		all &= has(1, first + i * KIPT_CODE_PAGE, i);
	check("pages_on_both_sides_of_a_boundary_are_there", all);
	check("before_and_behind_them_there_is_none",
	      !is_there(1, first - KIPT_CODE_PAGE) &&
	      !is_there(1, first + 10 * KIPT_CODE_PAGE));
	/* The oldest is what is dropped first: one side, not the other. */
	for (i = 10; i <= SLOTS; i++)
		put(i, BASE, i);
	check("each_side_is_dropped_by_itself", !is_there(1, first) &&
	      !is_there(1, first + 4 * KIPT_CODE_PAGE) &&
	      has(1, first + 5 * KIPT_CODE_PAGE, 5));
}

/* Equal pages, each in a run of its own; then most reads find none. */
static void scattered_pages_are_found(void)
{
	bool all = true, none = true;
	u64 wish = SCATTERED;
	u32 i;

	begin();
	free(memory);
	wish *= KIPT_CODE_PAGE;
	memory = calloc(1, kipt_code_store_size(wish));
	store = kipt_code_store_init(memory, wish, SEED);
	/* Hours, were each looked for among all: what hangs is ended. */
	alarm(HANGS_SECONDS);
	for (i = 0; i < SCATTERED; i++)
		put(1, BASE + i * APART, i % 2);
	for (i = 0; i < SCATTERED; i++) {
		all &= has(1, BASE + i * APART, i % 2);
		none &= !is_there(1, BASE + i * APART + KIPT_CODE_PAGE);
		none &= !is_there(1, BASE + i * APART + REGION);
	}
	alarm(0);
	check("scattered_pages_are_found", all);
	check("between_scattered_pages_there_is_none", none);
}

static void clear_forgets(void)
{
	begin();
	put(1, BASE, 1);
	kipt_code_store_clear(store);
	check("clear_forgets", !is_there(1, BASE) &&
	      !kipt_code_store_bytes(store) && !kipt_code_store_dropped(store));
	put(2, BASE, 2);
	check("clear_leaves_it_usable", has(2, BASE, 2));
}

int main(void)
{
	ktap_start();
	equal_pages_are_one();
	the_newest_are_kept();
	without_memory_nothing_is_kept();
	random_puts_agree("random_puts_agree_with_a_plain_list");
	equal_hashes_are_told_apart();
	runs_end_with_their_region();
	scattered_pages_are_found();
	clear_forgets();
	begin();
	free(memory);
	return ktap_end(&ktap);
}
