// SPDX-License-Identifier: GPL-2.0-only
/*
 * Traces that repeat one stretch of packets many times, with MTCs between any two
 * packets of it, and with addresses that look like the first byte of one. All
 * outputs must be what they are without the memo. User space.
 */
#include "flow_ways.h"
#include "ktap.h"
#include "random_below.h"

#define TRACES		24
#define TARGETS		12
#define STEPS		24
#define TIMES		40
#define START		0x401000U
/* Where a TIP ends with 20, which is a TNT too; no conditional branch there. */
#define PLAIN		0x402010U
/* Where one ends with 59, as an MTC begins; 59 04 would be one. After it the TNTs
 * 04 and 20 are outcomes of five conditional branches.
 */
#define ALIKE		0x405910U
#define ALIKE_BRANCHES	5U

/**
 * struct stretch - what the trace repeats
 * @ip: where each TIP leads
 * @tnt: the packet before it, 0: none
 */
struct stretch {
	u32 ip[STEPS];
	u8 tnt[STEPS];
};

static struct flow_case test;

static void put(const void *bytes, u32 len)
{
	memcpy(test.packets + test.size, bytes, len);
	test.size += len;
}

/* Conditional branches, then an indirect jump. */
static void put_code(u32 ip, u32 branches)
{
	struct piece *piece = &test.pieces[test.piece_count++];
	u32 i;

	piece->ip = ip;
	piece->len = 2 * branches + 2;
	for (i = 0; i < branches; i++)
		piece->bytes[2 * i] = 0x74;
	piece->bytes[2 * branches] = 0xff;
	piece->bytes[2 * branches + 1] = 0xe0;
}

static void make_code(void)
{
	u32 i;

	put_code(START, 0);
	put_code(PLAIN, 0);
	put_code(ALIKE, ALIKE_BRANCHES);
	for (i = 0; i < TARGETS; i++)
		put_code(START + 0x100 + i * 0x100, random_below(6));
}

/* Outcomes of the conditional branches of a piece. */
static u8 make_tnt(const struct piece *piece)
{
	u32 branches = piece->len / 2 - 1;

	return branches ? (u8)(2U << branches |
			       random_below(1U << branches) << 1) : 0;
}

/* It ends at START, where the first TIP comes. */
static void make_stretch(struct stretch *stretch)
{
	const struct piece *at = &test.pieces[0];
	u32 i;

	for (i = 0; i < STEPS; i++) {
		stretch->tnt[i] = make_tnt(at);
		at = &test.pieces[random_below(4) ?
				  3 + random_below(TARGETS) : 1];
		stretch->ip[i] = i == STEPS - 1 ? START : (u32)at->ip;
	}
}

/* Sometimes an MTC. */
static void put_time(u32 one_in)
{
	static u8 count;

	if (!random_below(one_in))
		put((u8[]){ 0x59, count++ }, 2);
}

/* Sometimes it leads to ALIKE instead of PLAIN, and from there on like it. */
static void put_tip(u32 ip, u32 one_in)
{
	static const u8 alike[] = { 0x2d, 0x10, 0x59, 0x04, 0x20 };

	if (ip == PLAIN && !random_below(one_in))
		put(alike, sizeof(alike));
	else
		put((u8[]){ 0x2d, (u8)ip, (u8)(ip >> 8) }, 3);
}

static void put_stretch(const struct stretch *stretch, u32 one_in)
{
	u32 i;

	for (i = 0; i < STEPS; i++) {
		put_time(one_in);
		if (stretch->tnt[i])
			put(&stretch->tnt[i], 1);
		put_time(one_in);
		put_tip(stretch->ip[i], one_in);
	}
}

static void put_psb(void)
{
	static const u8 psb[] = {
		0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82,
		0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82,
		/* TSC, TMA, CBR, MODE.Exec, FUP, PSBEND */
		0x19, 0x00, 0x00, 0x10, 0x00, 0x00, 0x00, 0x00,
		0x02, 0x73, 0x08, 0x03, 0x00, 0x10, 0x00,
		0x02, 0x03, 0x20, 0x00,
		0x99, 0x01, 0x5d, 0x00, 0x10, 0x40, 0x00, 0x02, 0x23,
	};

	put(psb, sizeof(psb));
}

/* MTCs come once in a stretch or seldom. @memory: of the flow, or 0. */
static void make_trace(u64 memory)
{
	struct stretch stretch;
	u32 i;

	memset(&test, 0, sizeof(test));
	test.config = (struct kipt_flow_config){
		.output = KIPT_FLOW_BRANCHES | KIPT_FLOW_TIME,
		.tsc_num = 3, .tsc_den = 1, .mtc_freq = 8,
		.max_nonturbo_ratio = 16, .memory = memory,
	};
	make_code();
	make_stretch(&stretch);
	put_psb();
	for (i = 0; i < TIMES; i++)
		put_stretch(&stretch, 20 + random_below(200));
}

static bool is_decoded(const struct record_list *whole)
{
	u32 gaps = 0, times = 0;
	u64 i;

	for (i = 0; i < whole->count; i++) {
		gaps += whole->record[i].type == KIPT_RECORD_GAP;
		times += whole->record[i].type == KIPT_RECORD_TIME;
	}
	if (!gaps && times)
		return true;
	printf("# %u gaps, %u times\n", gaps, times);
	return false;
}

static bool trace_is_right(u64 memory)
{
	struct record_list whole = { 0 };
	const char *wrong;
	bool good;

	make_trace(memory);
	flow_case_decode(&test, test.config.output | KIPT_FLOW_NO_MEMO,
			 test.size, 0, test.size, &whole);
	good = is_decoded(&whole);
	wrong = flow_ways_outputs(&test, &whole);
	if (wrong)
		printf("# %s\n", wrong);
	record_list_free(&whole);
	return good && !wrong;
}

int main(void)
{
	struct ktap ktap = { 0 };
	u32 i;

	ktap_start();
	for (i = 0; i < TRACES; i++)
		ktap_result(&ktap, trace_is_right(0),
			    "a stretch with MTCs in it, trace %u", i);
	for (i = 0; i < TRACES; i++)
		ktap_result(&ktap, trace_is_right(KIPT_FLOW_MEMORY_MIN),
			    "little memory, trace %u", i);
	return ktap_end(&ktap);
}
