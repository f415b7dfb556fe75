// SPDX-License-Identifier: GPL-2.0-only
/*
 * How much of a trace is decoded, see excerpt_decode.h. Any context.
 */
#include "decode/flow.h"
#include "decode/sync.h"
#include "excerpt_decode.h"

/* What is decoded behind the part after the last PSB, then so many times more. */
#define WINDOW_FIRST	(16ULL << 10)
#define WINDOW_TIMES	4
#define WINDOW_MOST	(4ULL << 20)
#define RECORDS_MOST	(16ULL << 20)
/* A PSB is looked for in so many bytes. */
#define PSB_LOOKS	(64U << 10)

static bool is_over(struct kipt_excerpt_decode *decode)
{
	if ((s64)(decode->now(decode->ctx) - decode->limit) > 0 ||
	    decode->number > RECORDS_MOST)
		decode->over = true;
	return decode->over;
}

static void search(struct kipt_excerpt_decode *decode,
		   const struct kipt_record *record)
{
	struct kipt_excerpt_found *found = &decode->found[decode->at];

	if (kipt_excerpt_ends(&decode->end, record)) {
		found->last = *record;
		decode->last_number = decode->number;
		found->insns = 0;
	} else {
		found->insns += kipt_excerpt_insns(record);
	}
}

bool kipt_excerpt_decode_emit(void *ctx, const struct kipt_record *records,
			      u32 n)
{
	struct kipt_excerpt_decode *decode = ctx;
	u32 i;

	for (i = 0; i < n; i++) {
		decode->number++;
		if (decode->searching) {
			search(decode, &records[i]);
			continue;
		}
		if (decode->number == decode->last_number)
			return false;
		kipt_excerpt_lines_add(&decode->found[decode->at].list,
				       &records[i]);
	}
	return !is_over(decode);
}

static void run(struct kipt_excerpt_decode *decode, u64 from)
{
	enum kipt_status status;

	decode->number = 0;
	if (!decode->size)
		return;
	status = kipt_flow_run(decode->flow, decode->data, decode->size, from,
			       decode->size);
	while (status == KIPT_PAUSED && !is_over(decode))
		status = kipt_flow_resume(decode->flow);
}

static void tell_time_is_up(struct kipt_excerpt_lines *list)
{
	static const struct kipt_record gap = {
		.type = KIPT_RECORD_GAP,
		.kind = KIPT_GAP_STOPPED,
		.flags = KIPT_RF_NO_IP,
	};

	kipt_excerpt_lines_add(list, &gap);
}

static struct kipt_excerpt_found *
decode_from(struct kipt_excerpt_decode *decode, u64 from)
{
	struct kipt_excerpt_found *found = &decode->found[decode->at];

	memset(found, 0, sizeof(*found));
	decode->last_number = 0;
	decode->searching = true;
	run(decode, from);
	/* There may be a later one. */
	if (decode->over)
		decode->last_number = 0;
	found->ends = decode->last_number;
	decode->searching = false;
	kipt_excerpt_lines_init(&found->list, decode->memory[decode->at],
				decode->room);
	run(decode, from);
	found->cut = decode->over;
	if (decode->over && found->ends)
		tell_time_is_up(&found->list);
	return found;
}

/* The next part takes that many times as long as this one did. */
static bool is_time_for_next(const struct kipt_excerpt_decode *decode,
			     u64 begin)
{
	u64 now = decode->now(decode->ctx);

	return !decode->over &&
	       (s64)(decode->limit - now) >
	       (s64)((now - begin) * (WINDOW_TIMES + 1));
}

/* Bytes from the last PSB on, or what is decoded first if none is near. */
static u64 smallest_window(const struct kipt_excerpt_decode *decode)
{
	u64 psb = kipt_sync_before(decode->data, decode->size, PSB_LOOKS);

	return psb < decode->size ? decode->size - psb : WINDOW_FIRST;
}

static u64 next_window(u64 window)
{
	return window < WINDOW_FIRST ? WINDOW_FIRST : window * WINDOW_TIMES;
}

/* Is there more to be had, further back? */
static bool is_more_wanted(const struct kipt_excerpt_decode *decode, u64 window)
{
	const struct kipt_excerpt_found *found = &decode->found[decode->at];

	if (window >= decode->size || window >= WINDOW_MOST)
		return false;
	return (decode->end.known && !found->ends) ||
	       found->list.count < decode->lines;
}

struct kipt_excerpt_found *
kipt_excerpt_decode_run(struct kipt_excerpt_decode *decode)
{
	struct kipt_excerpt_found *found, *whole = NULL;
	u64 window = smallest_window(decode), begin;

	decode->at = 0;
	decode->over = false;
	for (;; window = next_window(window)) {
		begin = decode->now(decode->ctx);
		found = decode_from(decode, window < decode->size ?
				    decode->size - window : 0);
		if (decode->over)
			break;
		if (!is_more_wanted(decode, window))
			return found;
		whole = found;
		if (!is_time_for_next(decode, begin))
			break;
		decode->at ^= 1;
	}
	if (whole)
		found = whole;
	found->over = true;
	return found;
}
