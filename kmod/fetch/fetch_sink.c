// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records on their way from the decoder to a reader, see fetch_sink.h. Tasks are named, and
 * gaps explained, by what the session noted beside the trace. Process context.
 */
#include "fetch_sink.h"
#include "../session/session.h"
#include "../watch/sideband.h"
#include "../watch/space_table.h"
#include "../../uapi/linux/kipt.h"

/* Records the flow gives at a time. */
#define GIVEN_MOST	256U

void kipt_fetch_put(struct kipt_fetch_reader *reader,
		const struct kipt_record *records, u32 count)
{
	int err = kipt_record_queue_put(&reader->queue, records, count);

	if (err)
		reader->err = err;
}

void kipt_fetch_put_gap(struct kipt_fetch_reader *reader, u8 kind, u64 value)
{
	struct kipt_record gap = {
		.type = KIPT_RECORD_GAP,
		.kind = kind,
		.flags = KIPT_RF_NO_IP,
		.value = value,
	};

	kipt_fetch_put(reader, &gap, 1);
}

/* Types the decoder's records of which are looked at; all others pass. */
#define LOOKED_AT	(1U << KIPT_RECORD_GAP | 1U << KIPT_RECORD_SYNC | \
			 1U << KIPT_RECORD_CONTEXT | 1U << KIPT_RECORD_TIME | \
			 1U << KIPT_RECORD_CBR | 1U << KIPT_RECORD_SPACE)

/*
 * A ring that was written round starts inside a packet, so its first bytes are
 * never decoded; the RING gap before them says it already.
 */
static bool repeats_ring_gap(const struct kipt_fetch_reader *reader,
			     const struct kipt_record *gap)
{
	return reader->ring_begins && gap->kind == KIPT_GAP_DECODE &&
	       gap->aux == KIPT_NO_PSB;
}

/*
 * Past code that changed the decoder does not know who called, so RETs up to
 * the next PSB fail for the same reason.
 */
static void see_gap(struct kipt_fetch_reader *reader, struct kipt_record *gap)
{
	if (repeats_ring_gap(reader, gap))
		return;
	if (gap->kind == KIPT_GAP_CODE_CHANGED)
		reader->changed = true;
	else if (gap->kind == KIPT_GAP_DECODE && gap->aux == KIPT_BAD_RET &&
		 reader->changed)
		gap->kind = KIPT_GAP_CODE_CHANGED;
	kipt_fetch_put(reader, gap, 1);
}

static void see_task(struct kipt_fetch_reader *reader,
		     const struct kipt_record *record)
{
	struct kipt_record task;

	if (kipt_task_merge_see(&reader->merge, record, &task))
		kipt_fetch_put(reader, &task, 1);
}

bool kipt_fetch_wants_time(const struct kipt_fetch_reader *reader)
{
	return reader->fetch->output & KIPT_OUTPUT_TIME;
}

static void see_space(struct kipt_fetch_reader *reader,
		      struct kipt_record *space)
{
	struct kipt_fetch *fetch = reader->fetch;
	struct kipt_space who = { 0 };
	bool known;

	if (space->flags & KIPT_RF_NO_VALUE)
		known = reader->unnamed &&
			kipt_spaces_who(kipt_sideband_spaces(fetch->session->group.sideband),
					reader->unnamed, &who);
	else if (!space->value)
		known = true;
	else
		known = kipt_code_bytes_who(fetch->bytes, space->value, &who);
	space->flags &= ~KIPT_RF_NO_VALUE;
	if (!known)
		space->flags |= KIPT_RF_NO_VALUE;
	space->value = who.name;
	space->aux = who.tgid;
	kipt_fetch_put(reader, space, 1);
}

static void see(struct kipt_fetch_reader *reader,
		const struct kipt_record *given)
{
	struct kipt_record record = *given;

	switch (record.type) {
	case KIPT_RECORD_GAP:
		see_gap(reader, &record);
		break;
	case KIPT_RECORD_SPACE:
		see_space(reader, &record);
		break;
	case KIPT_RECORD_SYNC:
		reader->ring_begins = false;
		kipt_fetch_put(reader, &record, 1);
		break;
	case KIPT_RECORD_CONTEXT:
		kipt_fetch_put(reader, &record, 1);
		see_task(reader, &record);
		break;
	default:
		if (kipt_fetch_wants_time(reader))
			kipt_fetch_put(reader, &record, 1);
		see_task(reader, &record);
		break;
	}
}

bool kipt_fetch_is_enough(const struct kipt_fetch_reader *reader)
{
	u32 count = kipt_record_queue_count(&reader->queue);

	return count && count + GIVEN_MOST > reader->enough;
}

bool kipt_fetch_emit(void *ctx, const struct kipt_record *records, u32 n)
{
	struct kipt_fetch_reader *reader = ctx;
	u32 from = 0, i;

	for (i = 0; i < n; i++) {
		if (!(LOOKED_AT >> records[i].type & 1))
			continue;
		if (i > from)
			kipt_fetch_put(reader, records + from, i - from);
		see(reader, &records[i]);
		from = i + 1;
	}
	if (n > from)
		kipt_fetch_put(reader, records + from, n - from);
	if (kipt_fetch_is_enough(reader))
		kipt_flow_pause(reader->flow);
	return !reader->err;
}
