// SPDX-License-Identifier: GPL-2.0-only
/*
 * How much of a trace is decoded, see excerpt_decode.h. Any context.
 */
#include "../decode/flow.h"
#include "../decode/packet/sync.h"
#include "excerpt_decode.h"

/* What is decoded before the end, then so many times more. */
#define WINDOW_FIRST	(16ULL << 10)
#define WINDOW_TIMES	4
/* Nothing further back is looked at. */
#define WINDOW_MOST	(4ULL << 20)
#define RECORDS_MOST	(16ULL << 20)

static bool is_over(struct kipt_excerpt_decode *decode)
{
	if ((s64)(decode->now(decode->ctx) - decode->until) > 0 ||
	    decode->total > RECORDS_MOST)
		decode->over = true;
	return decode->over;
}

static void search(struct kipt_excerpt_decode *decode,
		   const struct kipt_record *record)
{
	if (kipt_excerpt_ends(&decode->end, record)) {
		decode->last = *record;
		decode->last_number = decode->number;
		decode->insns = 0;
	} else if (kipt_record_counts_insns(record)) {
		decode->insns += record->aux;
	}
}

bool kipt_excerpt_decode_emit(void *ctx, const struct kipt_record *records,
			      u32 n)
{
	struct kipt_excerpt_decode *decode = ctx;
	u32 i;

	decode->total += n;
	for (i = 0; i < n; i++) {
		decode->number++;
		if (decode->searching) {
			search(decode, &records[i]);
			continue;
		}
		if (decode->stop_at && decode->number == decode->stop_at)
			return false;
		kipt_excerpt_lines_add(&decode->found[decode->at].list,
				       &records[i]);
	}
	return !is_over(decode);
}

static void run(struct kipt_excerpt_decode *decode, u64 from, u64 to)
{
	enum kipt_status status;

	decode->number = 0;
	decode->begins(decode->ctx, kipt_sync_next(decode->data, to, from));
	status = kipt_flow_run(decode->flow, decode->data, decode->size, from,
			       to);
	while (status == KIPT_PAUSED && !is_over(decode))
		status = kipt_flow_resume(decode->flow);
}

/* Return: the PSB where the part that ends at @to begins; @to: there is none. */
static u64 part_before(const struct kipt_excerpt_decode *decode, u64 to)
{
	u64 passed = decode->size - to;

	return passed < WINDOW_MOST ?
	       kipt_sync_before(decode->data, to, WINDOW_MOST - passed) : to;
}

/*
 * From the last part of the trace backwards. The first in which something looks
 * like the end has it, its last such place: later parts were looked at before.
 */
static bool find_end(struct kipt_excerpt_decode *decode)
{
	u64 later = 0, to = decode->size, from;

	decode->searching = true;
	decode->last_number = 0;
	for (; to && !decode->over; to = from) {
		from = part_before(decode, to);
		if (from == to)
			break;
		decode->insns = 0;
		run(decode, from, to);
		/* There may be another, later in this part. */
		if (decode->over || !decode->last_number) {
			later += decode->insns;
			continue;
		}
		decode->insns += later;
		decode->part = from;
		decode->part_end = to;
		break;
	}
	decode->searching = false;
	if (decode->over)
		decode->last_number = 0;
	return decode->last_number;
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

/* The lines of what there is from @from to the end. */
static struct kipt_excerpt_found *
decode_from(struct kipt_excerpt_decode *decode, u64 from)
{
	struct kipt_excerpt_found *found = &decode->found[decode->at];

	memset(found, 0, sizeof(*found));
	kipt_excerpt_lines_init(&found->list, decode->memory[decode->at],
				decode->room);
	decode->stop_at = 0;
	if (from < decode->part)
		run(decode, from, decode->part);
	decode->stop_at = decode->last_number;
	if (decode->part < decode->size && !decode->over)
		run(decode, decode->part, decode->part_end);
	found->cut = decode->over;
	if (decode->over && decode->last_number)
		tell_time_is_up(&found->list);
	return found;
}

/* More takes that many times as long as this did. */
static bool is_time_for_more(const struct kipt_excerpt_decode *decode,
			     u64 begin)
{
	u64 now = decode->now(decode->ctx);

	return (s64)(decode->limit - now) >
	       (s64)((now - begin) * (WINDOW_TIMES + 1));
}

static u64 next_window(u64 window)
{
	return window < WINDOW_FIRST ? WINDOW_FIRST : window * WINDOW_TIMES;
}

/* As many lines as are wanted, if they are there and time is left. */
static struct kipt_excerpt_found *fill_lines(struct kipt_excerpt_decode *decode)
{
	u64 window = decode->part_end - decode->part, begin;
	struct kipt_excerpt_found *found, *whole = NULL;

	for (;; window = next_window(window)) {
		begin = decode->now(decode->ctx);
		found = decode_from(decode, window < decode->part_end ?
				    decode->part_end - window : 0);
		if (decode->over)
			break;
		if (window >= decode->part_end || window >= WINDOW_MOST ||
		    found->list.count >= decode->lines)
			return found;
		whole = found;
		if (!is_time_for_more(decode, begin))
			break;
		decode->at ^= 1;
	}
	if (whole)
		found = whole;
	found->over = true;
	return found;
}

struct kipt_excerpt_found *
kipt_excerpt_decode_run(struct kipt_excerpt_decode *decode)
{
	u64 begin = decode->now(decode->ctx);
	struct kipt_excerpt_found *found;
	bool over = false;

	decode->at = 0;
	decode->over = false;
	decode->total = 0;
	decode->part_end = decode->size;
	decode->part = part_before(decode, decode->size);
	decode->last_number = 0;
	/* What was found in half of the time is decoded once more in the other. */
	decode->until = begin + (decode->limit - begin) / 2;
	if (decode->end.known && !find_end(decode))
		over = decode->over;
	decode->over = false;
	decode->total = 0;
	decode->until = decode->limit;
	found = fill_lines(decode);
	found->over |= over;
	return found;
}
