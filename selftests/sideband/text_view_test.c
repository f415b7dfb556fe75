// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compares the text that a view shows for stretches of trace with a copy of the
 * text at each moment: what the view is sure of was there however late a patch
 * reached the CPU, what it is not sure of was patched around that time, and what
 * the view does not make the decoder forget is what the decoder would read now.
 * The numbers are the same in each run. User space, with the log of patches.
 */
#include <stdlib.h>

#include "../../kmod/shared/patch_log.h"
#include "../../kmod/shared/text_view.h"
#include "../decode/ktap.h"
#include "../decode/random_below.h"

#define ENTRIES		256U
#define TEXT		0xffffffff81000000ULL
#define TEXT_BYTES	8192U
#define SLACK		50U
#define UNSURE		0x100
/* Of random text. */
#define PATCHES		200U
#define TEXT_LOOKED	512U
#define GAP_MOST	(8 * SLACK)
#define STRETCHES	500U

static struct ktap ktap;
static struct kipt_patch_log *log;
static struct kipt_text_view view;
static u8 text[TEXT_BYTES];

/**
 * struct decoder - what would decode
 * @knows: what it read of each byte, or UNSURE; -1: it has to read it
 * @calls: calls of kipt_flow_forget()
 * @bytes: how many bytes these calls named, also those that it did not know
 * @all: a call named all addresses
 * @wrong: a call named another flow, an address space, or no range
 */
static struct decoder {
	int knows[TEXT_BYTES];
	u32 calls;
	u64 bytes;
	bool all;
	bool wrong;
} decoder;

/* A view only hands it on. */
#define FLOW	((struct kipt_flow *)&decoder)

void kipt_flow_forget(struct kipt_flow *flow, u64 space, u64 begin, u64 end)
{
	u64 at;

	decoder.wrong |= flow != FLOW || space || begin >= end;
	decoder.calls++;
	decoder.bytes += end - begin;
	decoder.all |= !begin && end == ~0ULL;
	for (at = 0; at < TEXT_BYTES; at++)
		if (TEXT + at >= begin && TEXT + at < end)
			decoder.knows[at] = -1;
}

static void check(const char *name, bool good)
{
	ktap_result(&ktap, good && !decoder.wrong, "text_view_%s", name);
	decoder.wrong = false;
}

static void begin(void)
{
	free(log);
	log = kipt_patch_log_init(calloc(1, kipt_patch_log_size(ENTRIES)),
				  ENTRIES, 0);
	memset(text, 0x90, sizeof(text));
}

static void patch(u64 tsc, u32 at, u32 len, u8 with)
{
	kipt_patch_log_add(log, tsc, TEXT + at, len, text + at);
	memset(text + at, with, len);
}

/* Of all patches there are. */
static void see_all(void)
{
	kipt_text_view_init(&view, log, 0, kipt_patch_log_count(log), SLACK);
}

/* Begin a stretch, with no calls counted yet. */
static void at(u64 first, u64 last)
{
	decoder.calls = 0;
	decoder.bytes = 0;
	decoder.all = false;
	kipt_text_view_at(&view, FLOW, first, last);
}

static bool sure(u32 at)
{
	return kipt_text_view_sure(&view, TEXT + at, 1) == 1;
}

/* What is read of a byte in the stretch: as what reads code does it. */
static int reads(u32 at)
{
	u8 byte = text[at];

	if (!sure(at))
		return UNSURE;
	return kipt_patch_log_undo(log, view.at, TEXT + at, &byte, 1) ? byte :
								       UNSURE;
}

/* Three places, patched at 100, 200 and 300. */
static void three_patches(void)
{
	begin();
	patch(100, 0x100, 5, 1);
	patch(200, 0x800, 5, 2);
	patch(300, 0x1100, 5, 3);
	see_all();
}

static bool sure_are(bool first, bool second, bool third)
{
	return sure(0x102) == first && sure(0x802) == second &&
	       sure(0x1102) == third && sure(0x400);
}

static bool texts_are(int first, int second, int third)
{
	return reads(0x102) == first && reads(0x802) == second &&
	       reads(0x1102) == third && reads(0x400) == 0x90;
}

