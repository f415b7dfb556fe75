// SPDX-License-Identifier: GPL-2.0-only
/*
 * The log of patches against a copy of the text at each moment: text turned
 * back is what it was, or unknown, also while another thread writes and the
 * log goes round; changes whose bytes nobody has, changes that were not seen,
 * and those that fell out make text unknown, not wrong. The numbers are the
 * same in each run. User space.
 */
#include <pthread.h>
#include <stdlib.h>

#include "../../kmod/shared/patch_log.h"
#include "../decode/ktap.h"
#include "../decode/random_below.h"

#define ENTRIES		64U
#define PAGES		6U
#define PAGE		4096U
#define TEXT_BYTES	(PAGES * PAGE)
#define TEXT		0xffffffffc0000000ULL
#define STEPS		3000U
/* Patches beside a reader: so many, and more until it has read. */
#define WRITES_LEAST	2000000U
#define WRITES_MOST	2000000000U

static struct ktap ktap;
static struct kipt_patch_log *log;
static u8 text[TEXT_BYTES];

static void check(const char *name, bool good)
{
	ktap_result(&ktap, good, "%s", name);
}

static void begin(u32 entries)
{
	free(log);
	log = kipt_patch_log_init(calloc(1, kipt_patch_log_size(entries)),
				  entries, 0);
	memset(text, 0x90, sizeof(text));
}

static void patch(u64 tsc, u32 at, u32 len, u8 with)
{
	kipt_patch_log_add(log, tsc, TEXT + at, len, text + at);
	memset(text + at, with, len);
}

static bool read_back(u64 first, u32 at, u8 *buf, u32 len)
{
	memcpy(buf, text + at, len);
	return kipt_patch_log_undo(log, first, TEXT + at, buf, len);
}

static bool was(u64 first, u32 at, u8 byte)
{
	u8 got;

	return read_back(first, at, &got, 1) && got == byte;
}

static bool unknown(u64 first, u32 at)
{
	u8 got;

	return !read_back(first, at, &got, 1);
}

static void patches_are_taken_back(void)
{
	begin(ENTRIES);
	patch(10, 100, 5, 1);
	patch(20, 102, 1, 2);
	patch(30, PAGE - 2, 5, 3);
	check("newest_text_is_memory", was(3, 102, 2));
	check("one_patch_is_taken_back", was(1, 102, 1) && was(1, 101, 1));
	check("all_patches_are_taken_back", was(0, 102, 0x90));
	check("a_patch_across_pages_in_both",
	      was(2, PAGE - 1, 0x90) && was(2, PAGE + 2, 0x90) &&
	      was(3, PAGE + 2, 3) && was(0, PAGE + 3, 0x90));
	check("touches_what_it_changed",
	      kipt_patch_log_touches(log, 0, 3, TEXT + 104, 4) &&
	      kipt_patch_log_touches(log, 2, 3, TEXT + PAGE, 1) &&
	      kipt_patch_log_touches(log, 2, 3, TEXT + PAGE - 20, 19));
	check("touches_nothing_else",
	      !kipt_patch_log_touches(log, 0, 3, TEXT + 105, 4) &&
	      !kipt_patch_log_touches(log, 0, 2, TEXT + PAGE, 1) &&
	      !kipt_patch_log_touches(log, 2, 3, TEXT + 100, 5));
	check("times_find_numbers", kipt_patch_log_at(log, 0, 3, 9) == 0 &&
	      kipt_patch_log_at(log, 0, 3, 10) == 1 &&
	      kipt_patch_log_at(log, 0, 3, 25) == 2 &&
	      kipt_patch_log_at(log, 0, 3, 30) == 3);
}

static void long_ones_are_unknown(void)
{
	begin(ENTRIES);
	patch(10, 200, 2, 1);
	/* Freed BPF programs are filled so; new ones are copied so. */
	kipt_patch_log_add(log, 20, TEXT + 150, PAGE, NULL);
	memset(text + 150, 0xcc, PAGE);
	check("memset_of_live_code_is_unknown_before",
	      unknown(1, 200) && unknown(1, PAGE + 100) && unknown(0, 150));
	check("memset_of_live_code_is_known_after",
	      was(kipt_patch_log_count(log), 200, 0xcc));
	check("code_beside_it_is_known", was(0, 149, 0x90) &&
	      was(0, PAGE + 150, 0x90));
	check("memset_touches",
	      kipt_patch_log_touches(log, 1, 3, TEXT + PAGE + 100, 4));
	kipt_patch_log_add(log, 30, TEXT, 1ULL << 24, NULL);
	check("a_module_that_came_is_unknown_before",
	      unknown(kipt_patch_log_count(log) - 1, 5 * PAGE));
	check("a_module_that_came_is_known_after",
	      was(kipt_patch_log_count(log), 5 * PAGE, 0x90));
}

static void missed_ones_are_unknown(void)
{
	begin(ENTRIES);
	patch(10, 10, 1, 1);
	kipt_patch_log_missed(log);
	patch(30, 20, 1, 2);
	check("before_a_missed_one_all_is_unknown",
	      unknown(0, 5) && unknown(1, 5));
	check("after_it_all_is_known", was(2, 5, 0x90) && was(2, 20, 2));
}

