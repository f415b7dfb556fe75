/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records that were made and not taken yet: a row that grows. Usually it
 * holds what one message does and a bit more; a packet that makes more than
 * that finds room too. Owns its memory, which is charged. Process context, one
 * user at a time.
 */
#ifndef KIPT_RECORD_QUEUE_H
#define KIPT_RECORD_QUEUE_H

#include <linux/types.h>

#include "../../uapi/linux/kipt_record.h"

/**
 * struct kipt_record_queue - the records; all zero: none
 * @records: memory of @room of them
 * @first: the next to be taken
 * @end: after the last
 * @room: see @records
 */
struct kipt_record_queue {
	struct kipt_record *records;
	u32 first;
	u32 end;
	u32 room;
};

/**
 * kipt_record_queue_uninit() - free what it holds
 * @queue: empty afterwards
 */
void kipt_record_queue_uninit(struct kipt_record_queue *queue);

/**
 * kipt_record_queue_put() - append records
 * @queue: the queue
 * @records: copied
 * @count: how many
 *
 * Return: 0, or -ENOMEM, and nothing was appended.
 */
int kipt_record_queue_put(struct kipt_record_queue *queue,
			  const struct kipt_record *records, u32 count);

/**
 * kipt_record_queue_count() - how many there are
 * @queue: the queue
 *
 * Return: records that were put and not taken.
 */
static inline u32 kipt_record_queue_count(const struct kipt_record_queue *queue)
{
	return queue->end - queue->first;
}

/**
 * kipt_record_queue_take() - take records out
 * @queue: the queue
 * @most: at most so many
 * @count: how many they are
 *
 * Return: the records, valid until the next put.
 */
const struct kipt_record *
kipt_record_queue_take(struct kipt_record_queue *queue, u32 most, u32 *count);

#endif /* KIPT_RECORD_QUEUE_H */