static void stretches_have_their_text(void)
{
	three_patches();
	check("before_a_first_stretch_text_is_as_at_the_end",
	      texts_are(1, 2, 3));
	at(10, 20);
	check("before_all_patches", texts_are(0x90, 0x90, 0x90));
	at(160, 170);
	check("between_two_patches", texts_are(1, 0x90, 0x90));
	at(400, 500);
	check("after_all_patches", texts_are(1, 2, 3));
	at(40, 60);
	check("back_to_the_begin", texts_are(0x90, 0x90, 0x90));
}

static void text_patched_just_then_is_unsure(void)
{
	three_patches();
	at(160, 250);
	check("patched_in_the_stretch", sure_are(true, false, true));
	at(160, 200);
	check("patched_at_its_end", sure_are(true, false, true));
	at(160, 199);
	check("patched_right_after_its_end", sure_are(true, true, true));
	at(60, 350);
	check("all_patched_in_the_stretch", sure_are(false, false, false));
}

/* A patch takes a while to come to all CPUs. */
static void text_patched_shortly_before_is_unsure(void)
{
	three_patches();
	at(100, 101);
	check("patched_at_its_begin", sure_are(false, true, true));
	at(149, 150);
	check("patched_less_than_the_slack_before",
	      sure_are(false, true, true));
	at(150, 160);
	check("patched_the_slack_before", sure_are(true, true, true));
	begin();
	patch(10, 0x100, 5, 1);
	see_all();
	at(SLACK, SLACK + 1);
	check("patched_when_the_clock_began", !sure(0x102));
}

static void unknown_times_are_unsure(void)
{
	three_patches();
	at(0, 250);
	check("without_a_begin", sure_are(false, false, false));
	at(260, ~0ULL);
	check("without_an_end", sure_are(true, true, false));
	at(0, ~0ULL);
	check("without_both", sure_are(false, false, false));
	at(260, 90);
	check("an_end_that_the_log_does_not_know", sure_are(true, true, false));
}

/* Each range around a patch, and one that has two of them. */
static void sure_ends_at_the_first_that_is_not(void)
{
	u32 from, len, want;
	bool good = true;

	begin();
	patch(100, 40, 3, 1);
	patch(101, 60, 1, 2);
	see_all();
	at(100, 110);
	for (from = 0; from < 80; from++) {
		for (len = 1; len < 64; len++) {
			for (want = 0; want < len && sure(from + want); want++)
				;
			good &= kipt_text_view_sure(&view, TEXT + from, len) ==
				want;
		}
	}
	check("sure_ends_at_the_first_that_is_not", good && sure(39) &&
	      !sure(40) && !sure(42) && sure(43) && !sure(60));
}

static void decoder_forgets_what_is_different(void)
{
	three_patches();
	at(10, 20);
	check("forgets_patches_that_are_taken_back", decoder.bytes == 15);
	at(10, 20);
	check("forgets_nothing_for_the_same_stretch", !decoder.calls);
	at(160, 170);
	check("forgets_patches_that_are_made", decoder.bytes == 5 &&
	      !decoder.all);
	at(160, 250);
	check("forgets_what_is_unsure_now", decoder.bytes == 5);
	at(160, 250);
	check("forgets_nothing_where_the_same_is_unsure", !decoder.calls);
	at(160, 170);
	check("forgets_that_it_was_unsure", decoder.bytes == 5);
}

/* Ranges of this many patches are not looked up one by one. */
static void many_patches_are_forgotten_at_once(void)
{
	u32 i;

	begin();
	for (i = 0; i < 64; i++)
		patch(100 + i, 8 * i, 2, 1);
	see_all();
	at(10, 20);
	check("forgets_each_of_64", decoder.bytes == 128 && !decoder.all);
	patch(300, 0x1000, 2, 1);
	see_all();
	at(10, 20);
	check("forgets_all_for_65", decoder.all && decoder.calls == 1);
	begin();
	for (i = 0; i < ENTRIES + 3; i++)
		patch(100 + i, 8 * (i % 16), 2, 1);
	kipt_text_view_init(&view, log, 0, 5, SLACK);
	at(10, 20);
	check("forgets_all_for_one_that_fell_out", decoder.all);
}

