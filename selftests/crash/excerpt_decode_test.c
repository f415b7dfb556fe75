// SPDX-License-Identifier: GPL-2.0-only
/*
 * How much of a trace is decoded for the log, by a clock that runs as fast as the
 * test wants: a decoder in place of the core's makes records from a trace of one
 * call in each sixteen bytes, each of which takes a tick. What is printed is to end
 * where the machine died, however slow that is. User space.
 */
#include <stdlib.h>
#include <string.h>

#include "../../kmod/decode/flow.h"
#include "../../kmod/crash/excerpt_decode.h"
#include "../decode/ktap.h"

#define TEXT		0xffffffff81000000ULL
#define APART		0x100ULL
#define STEP		16U
#define PSB_EVERY	(8U << 10)
#define SIZE		(1U << 20)
/* Of its end, no more than half is ever decoded. */
#define LARGE		(8U << 20)
#define ROOM		4096U
#define LINES		32U
#define PSB_BYTES	16U
#define FOREVER		(1ULL << 40)

static struct ktap ktap;
static u8 trace[LARGE];
static u32 trace_size;
/* Offset of the call that the machine died at, and of the same one before. */
static u64 died_at, before_at;
static u64 clock_now;

/**
 * struct kipt_flow - the decoder in place of the core's
 * @decode: who takes its records
 * @at: offset of the next
 * @to: where the run ends
 */
struct kipt_flow {
	struct kipt_excerpt_decode *decode;
	u64 at;
	u64 to;
};

static bool is_psb(u64 at)
{
	return at + PSB_BYTES <= trace_size && trace[at] == 2 &&
	       trace[at + 1] == 0x82;
}

static u64 place(u64 at)
{
	return TEXT + at / STEP * APART;
}

/* A call that returns, or the one that did not. */
static bool emit_at(struct kipt_flow *flow, u64 at)
{
	bool died = at == died_at || at == before_at;
	u64 from = died ? TEXT : place(at);
	const struct kipt_record records[] = {
		{ .type = KIPT_RECORD_BRANCH, .kind = KIPT_BRANCH_CALL,
		  .aux = 3, .ip = from, .value = place(at) + 0x40 },
		{ .type = KIPT_RECORD_BRANCH, .kind = KIPT_BRANCH_RET,
		  .aux = 1, .ip = place(at) + 0x50, .value = from + 5 },
	};

	clock_now++;
	return kipt_excerpt_decode_emit(flow->decode, records, 2);
}

enum kipt_status kipt_flow_resume(struct kipt_flow *flow)
{
	u64 at;

	for (; flow->at < flow->to; flow->at += STEP) {
		at = flow->at;
		if (!is_psb(at) && !emit_at(flow, at))
			return KIPT_STOPPED;
	}
	return KIPT_OK;
}

enum kipt_status kipt_flow_run(struct kipt_flow *flow, const u8 *data,
			       u64 size, u64 from, u64 to)
{
	(void)data;
	flow->to = to;
	flow->at = (from + STEP - 1) / STEP * STEP;
	while (flow->at < size && !is_psb(flow->at))
		flow->at += STEP;
	return flow->at < size ? kipt_flow_resume(flow) : KIPT_NO_PSB;
}

static void begins(void *ctx, u64 offset)
{
	(void)ctx;
	if (offset < trace_size && !is_psb(offset))
		abort();
}

static u64 now(void *ctx)
{
	(void)ctx;
	return clock_now;
}

static void make_trace(u32 size)
{
	u32 at, i;

	trace_size = size;
	memset(trace, 0, sizeof(trace));
	for (at = 0; at < size; at += PSB_EVERY)
		for (i = 0; i < PSB_BYTES; i++)
			trace[at + i] = i % 2 ? 0x82 : 2;
	died_at = before_at = 0;
}

/* Address of the call in the newest line. */
static u64 newest(const struct kipt_excerpt_found *found)
{
	const struct kipt_excerpt_lines *list = &found->list;

	return list->count ? list->lines[list->count - 1].site : 0;
}

static struct kipt_excerpt_decode decode;

static struct kipt_excerpt_found *decode_within(u64 ticks)
{
	static struct kipt_excerpt_line *memory;
	static struct kipt_flow flow;

	if (!memory)
		memory = malloc(2 * ROOM * sizeof(*memory));
	flow.decode = &decode;
	decode = (struct kipt_excerpt_decode){
		.flow = &flow,
		.data = trace,
		.size = trace_size,
		.end = { .ip = TEXT, .known = died_at },
		.lines = LINES,
		.begins = begins,
		.now = now,
		.limit = clock_now + ticks,
		.memory = { memory, memory + ROOM },
		.room = ROOM,
	};
	return kipt_excerpt_decode_run(&decode);
}

