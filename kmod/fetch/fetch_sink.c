// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records on their way from the decoder to a reader: into a queue, from which messages are
 * filled. Tasks are named, and gaps explained, by what the session noted beside the trace.
 * Process context.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "fetch_reader.h"
#include "../lib/memory.h"
#include "../session/session.h"
#include "../watch/sideband.h"
#include "../watch/space_table.h"
#include "../../uapi/linux/kipt.h"

/* Records the flow gives at a time. */
#define GIVEN_MOST	256U

/* A message's worth, and what may come after a pause. */
#define ROOM_LEAST	2560U
/* 240 MiB: no packet makes as much. */
#define ROOM_MOST	(ROOM_LEAST << 12)

static size_t bytes_of(u32 room)
{
	return (size_t)room * sizeof(struct kipt_record);
}

void kipt_record_queue_uninit(struct kipt_record_queue *queue)
{
	kipt_memory_free(queue->records, bytes_of(queue->room));
	*queue = (struct kipt_record_queue){};
}

/* What was taken makes room. */
static void move_down(struct kipt_record_queue *queue)
{
	u32 count = kipt_record_queue_count(queue);

	memmove(queue->records, queue->records + queue->first, bytes_of(count));
	queue->first = 0;
	queue->end = count;
}

static int grow(struct kipt_record_queue *queue, u32 wanted)
{
	u32 room = max(queue->room, ROOM_LEAST);
	struct kipt_record *records;

	while (room < wanted)
		room *= 2;
	if (room > ROOM_MOST)
		return -ENOMEM;
	records = kipt_memory_grow(queue->records, bytes_of(queue->end),
				   bytes_of(queue->room), bytes_of(room));
	if (!records)
		return -ENOMEM;
	queue->records = records;
	queue->room = room;
	return 0;
}

static int queue_put(struct kipt_record_queue *queue, const struct kipt_record *records,
		     u32 count)
{
	int err;

	if (queue->room - queue->end < count && queue->first)
		move_down(queue);
	if (queue->room - queue->end < count) {
		err = grow(queue, queue->end + count);
		if (err)
			return err;
	}
	memcpy(queue->records + queue->end, records, bytes_of(count));
	queue->end += count;
	return 0;
}

const struct kipt_record *
kipt_record_queue_take(struct kipt_record_queue *queue, u32 most, u32 *count)
{
	const struct kipt_record *records = queue->records + queue->first;

	*count = min(most, kipt_record_queue_count(queue));
	queue->first += *count;
	if (queue->first == queue->end) {
		queue->first = 0;
		queue->end = 0;
	}
	return records;
}

void kipt_fetch_put(struct kipt_fetch_reader *reader, const struct kipt_record *records,
		    u32 count)
{
	int err = queue_put(&reader->queue, records, count);

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

	if (space->flags & KIPT_RF_NR)
		known = false;
	else if (space->flags & KIPT_RF_NO_VALUE)
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
		if (!repeats_ring_gap(reader, &record))
			kipt_fetch_put(reader, &record, 1);
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
