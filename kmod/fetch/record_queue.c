// SPDX-License-Identifier: GPL-2.0-only
/*
 * A row of records, see record_queue.h. Process context, may sleep.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "../lib/memory.h"
#include "record_queue.h"

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
	records = kipt_memory_alloc(bytes_of(room));
	if (!records)
		return -ENOMEM;
	if (queue->records)
		memcpy(records, queue->records, bytes_of(queue->end));
	kipt_memory_free(queue->records, bytes_of(queue->room));
	queue->records = records;
	queue->room = room;
	return 0;
}

int kipt_record_queue_put(struct kipt_record_queue *queue,
			  const struct kipt_record *records, u32 count)
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