static bool ends_at_death(const struct kipt_excerpt_found *found)
{
	return decode.last_number && !found->cut &&
	       newest(found) == place(died_at - STEP);
}

static void check(const char *name, bool good)
{
	ktap_result(&ktap, good, "%s", name);
}

static void all_is_decoded_in_time(void)
{
	struct kipt_excerpt_found *found;

	make_trace(SIZE);
	died_at = SIZE - 5 * STEP;
	found = decode_within(FOREVER);
	check("with time enough the text ends at the death",
	      ends_at_death(found) && !found->over);
	check("what came after is counted", decode.insns == 1 + 4 * 4);
	check("lines are as many as wanted", found->list.count >= LINES);
}

static void no_time_costs_the_oldest(void)
{
	struct kipt_excerpt_found *found;
	u64 ticks, least = 2 * (PSB_EVERY / STEP);
	bool good = true;

	make_trace(SIZE);
	died_at = SIZE - 5 * STEP;
	for (ticks = least; ticks < 100 * least; ticks += 61) {
		found = decode_within(ticks);
		good &= ends_at_death(found);
	}
	check("time for what comes after the last PSB is enough", good);
}

static void the_last_death_counts(void)
{
	struct kipt_excerpt_found *found;
	u64 ticks, least;
	bool good = true;

	make_trace(SIZE);
	before_at = SIZE - 3 * PSB_EVERY - 50 * STEP;
	died_at = SIZE - 2 * PSB_EVERY - 50 * STEP;
	/* Twice what comes after the last PSB, and after the third last. */
	least = 2 * (PSB_EVERY + 4 * PSB_EVERY) / STEP;
	for (ticks = least; ticks < 20 * least; ticks += 61) {
		found = decode_within(ticks);
		good &= !decode.last_number || ends_at_death(found);
	}
	check("a place like it before is not taken for it", good);
	check("one far from the end is found", ends_at_death(found));
}

/* Once to find it, at most as long to show it; not once for each try to get there. */
static void a_far_death_costs_its_distance(void)
{
	struct kipt_excerpt_found *found;
	bool good = true;
	u64 parts;

	make_trace(SIZE);
	for (parts = 1; parts < 60; parts += 3) {
		died_at = SIZE - parts * PSB_EVERY + 20 * STEP;
		found = decode_within(2 * parts * PSB_EVERY / STEP);
		good &= ends_at_death(found) &&
			decode.insns == 1 + 4 * ((SIZE - died_at) / STEP - parts);
	}
	check("a death far back is found in the time of decoding twice what comes after it",
	      good);
}

static void little_time_is_reported(void)
{
	struct kipt_excerpt_found *found;

	make_trace(SIZE);
	died_at = SIZE - 5 * STEP;
	found = decode_within(100);
	check("without time for that the text is cut, and says so",
	      !decode.last_number && found->cut && found->over);
	died_at = SIZE - 10 * PSB_EVERY;
	found = decode_within(2 * PSB_EVERY / STEP + 10);
	check("a death that is too far back is not reached in time",
	      !decode.last_number && !found->cut && found->over &&
	      newest(found) == place(SIZE - STEP));
}

static void odd_traces(void)
{
	struct kipt_excerpt_found *found;

	make_trace(0);
	found = decode_within(FOREVER);
	check("an empty trace has no lines", !found->list.count && !found->cut);
	make_trace(PSB_EVERY / 2);
	memset(trace, 0, sizeof(trace));
	found = decode_within(FOREVER);
	check("nor has one without a PSB", !found->list.count && !found->cut);
	make_trace(40 * STEP);
	found = decode_within(FOREVER);
	check("a short one is taken whole, where no end is known",
	      found->list.count == 39 &&
	      newest(found) == place(39 * STEP) && !found->over);
}

static void large_traces(void)
{
	struct kipt_excerpt_found *found;

	make_trace(LARGE);
	died_at = LARGE / 2 + 5 * STEP;
	found = decode_within(FOREVER);
	check("a death four MiB before the end of a trace is found",
	      ends_at_death(found));
	died_at = LARGE / 2 - 5 * STEP;
	found = decode_within(FOREVER);
	check("one further back is not looked for, however much time is left",
	      !decode.last_number && !found->over);
}

int main(void)
{
	ktap_start();
	all_is_decoded_in_time();
	no_time_costs_the_oldest();
	the_last_death_counts();
	a_far_death_costs_its_distance();
	little_time_is_reported();
	odd_traces();
	large_traces();
	return ktap_end(&ktap);
}
