// SPDX-License-Identifier: GPL-2.0-only
/*
 * The queue between decoding and delivery. Knows neither the decoder nor
 * netlink. Process context; waits are idle, since a slow receiver may keep
 * them waiting for long.
 */
#include <linux/sched.h>
#include <linux/slab.h>

#include "chunk.h"

/* 16 MiB of records, whatever the trace is. */
#define BATCHES_MAX	1024
/* What the chunk at the head may queue when the others used that up. */
#define BATCHES_HEAD	16

void kipt_chunk_queue_init(struct kipt_chunk_queue *queue, u32 max_chunks)
{
	spin_lock_init(&queue->lock);
	init_waitqueue_head(&queue->wait);
	INIT_LIST_HEAD(&queue->chunks);
	queue->max_chunks = max_chunks;
}

static void free_chunk(struct kipt_chunk *chunk)
{
	struct kipt_batch *batch, *next;

	list_for_each_entry_safe(batch, next, &chunk->batches, node)
		kfree(batch);
	kfree(chunk);
}

void kipt_chunk_queue_uninit(struct kipt_chunk_queue *queue)
{
	struct kipt_chunk *chunk, *next;

	list_for_each_entry_safe(chunk, next, &queue->chunks, node)
		free_chunk(chunk);
	INIT_LIST_HEAD(&queue->chunks);
}

static void set_flag(struct kipt_chunk_queue *queue, bool *flag)
{
	spin_lock(&queue->lock);
	WRITE_ONCE(*flag, true);
	spin_unlock(&queue->lock);
	wake_up_all(&queue->wait);
}

void kipt_chunk_queue_cancel(struct kipt_chunk_queue *queue)
{
	set_flag(queue, &queue->cancelled);
}

void kipt_chunk_queue_end(struct kipt_chunk_queue *queue)
{
	set_flag(queue, &queue->ended);
}

struct kipt_chunk *kipt_chunk_open(struct kipt_chunk_queue *queue)
{
	struct kipt_chunk *chunk;

	wait_event_idle(queue->wait,
			READ_ONCE(queue->cancelled) ||
			READ_ONCE(queue->nr_chunks) < queue->max_chunks);
	if (READ_ONCE(queue->cancelled))
		return NULL;
	chunk = kzalloc(sizeof(*chunk), GFP_KERNEL);
	if (!chunk) {
		kipt_chunk_queue_cancel(queue);
		return NULL;
	}
	INIT_LIST_HEAD(&chunk->batches);
	return chunk;
}

void kipt_chunk_publish(struct kipt_chunk_queue *queue,
			struct kipt_chunk *chunk)
{
	spin_lock(&queue->lock);
	list_add_tail(&chunk->node, &queue->chunks);
	queue->nr_chunks++;
	spin_unlock(&queue->lock);
	wake_up_all(&queue->wait);
}

static bool take_batch(struct kipt_chunk_queue *queue,
		       struct kipt_chunk *chunk)
{
	bool head, taken;

	spin_lock(&queue->lock);
	head = list_first_entry(&queue->chunks, struct kipt_chunk, node) ==
	       chunk;
	taken = queue->nr_batches < BATCHES_MAX ||
		(head && chunk->nr_batches < BATCHES_HEAD);
	if (taken)
		queue->nr_batches++;
	spin_unlock(&queue->lock);
	return taken;
}

struct kipt_batch *kipt_chunk_batch(struct kipt_chunk_queue *queue,
				    struct kipt_chunk *chunk)
{
	struct kipt_batch *batch;
	bool taken = false;

	wait_event_idle(queue->wait, READ_ONCE(queue->cancelled) ||
			(taken = take_batch(queue, chunk)));
	if (!taken)
		return NULL;
	batch = kmalloc(sizeof(*batch), GFP_KERNEL);
	if (!batch) {
		kipt_chunk_queue_cancel(queue);
		return NULL;
	}
	batch->count = 0;
	return batch;
}

void kipt_chunk_push(struct kipt_chunk_queue *queue, struct kipt_chunk *chunk,
		     struct kipt_batch *batch)
{
	spin_lock(&queue->lock);
	list_add_tail(&batch->node, &chunk->batches);
	chunk->nr_batches++;
	spin_unlock(&queue->lock);
	wake_up_all(&queue->wait);
}

void kipt_chunk_done(struct kipt_chunk_queue *queue, struct kipt_chunk *chunk)
{
	set_flag(queue, &chunk->done);
}

static bool poll_head(struct kipt_chunk_queue *queue,
		      struct kipt_chunk **chunk)
{
	bool settled;

	spin_lock(&queue->lock);
	*chunk = queue->cancelled ? NULL :
		 list_first_entry_or_null(&queue->chunks, struct kipt_chunk,
					  node);
	settled = *chunk || queue->ended || queue->cancelled;
	spin_unlock(&queue->lock);
	return settled;
}

struct kipt_chunk *kipt_chunk_head(struct kipt_chunk_queue *queue)
{
	struct kipt_chunk *chunk;

	wait_event_idle(queue->wait, poll_head(queue, &chunk));
	return chunk;
}

static bool poll_batch(struct kipt_chunk_queue *queue,
		       struct kipt_chunk *chunk, struct kipt_batch **batch)
{
	bool settled;

	spin_lock(&queue->lock);
	*batch = queue->cancelled ? NULL :
		 list_first_entry_or_null(&chunk->batches, struct kipt_batch,
					  node);
	settled = *batch || chunk->done || queue->cancelled;
	if (*batch) {
		list_del(&(*batch)->node);
		chunk->nr_batches--;
	}
	spin_unlock(&queue->lock);
	return settled;
}

struct kipt_batch *kipt_chunk_pull(struct kipt_chunk_queue *queue,
				   struct kipt_chunk *chunk)
{
	struct kipt_batch *batch;

	wait_event_idle(queue->wait, poll_batch(queue, chunk, &batch));
	return batch;
}

void kipt_chunk_free_batch(struct kipt_chunk_queue *queue,
			   struct kipt_batch *batch)
{
	kfree(batch);
	spin_lock(&queue->lock);
	queue->nr_batches--;
	spin_unlock(&queue->lock);
	wake_up_all(&queue->wait);
}

void kipt_chunk_drop(struct kipt_chunk_queue *queue, struct kipt_chunk *chunk)
{
	spin_lock(&queue->lock);
	list_del(&chunk->node);
	queue->nr_chunks--;
	spin_unlock(&queue->lock);
	free_chunk(chunk);
	wake_up_all(&queue->wait);
}
