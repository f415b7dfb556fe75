// SPDX-License-Identifier: GPL-2.0-only
/*
 * The store of kept code against a plain list of everything ever put in:
 * what it gives is what was put; it stays within its pages; the newest are
 * there; equal pages take one place. The numbers are the same in each run.
 * User space.
 */
#include <stdlib.h>

#include "../../kmod/code_store.h"
#include "../decode/ktap.h"

#define CHUNKS		2U
#define SLOTS		(CHUNKS * KIPT_CODE_CHUNK)
#define BYTES		((u64)CHUNKS * KIPT_CODE_CHUNK_BYTES)
#define PUTS		20000U
#define BASE		0x400000ULL

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

static u32 next_random(void)
{
	static u64 state = 88172645463325252ULL;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (u32)(state >> 16);
}

static void fill(u8 *page, u32 content)
{
	u32 i;

	/* Contents that agree in what the store samples differ here. */
	memset(page, (int)(content / 4), KIPT_CODE_PAGE);
	for (i = 0; i < 4; i++)
		page[100 + i] = (u8)(content >> i * 8);
}

static bool put(u64 id, u64 addr, u32 content)
{
	u8 page[KIPT_CODE_PAGE];

	fill(page, content);
	if (kipt_code_store_wants(store))
		kipt_code_store_grow(store, calloc(1, KIPT_CODE_CHUNK_BYTES));
	if (nr_puts < PUTS)
		all_puts[nr_puts++] = (struct put){ id, addr, content };
	return kipt_code_store_put(store, id, addr, page);
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
	store = kipt_code_store_init(memory, BYTES);
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
	      !kipt_code_store_put(store, 1, BASE, page) &&
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

static void random_puts_agree(void)
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
	check("random_puts_agree_with_a_plain_list", good);
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
	random_puts_agree();
	clear_forgets();
	begin();
	free(memory);
	return ktap_end(&ktap);
}
