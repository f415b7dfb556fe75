// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decoding one trace in all ways, see flow_ways.h. User space.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../../kmod/decode/packet/packet.h"
#include "../../kmod/decode/packet/sync.h"
#include "flow_ways.h"
#include "record_text.h"
#include "sum_cond.h"

/* Records that a cut trace may have and the whole has not: held ones, a gap. */
#define TAIL_RECORDS	9
#define RUNS		4
/* The graph is followed up to so many bytes before the trace's end, and cases are short. */
#define PADS		32

static char sentence[512];

/* NULL if @list is what is wanted; @list is emptied. */
static const char *judge(const char *what, struct record_list *list,
			 const struct record_list *want)
{
	u64 at = record_list_difference(list, want);
	char have[200] = "the end", wanted[200] = "the end";
	bool same = record_list_same(list, want);

	if (!same && at < list->count)
		record_text(&list->record[at], have, sizeof(have));
	if (!same && at < want->count)
		record_text(&want->record[at], wanted, sizeof(wanted));
	record_list_free(list);
	if (same)
		return NULL;
	snprintf(sentence, sizeof(sentence), "%s: record %llu is %s, not %s",
		 what, (unsigned long long)at, have, wanted);
	return sentence;
}

/**
 * struct packet_list - packets of a stretch of bytes
 * @packet: they
 * @count: how many
 * @status: how they end
 */
struct packet_list {
	struct kipt_packet packet[PACKETS_MAX];
	u32 count;
	enum kipt_status status;
};

static void read_on(struct packet_list *list, struct kipt_cursor *cursor)
{
	struct kipt_packet packet;

	for (;;) {
		memset(&packet, 0, sizeof(packet));
		list->status = kipt_packet_next(cursor, &packet);
		if (list->status != KIPT_OK || list->count == PACKETS_MAX)
			return;
		list->packet[list->count++] = packet;
	}
}

/* Bytes come @first at once, then @step at a time: same packets, in the end. */
static bool packets_fed(const struct flow_case *test, u64 first, u64 step,
			const struct packet_list *want)
{
	static struct packet_list have;
	struct kipt_cursor cursor;
	u64 size = first;

	have.count = 0;
	kipt_cursor_init(&cursor, test->packets, size);
	read_on(&have, &cursor);
	while (size < test->size) {
		size = step < test->size - size ? size + step : test->size;
		cursor.end = test->packets + size;
		read_on(&have, &cursor);
	}
	return have.count == want->count && have.status == want->status &&
	       !memcmp(have.packet, want->packet,
		       have.count * sizeof(have.packet[0]));
}

/* A CYC that an OVF cut off and a TMA with a byte too many look like other
 * packets as long as the bytes after them are not there: @at is inside of one.
 */
static bool splits_broken(const struct packet_list *list, u64 at)
{
	u64 offset = 0;
	u32 i;

	for (i = 0; i < list->count && offset < at; i++) {
		if (list->packet[i].flags & KIPT_PF_BROKEN &&
		    at < offset + list->packet[i].len + 2)
			return true;
		offset += list->packet[i].len;
	}
	return false;
}

static const char *packets_split(const struct flow_case *test)
{
	static struct packet_list whole;
	struct kipt_cursor cursor;
	bool any_broken = false;
	u64 at;

	whole.count = 0;
	kipt_cursor_init(&cursor, test->packets, test->size);
	read_on(&whole, &cursor);
	for (at = 1; at < test->size; at++) {
		if (splits_broken(&whole, at)) {
			any_broken = true;
			continue;
		}
		if (packets_fed(test, at, test->size, &whole))
			continue;
		snprintf(sentence, sizeof(sentence),
			 "packets differ if they come up to byte %llu first",
			 (unsigned long long)at);
		return sentence;
	}
	if (!any_broken && !packets_fed(test, 0, 1, &whole))
		return "packets differ if they come byte by byte";
	return NULL;
}

/* Every way to cut the trace in two at a PSB. */
static const char *two_chunks(struct flow_case *test,
			      const struct record_list *whole)
{
	struct record_list parts = { 0 };
	u64 at = kipt_sync_next(test->packets, test->size, 0);
	const char *wrong = NULL;

	while (at < test->size && !wrong) {
		at = kipt_sync_next(test->packets, test->size, at + 16);
		if (at == test->size)
			break;
		flow_case_decode(test, test->config.output, test->size, 0, at,
				 &parts);
		flow_case_decode(test, test->config.output, test->size, at,
				 test->size, &parts);
		wrong = judge("cut in two at a PSB", &parts, whole);
	}
	return wrong;
}

