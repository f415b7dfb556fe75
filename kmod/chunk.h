/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Between the workers that decode chunks of trace in parallel and the one
 * who delivers their records in order: a queue of chunks, each a queue of
 * batches of records, with a bound on all of them. Process context.
 *
 * A worker whose chunk is not at the head waits when too many batches are
 * queued. The one at the head always gets some, so what is to be delivered
 * next never waits for what comes later.
 */
#ifndef KIPT_CHUNK_H
#define KIPT_CHUNK_H

#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>

#include "../uapi/linux/kipt_record.h"

/* As many as one message carries and still fit, with it, into 16 KiB. */
#define KIPT_BATCH_RECORDS	640

/**
 * struct kipt_batch - some records
 * @node: in the queue of its chunk
 * @count: how many of @records are filled
 * @records: in order
 */
struct kipt_batch {
	struct list_head node;
	u32 count;
	struct kipt_record records[KIPT_BATCH_RECORDS];
};

/**
 * struct kipt_chunk - a piece of one CPU's trace and its records
 * @node: in the queue of chunks
 * @source: index of the CPU within the fetch
 * @from: offset in its trace
 * @to: offset of its end
 * @last: no more chunks of this source follow
 * @batches: decoded, not delivered yet; queue lock
 * @nr_batches: how many; queue lock
 * @done: decoded to the end; queue lock
 */
struct kipt_chunk {
	struct list_head node;
	u32 source;
	u64 from;
	u64 to;
	bool last;
	struct list_head batches;
	u32 nr_batches;
	bool done;
};

/**
 * struct kipt_chunk_queue - chunks in order
 * @lock: guards all
 * @wait: woken at every change
 * @chunks: opened, not dropped yet, in the order of the trace
 * @nr_chunks: how many
 * @max_chunks: how many may be
 * @nr_batches: given out, in use by workers or queued
 * @ended: no chunk will be opened any more
 * @cancelled: nobody waits any more, and nobody gets anything
 */
struct kipt_chunk_queue {
	spinlock_t lock;
	wait_queue_head_t wait;
	struct list_head chunks;
	u32 nr_chunks;
	u32 max_chunks;
	u32 nr_batches;
	bool ended;
	bool cancelled;
};

/**
 * kipt_chunk_queue_init() - an empty queue
 * @queue: the queue
 * @max_chunks: chunks that may be open at a time, at least 1
 */
void kipt_chunk_queue_init(struct kipt_chunk_queue *queue, u32 max_chunks);

/**
 * kipt_chunk_queue_uninit() - free what is left in a queue
 * @queue: nobody uses it any more
 */
void kipt_chunk_queue_uninit(struct kipt_chunk_queue *queue);

/**
 * kipt_chunk_queue_cancel() - make everyone give up
 * @queue: the queue
 */
void kipt_chunk_queue_cancel(struct kipt_chunk_queue *queue);

/**
 * kipt_chunk_queue_end() - no more chunks come
 * @queue: the queue
 */
void kipt_chunk_queue_end(struct kipt_chunk_queue *queue);

/**
 * kipt_chunk_open() - make a chunk, when there is room for one
 * @queue: the queue; one caller at a time
 *
 * Return: the chunk, to be filled in and published by the caller; NULL if
 * cancelled or without memory, which cancels.
 */
struct kipt_chunk *kipt_chunk_open(struct kipt_chunk_queue *queue);

/**
 * kipt_chunk_publish() - add a chunk at the tail of the queue
 * @queue: the queue
 * @chunk: from kipt_chunk_open(), filled in
 */
void kipt_chunk_publish(struct kipt_chunk_queue *queue,
			struct kipt_chunk *chunk);

/**
 * kipt_chunk_batch() - get an empty batch for a chunk, when there is room
 * @queue: the queue
 * @chunk: which is not done
 *
 * Return: the caller's batch; NULL if cancelled or without memory, which
 * cancels.
 */
struct kipt_batch *kipt_chunk_batch(struct kipt_chunk_queue *queue,
				    struct kipt_chunk *chunk);

/**
 * kipt_chunk_push() - hand a batch over
 * @queue: the queue
 * @chunk: the batch is of
 * @batch: no longer the caller's
 */
void kipt_chunk_push(struct kipt_chunk_queue *queue, struct kipt_chunk *chunk,
		     struct kipt_batch *batch);

/**
 * kipt_chunk_done() - all batches of a chunk were pushed
 * @queue: the queue
 * @chunk: no longer the caller's
 */
void kipt_chunk_done(struct kipt_chunk_queue *queue, struct kipt_chunk *chunk);

/**
 * kipt_chunk_head() - wait for the chunk to be delivered next
 * @queue: the queue
 *
 * Return: the chunk, or NULL if all were dropped and no more come, or
 * cancelled.
 */
struct kipt_chunk *kipt_chunk_head(struct kipt_chunk_queue *queue);

/**
 * kipt_chunk_pull() - wait for the next batch of the chunk at the head
 * @queue: the queue
 * @chunk: from kipt_chunk_head()
 *
 * Return: the batch, for kipt_chunk_free_batch(), or NULL if the chunk is
 * done and empty, or cancelled.
 */
struct kipt_batch *kipt_chunk_pull(struct kipt_chunk_queue *queue,
				   struct kipt_chunk *chunk);

/**
 * kipt_chunk_free_batch() - give a batch back
 * @queue: the queue
 * @batch: the caller's
 */
void kipt_chunk_free_batch(struct kipt_chunk_queue *queue,
			   struct kipt_batch *batch);

/**
 * kipt_chunk_drop() - take the chunk at the head off the queue and free it
 * @queue: the queue
 * @chunk: done and empty
 */
void kipt_chunk_drop(struct kipt_chunk_queue *queue, struct kipt_chunk *chunk);

#endif /* KIPT_CHUNK_H */
