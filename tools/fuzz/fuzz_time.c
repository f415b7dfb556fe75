// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer target: what a trace can cost at most. Counted are blocks walked, never
 * time. A byte says who decodes, then come runs, bytes and how often they are in a
 * row: of code, then of packets. What costs more than anything before is kept; what
 * costs more than docs/speed.md says ("At worst") is a finding. At the end it prints
 * the most.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../../kmod/decode/state/flow_state.h"

#define READERS		3
#define CODE_MAX	(256U << 10)
#define TRACE_MAX	8192U
#define ARENA_MAX	(9U << 20)
#define USER_IP		0x401000ULL
/* No input is decoded further than that. */
#define WORK_MAX	(1U << 20)
/* Of a run of code: the last four bytes are where to, from USER_IP. */
#define RUN_TO		0x80
#define RUN_LEN		0x0f
/* Counters of a measure: four for each power of two. */
#define LEVELS		128

static const u8 psb_plus[] = {
	0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82,
	0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82,
	0x99, 0x01, 0x5d, 0x00, 0x10, 0x40, 0x00, 0x02, 0x23,
};

/* A TNT: the limit is looked at where the blocks of its last outcome are a power of two. A
 * FUP is walked to on trial, then once more.
 */
#define PACKET(limit)	(2 * (limit) + 1024)
#define BYTE(limit)	((limit) + (limit) / 2 + 1024)
#define PAUSE(slice, limit) ((slice) + PACKET(limit))

/* What is measured: blocks walked. */
enum measure {
	PER_PAUSE,
	PER_PACKET,
	PER_BYTE,
	MEASURES,
};

/**
 * struct reader - who decodes
 * @name: in words
 * @config: what it has
 * @bounds: of what is measured
 */
static const struct reader {
	const char *name;
	struct kipt_flow_config config;
	u32 bounds[MEASURES];
} readers[READERS] = {
	{ "module", { .output = KIPT_FLOW_PACKED, .memory = 8 << 20,
		      .slice = 16 << 10, .step_slice = 16 << 10 },
	  { PAUSE(16 << 10, KIPT_FLOW_STEPS), PACKET(KIPT_FLOW_STEPS),
	    BYTE(KIPT_FLOW_STEPS) } },
	{ "counts", { .output = KIPT_FLOW_COUNTS, .memory = 8 << 20,
		      .slice = 16 << 10, .step_slice = 16 << 10 },
	  { PAUSE(16 << 10, KIPT_FLOW_STEPS), PACKET(KIPT_FLOW_STEPS),
	    BYTE(KIPT_FLOW_STEPS) } },
	{ "excerpt", { .output = KIPT_FLOW_BRANCHES | KIPT_FLOW_NO_MEMO,
		       .memory = 512 << 10, .slice = 4 << 10, .step_slice = 2048,
		       .step_limit = 8192 },
	  { PAUSE(2048, 8192), PACKET(8192), BYTE(8192) } },
};

static u8 code[CODE_MAX], trace[TRACE_MAX];
static u32 code_size, trace_size;
static u32 most[READERS][MEASURES];
static u64 arena[ARENA_MAX / sizeof(u64)] __attribute__((aligned(64)));

__attribute__((section("__libfuzzer_extra_counters")))
static u8 levels[READERS][MEASURES][LEVELS];

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static u32 read_code(void *ctx, u64 space, u64 ip, u8 *buf, u32 len)
{
	u64 at = ip - USER_IP;

	(void)ctx;
	(void)space;
	if (at >= code_size)
		return 0;
	if (len > code_size - at)
		len = (u32)(code_size - at);
	memcpy(buf, code + at, len);
	return len;
}

static bool take_none(void *ctx, const struct kipt_record *records, u32 n)
{
	(void)ctx;
	(void)records;
	(void)n;
	return true;
}

/* @run of code ends at @at: what it says of where to becomes a displacement. */
static void tie(u8 *at)
{
	u32 to;

	memcpy(&to, at - 4, sizeof(to));
	to = to % CODE_MAX - (u32)(at - code);
	memcpy(at - 4, &to, sizeof(to));
}

/* Runs: how many times, 16 bits; how many bytes; they. Returns what is after those of
 * code, which end with one of no bytes.
 */
static size_t expand(const u8 *data, size_t size, u8 *to, u32 max, u32 *used, bool ties)
{
	size_t at = 0, len;
	u32 times;

	for (*used = 0; at + 3 <= size; at += len) {
		times = 1U + data[at] + ((u32)data[at + 1] << 8);
		len = data[at + 2] & RUN_LEN;
		at += 3;
		if (!len || len > size - at)
			break;
		for (; times && *used + len <= max; times--) {
			memcpy(to + *used, data + at, len);
			*used += (u32)len;
			if (ties && data[at - 1] & RUN_TO && len > 4)
				tie(to + *used);
		}
	}
	return at;
}

static void note(u32 who, enum measure what, u32 steps)
{
	u32 bits = steps ? 31 - (u32)__builtin_clz(steps) : 0, level;

	level = 4 * bits + (bits > 2 ? steps >> (bits - 2) & 3 : 0);
	memset(levels[who][what], 1, level);
	if (steps > most[who][what])
		most[who][what] = steps;
	if (steps > readers[who].bounds[what]) {
		fprintf(stderr, "%s: %u steps (measure %u)\n", readers[who].name, steps, what);
		abort();
	}
}

/* The most blocks between two pauses go to @what; what is said of packets needs slices of
 * one packet. */
static void decode(u32 who, const struct kipt_flow_config *config, enum measure what)
{
	struct kipt_code from = { .read = read_code };
	struct kipt_sink sink = { .emit = take_none };
	struct kipt_flow *flow = kipt_flow_init(arena, sizeof(arena), config, &from, &sink);
	const u8 *begin = trace + sizeof(psb_plus);
	enum kipt_status status;
	u32 before = 0;

	status = kipt_flow_run(flow, trace, trace_size, 0, trace_size);
	for (;;) {
		note(who, what, flow->walk.steps - before);
		before = flow->walk.steps;
		if (status != KIPT_PAUSED || before > WORK_MAX)
			break;
		status = kipt_flow_resume(flow);
	}
	if (what == PER_PACKET && flow->input.cursor.pos > begin)
		note(who, PER_BYTE, before / (u32)(flow->input.cursor.pos - begin));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kipt_flow_config config;
	size_t at;
	u32 who;

	if (size < 1)
		return 0;
	who = data[0] % READERS;
	at = 1 + expand(data + 1, size - 1, code, CODE_MAX, &code_size, true);
	memcpy(trace, psb_plus, sizeof(psb_plus));
	expand(data + at, size - at, trace + sizeof(psb_plus),
	       TRACE_MAX - (u32)sizeof(psb_plus), &trace_size, false);
	trace_size += (u32)sizeof(psb_plus);
	config = readers[who].config;
	decode(who, &config, PER_PAUSE);
	config.slice = 1;
	config.step_slice = 0;
	decode(who, &config, PER_PACKET);
	return 0;
}

__attribute__((destructor)) static void print_most(void)
{
	u32 who;

	for (who = 0; who < READERS; who++)
		printf("time: %s: at most %u blocks between pauses, %u a packet, %u a byte\n",
		       readers[who].name, most[who][PER_PAUSE], most[who][PER_PACKET],
		       most[who][PER_BYTE]);
}