static void what_fell_out_is_unknown(void)
{
	u32 i;

	begin(ENTRIES);
	patch(1, 10, 1, 1);
	for (i = 0; i < ENTRIES; i++)
		patch(10 + i, 2 * PAGE, 1, (u8)i);
	check("fallen_out_is_unknown_in_its_page", unknown(0, 5));
	check("fallen_out_is_known_after", was(1, 10, 1));
	check("fallen_out_counts", kipt_patch_log_lost(log, 0) == 1);
	check("fallen_out_touches",
	      kipt_patch_log_touches(log, 0, 1, TEXT + 5, 1));
	check("fallen_out_time_finds_the_first",
	      kipt_patch_log_at(log, 0, ENTRIES + 1, 5) == 0);
}

/* Texts at each moment, and the log's answers about them. */
static bool random_text_agrees(void)
{
	static u8 history[STEPS + 1][TEXT_BYTES / 16];
	u64 numbers[STEPS + 1];
	u32 i, at, back, tries, known = 0;
	u8 buf[64];

	begin(ENTRIES);
	for (i = 0; i < STEPS; i++) {
		/* Six places of 256 bytes that cross into the next page. */
		for (at = 0; at < PAGES; at++)
			memcpy(history[i] + at * 256,
			       text + at * PAGE + (at == PAGES - 1 ? 0 :
						   PAGE - 128), 256);
		numbers[i] = kipt_patch_log_count(log);
		for (tries = 0; tries < 20; tries++) {
			u32 place = next_random() % PAGES;
			u32 in_place = next_random() % 250;
			u32 len = 1 + next_random() % 6;

			back = i - (i < 40 ? 0 : next_random() % 40);
			at = place * PAGE +
			     (place == PAGES - 1 ? 0 : PAGE - 128) + in_place;
			if (at / PAGE != (at + len - 1) / PAGE)
				len = PAGE - at % PAGE;
			if (!read_back(numbers[back], at, buf, len))
				continue;
			known++;
			if (memcmp(buf, history[back] + place * 256 + in_place,
				   len))
				return false;
		}
		at = next_random() % PAGES;
		at = at * PAGE + (at == PAGES - 1 ? 0 : PAGE - 128) +
		     next_random() % 240;
		patch(i + 1, at, 1 + next_random() % 16, (u8)next_random());
	}
	return known > STEPS * 10;
}

static struct {
	bool stop;
	u64 reads;
	u64 wrong;
} race;

/*
 * A page whose bytes say how often it was patched: each patch sets all of 16
 * bytes to the low bits of its number. Text before n has n - 1 in each.
 */
static void *read_on(void *arg)
{
	u64 first, count;
	u8 buf[16];
	u32 i;

	(void)arg;
	while (!__atomic_load_n(&race.stop, __ATOMIC_ACQUIRE)) {
		count = kipt_patch_log_count(log);
		first = count > 20 ? count - 20 : 0;
		for (i = 0; i < sizeof(buf); i++)
			buf[i] = __atomic_load_n(&text[i], __ATOMIC_ACQUIRE);
		if (!kipt_patch_log_undo(log, first, TEXT, buf, sizeof(buf)))
			continue;
		__atomic_add_fetch(&race.reads, 1, __ATOMIC_RELAXED);
		for (i = 0; i < sizeof(buf); i++)
			race.wrong += first && buf[i] != (u8)(first - 1);
	}
	return NULL;
}

static bool some_reads(void)
{
	return __atomic_load_n(&race.reads, __ATOMIC_RELAXED) >= 1000;
}

static bool reader_beside_writer(u32 entries)
{
	pthread_t reader;
	u32 i, n;

	begin(entries);
	race.stop = false;
	race.reads = 0;
	race.wrong = 0;
	if (pthread_create(&reader, NULL, read_on, NULL))
		return false;
	/* On a busy computer the reader may not run before the writer is done. */
	for (n = 0; n < WRITES_LEAST || (n < WRITES_MOST && !some_reads()); n++) {
		kipt_patch_log_add(log, n, TEXT, 16, text);
		for (i = 0; i < 16; i++)
			__atomic_store_n(&text[i], (u8)n, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&race.stop, true, __ATOMIC_RELEASE);
	pthread_join(reader, NULL);
	printf("# %u entries: %llu reads beside the writer\n", entries,
	       (unsigned long long)race.reads);
	return !race.wrong;
}

/* One log that goes round all the time, and one in which most reads end. */
static bool reader_is_never_overtaken(void)
{
	return reader_beside_writer(32) && reader_beside_writer(1U << 14) &&
	       race.reads;
}

int main(void)
{
	ktap_start();
	patches_are_taken_back();
	long_ones_are_unknown();
	missed_ones_are_unknown();
	what_fell_out_is_unknown();
	check("random_text_is_what_it_was_or_unknown", random_text_agrees());
	check("a_reader_beside_the_writer_is_right_or_is_refused",
	      reader_is_never_overtaken());
	free(log);
	return ktap_end(&ktap);
}