/* PSB by PSB, by one flow that keeps what it knows, or each by its own. */
static const char *all_chunks(struct flow_case *test,
			      const struct record_list *whole, bool keep)
{
	struct record_list parts = { 0 };
	struct kipt_flow *flow = NULL;
	u64 from = 0, to = 0;

	do {
		to = kipt_sync_next(test->packets, test->size, to + 1);
		if (!flow || !keep) {
			if (flow)
				flow_case_close(flow);
			flow = flow_case_open(test, test->config.output,
					      &parts);
		}
		/* What is before the first PSB is a part of its chunk. */
		if (from == 0 && to < test->size &&
		    kipt_sync_next(test->packets, test->size, 0) == to)
			continue;
		flow_case_run(flow, test, test->size, from, to);
		from = to;
	} while (to < test->size);
	flow_case_close(flow);
	return judge(keep ? "PSB by PSB" : "PSB by PSB, each on its own",
		     &parts, whole);
}

/* As a reader does while a CPU still writes: a chunk is decoded once the PSB
 * after its end was seen to end in turn.
 */
static const char *growing(struct flow_case *test,
			   const struct record_list *whole)
{
	struct record_list parts = { 0 };
	struct kipt_flow *flow = flow_case_open(test, test->config.output,
						&parts);
	u64 from = 0, size, to, next;

	for (size = 1; size < test->size; size++) {
		to = kipt_sync_next(test->packets, size, from);
		to = kipt_sync_next(test->packets, size, to + 16);
		next = kipt_sync_next(test->packets, size, to + 16);
		/* A run of 02 82 may go on: the PSB is at its end. */
		if (to >= size || next >= size || next + 17 > size)
			continue;
		flow_case_run(flow, test, size, from, to);
		from = to;
	}
	flow_case_run(flow, test, test->size, from, test->size);
	flow_case_close(flow);
	return judge("as the trace grows", &parts, whole);
}

/* A trace cut off somewhere may differ at its end only. */
static const char *cut_off(struct flow_case *test,
			   const struct record_list *whole)
{
	struct record_list part = { 0 };
	u64 size, different;
	bool good = true;

	for (size = 0; size < test->size && good; size++) {
		flow_case_decode(test, test->config.output, size, 0, size,
				 &part);
		different = record_list_difference(&part, whole);
		good = part.count - different <= TAIL_RECORDS;
		record_list_free(&part);
	}
	snprintf(sentence, sizeof(sentence), "cut off at byte %llu",
		 (unsigned long long)size);
	return good ? NULL : sentence;
}

const char *flow_ways_fed(struct flow_case *test,
			  const struct record_list *whole)
{
	const char *wrong = packets_split(test);

	if (!wrong)
		wrong = two_chunks(test, whole);
	if (!wrong)
		wrong = all_chunks(test, whole, false);
	if (!wrong)
		wrong = all_chunks(test, whole, true);
	if (!wrong)
		wrong = growing(test, whole);
	if (!wrong)
		wrong = cut_off(test, whole);
	return wrong;
}

/* One flow several times: at first it learns, then it knows, then it had to
 * forget.
 */
static const char *several(const char *what, struct flow_case *test,
			   u32 output, const struct record_list *want)
{
	struct record_list list = { 0 }, wanted = { 0 };
	struct kipt_flow *flow = flow_case_open(test, output, &list);
	const char *wrong = NULL;
	u32 run;

	for (run = 0; run < RUNS; run++) {
		if (run == RUNS - 1)
			kipt_flow_forget(flow, 0, 0, ~0ULL);
		flow_case_run(flow, test, test->size, 0, test->size);
		record_list_add(&wanted, want->record, (u32)want->count);
	}
	flow_case_close(flow);
	if (output & KIPT_FLOW_PACKED)
		wrong = record_list_plain(&list);
	if (!wrong)
		wrong = judge(what, &list, &wanted);
	record_list_free(&list);
	record_list_free(&wanted);
	return wrong;
}