static void without_patches_nothing_is_looked_up(void)
{
	three_patches();
	kipt_text_view_init(&view, NULL, 3, 3, SLACK);
	at(10, 20);
	check("without_patches_nothing_is_looked_up",
	      !decoder.calls && sure_are(true, true, true));
}

/**
 * struct version - text from one patch to the next
 * @tsc: when the patch was made
 * @at: its first byte
 * @len: its bytes
 * @text: the text after the patch
 */
static struct version {
	u64 tsc;
	u32 at;
	u32 len;
	u8 text[TEXT_LOOKED];
} versions[PATCHES + 1];

static void random_patches(void)
{
	u64 tsc = 1000;
	u32 i;

	begin();
	memcpy(versions[0].text, text, sizeof(versions[0].text));
	for (i = 1; i <= PATCHES; i++) {
		tsc += next_random() % GAP_MOST;
		versions[i].tsc = tsc;
		versions[i].at = next_random() % (TEXT_LOOKED - 8);
		versions[i].len = 1 + next_random() % 8;
		patch(tsc, versions[i].at, versions[i].len, (u8)next_random());
		memcpy(versions[i].text, text, sizeof(versions[i].text));
	}
	see_all();
}

/* Whether a CPU may have seen a version in the stretch. */
static bool was_there(u32 i, u64 first, u64 last)
{
	return versions[i].tsc <= last &&
	       (i == PATCHES || versions[i + 1].tsc + SLACK > first);
}

/* Whether a patch of a byte may have reached a CPU in the stretch. */
static bool was_patched(u32 at, u64 first, u64 last)
{
	u32 i;

	for (i = 1; i <= PATCHES; i++)
		if (versions[i].tsc + SLACK > first &&
		    versions[i].tsc <= last && at >= versions[i].at &&
		    at - versions[i].at < versions[i].len)
			return true;
	return false;
}

static bool byte_is_right(u32 at, u64 first, u64 last)
{
	int read = reads(at);
	u32 i;

	if (was_patched(at, first, last))
		return read == UNSURE;
	for (i = 0; i <= PATCHES; i++)
		if (was_there(i, first, last) && read != versions[i].text[at])
			return false;
	return true;
}

/* Reads a byte now and then, and else trusts what it knows. */
static bool stretch_is_right(u64 first, u64 last)
{
	bool right = true;
	u32 byte;

	at(first, last);
	for (byte = 0; byte < TEXT_LOOKED; byte++) {
		right &= byte_is_right(byte, first, last);
		if (decoder.knows[byte] < 0 && next_random() % 4)
			decoder.knows[byte] = reads(byte);
		right &= decoder.knows[byte] < 0 ||
			 decoder.knows[byte] == reads(byte);
	}
	return right;
}

static void random_stretches(void)
{
	u64 most = 1100 + PATCHES * GAP_MOST / 2, first;
	u32 i, unsure = 0, known = 0;
	bool right = true;

	random_patches();
	for (i = 0; i < TEXT_BYTES; i++)
		decoder.knows[i] = -1;
	for (i = 0; i < STRETCHES; i++) {
		first = 900 + next_random() % (most - 900);
		right &= stretch_is_right(first, first + next_random() % 80);
		unsure += view.near < view.unsure;
		known += view.near == view.unsure;
	}
	printf("# %u stretches with patches around, %u without\n", unsure,
	       known);
	check("random_stretches_are_what_was_there_or_unsure",
	      right && unsure > STRETCHES / 10 && known > STRETCHES / 10);
}

int main(void)
{
	ktap_start();
	stretches_have_their_text();
	text_patched_just_then_is_unsure();
	text_patched_shortly_before_is_unsure();
	unknown_times_are_unsure();
	sure_ends_at_the_first_that_is_not();
	decoder_forgets_what_is_different();
	many_patches_are_forgotten_at_once();
	without_patches_nothing_is_looked_up();
	random_stretches();
	free(log);
	return ktap_end(&ktap);
}