static const char *counted(struct flow_case *test, u32 output,
			   struct record_list *want)
{
	struct record_list list = { 0 };
	struct kipt_flow *flow = flow_case_open(test, output, &list);
	u64 i;
	u32 run;

	for (run = 0; run < RUNS; run++)
		flow_case_run(flow, test, test->size, 0, test->size);
	if (kipt_flow_counts(flow) != KIPT_OK)
		return "counts stop";
	flow_case_close(flow);
	record_list_edges(&list);
	record_list_edges(want);
	for (i = 0; i < want->count; i++)
		want->record[i].aux *= RUNS;
	return judge("counts", &list, want);
}

/* INSN records come before the record that counts them. */
static const char *insns_agree(const struct record_list *list)
{
	const struct kipt_record *record;
	u64 insns = 0, i;

	for (i = 0; i < list->count; i++) {
		record = &list->record[i];
		switch (record->type) {
		case KIPT_RECORD_INSN:
			insns++;
			break;
		case KIPT_RECORD_SYNC:
			if (record->kind == KIPT_SYNC_START)
				insns = 0;
			fallthrough;
		case KIPT_RECORD_BRANCH:
		case KIPT_RECORD_DISABLE:
			if (record->aux != insns)
				return "a record does not count the INSN records before it";
			fallthrough;
		case KIPT_RECORD_ENABLE:
		case KIPT_RECORD_GAP:
			insns = 0;
			break;
		default:
			break;
		}
	}
	return NULL;
}

static const char *instructions(struct flow_case *test,
				const struct record_list *branches)
{
	struct record_list list = { 0 };
	const char *wrong;

	flow_case_decode(test, KIPT_FLOW_BRANCHES | KIPT_FLOW_INSNS,
			 test->size, 0, test->size, &list);
	wrong = insns_agree(&list);
	record_list_drop(&list, KIPT_RECORD_INSN);
	if (!wrong)
		wrong = judge("without its instructions", &list, branches);
	record_list_free(&list);
	return wrong;
}

/* Only sums of conditional branches: all other records are the same. */
static const char *summed_up(struct flow_case *test, u32 output)
{
	struct record_list list = { 0 }, want = { 0 }, once = { 0 };
	struct kipt_flow *flow = flow_case_open(test, output | KIPT_FLOW_NO_COND, &list);
	struct kipt_flow_sums sums, made;
	const char *wrong;
	u32 run;

	flow_case_decode(test, KIPT_FLOW_BRANCHES | KIPT_FLOW_NO_MEMO, test->size, 0,
			 test->size, &once);
	once.count = sum_cond(once.record, (u32)once.count, &sums);
	for (run = 0; run < RUNS; run++) {
		flow_case_run(flow, test, test->size, 0, test->size);
		record_list_add(&want, once.record, (u32)once.count);
	}
	made = kipt_flow_sums(flow);
	flow_case_close(flow);
	wrong = judge("without conditional branches", &list, &want);
	if (!wrong && (made.branches != RUNS * sums.branches || made.insns != RUNS * sums.insns))
		wrong = "the sums of conditional branches are others";
	record_list_free(&list);
	record_list_free(&want);
	record_list_free(&once);
	return wrong;
}

/* Without TIME records, which come before others that may be left out. */
static const char *other_outputs(struct flow_case *test)
{
	u32 plain = KIPT_FLOW_BRANCHES | KIPT_FLOW_NO_MEMO;
	struct record_list list = { 0 };
	const char *wrong;

	flow_case_decode(test, plain, test->size, 0, test->size, &list);
	wrong = instructions(test, &list);
	record_list_calls(&list);
	if (!wrong)
		wrong = several("calls", test, KIPT_FLOW_CALLS, &list);
	if (!wrong)
		wrong = several("packed calls", test,
				KIPT_FLOW_CALLS | KIPT_FLOW_PACKED, &list);
	record_list_free(&list);
	flow_case_decode(test, plain, test->size, 0, test->size, &list);
	if (!wrong)
		wrong = counted(test, KIPT_FLOW_COUNTS, &list);
	record_list_free(&list);
	flow_case_decode(test, plain, test->size, 0, test->size, &list);
	if (!wrong)
		wrong = counted(test, KIPT_FLOW_COUNTS | KIPT_FLOW_NO_MEMO,
				&list);
	record_list_free(&list);
	if (!wrong)
		wrong = summed_up(test, KIPT_FLOW_BRANCHES);
	if (!wrong)
		wrong = summed_up(test, KIPT_FLOW_BRANCHES | KIPT_FLOW_NO_MEMO);
	return wrong;
}

/* Twice by one flow, and what it counted. */
static void decode_twice(struct flow_case *test, u32 output,
			 struct record_list *list)
{
	struct kipt_flow *flow = flow_case_open(test, output, list);

	flow_case_run(flow, test, test->size, 0, test->size);
	flow_case_run(flow, test, test->size, 0, test->size);
	kipt_flow_counts(flow);
	flow_case_close(flow);
}

/*
 * With a pause after each packet, in every output, packed too. And with one after
 * each block that uses no packet, amid the outcomes of a TNT.
 */
static const char *paused(struct flow_case *test, u32 output)
{
	struct record_list list = { 0 }, want = { 0 };
	const char *wrong;

	decode_twice(test, output, &want);
	test->config.slice = 1;
	decode_twice(test, output, &list);
	test->config.slice = 0;
	wrong = judge("with a pause after each packet", &list, &want);
	test->config.step_slice = 1;
	decode_twice(test, output, &list);
	test->config.step_slice = 0;
	if (!wrong)
		wrong = judge("with a pause after each block", &list, &want);
	record_list_free(&list);
	record_list_free(&want);
	return wrong;
}

static const char *all_paused(struct flow_case *test)
{
	u32 own = test->config.output;
	const u32 outputs[] = {
		own, own | KIPT_FLOW_NO_MEMO,
		own & ~KIPT_FLOW_INSNS ? own | KIPT_FLOW_PACKED : own,
		KIPT_FLOW_CALLS, KIPT_FLOW_CALLS | KIPT_FLOW_PACKED,
		KIPT_FLOW_COUNTS, KIPT_FLOW_COUNTS | KIPT_FLOW_NO_MEMO,
		KIPT_FLOW_BRANCHES | KIPT_FLOW_INSNS | KIPT_FLOW_TIME,
		KIPT_FLOW_PACKED | KIPT_FLOW_TIME,
	};
	const char *wrong = NULL;
	u32 i;

	for (i = 0; i < sizeof(outputs) / sizeof(outputs[0]) && !wrong; i++)
		wrong = paused(test, outputs[i]);
	return wrong;
}

/* Once more with PADs at the end, which make no difference but that the graph is followed. */
static const char *padded(struct flow_case *test, const struct record_list *whole)
{
	u32 output = test->config.output & ~(KIPT_FLOW_INSNS | KIPT_FLOW_NO_MEMO);
	const struct kipt_record *last = whole->count ? &whole->record[whole->count - 1] : NULL;
	struct record_list list = { 0 };
	const char *wrong = NULL;

	if (test->size + PADS > PACKETS_MAX ||
	    (last && last->type == KIPT_RECORD_GAP && last->kind == KIPT_GAP_TRUNCATED))
		return NULL;
	memset(test->packets + test->size, 0, PADS);
	test->size += PADS;
	if (output == test->config.output) {
		wrong = several("again, with PADs at the end", test, output, whole);
		if (!wrong)
			wrong = several("packed, with PADs at the end", test,
					output | KIPT_FLOW_PACKED, whole);
	}
	flow_case_decode(test, KIPT_FLOW_BRANCHES | KIPT_FLOW_NO_MEMO, test->size, 0,
			 test->size, &list);
	if (!wrong)
		wrong = counted(test, KIPT_FLOW_COUNTS, &list);
	record_list_free(&list);
	test->size -= PADS;
	return wrong;
}

const char *flow_ways_outputs(struct flow_case *test,
			      const struct record_list *whole)
{
	u32 output = test->config.output;
	const char *wrong;

	wrong = several("again", test, output, whole);
	if (!wrong)
		wrong = several("without the memo", test,
				output | KIPT_FLOW_NO_MEMO, whole);
	if (!wrong && !(output & KIPT_FLOW_INSNS))
		wrong = several("packed", test, output | KIPT_FLOW_PACKED,
				whole);
	if (!wrong)
		wrong = other_outputs(test);
	if (!wrong)
		wrong = padded(test, whole);
	if (!wrong)
		wrong = all_paused(test);
	return wrong;
}
