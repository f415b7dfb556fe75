// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records in the order of their chunks, see reorder.h.
 *
 * One thread at a time has the turn: whoever has chunk number head. Its records
 * go straight to the sink. Records of later chunks are kept in batches in the
 * chunk's slot. Who ends the chunk at the head gives away what later chunks
 * have ready, up to the first that is not done: its thread has the turn from
 * there on, and gives away first what it kept. Who has the turn never waits for
 * anything, so that there is always somebody who gets on.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "reorder.h"

#define BATCH_RECORDS		4096
/* 96 KiB each: what the other threads may be ahead of the sink. */
#define BATCHES_PER_WORKER	160
#define CHUNKS_PER_WORKER	4

struct batch {
	struct batch *next;
	u32 count;
	struct kipt_record records[BATCH_RECORDS];
};

/* A chunk that was begun and is not given away: the lists are its thread's
 * until it is done, then of who has the turn. @begun: number of the chunk and
 * one; @begun and @done: order->lock.
 */
struct slot {
	struct batch *first, *last;
	u32 owner;
	u64 begun;
	bool done;
};

/* One thread's own. @turn: it has the turn, and kept nothing. */
struct worker {
	u64 chunk;
	bool turn;
};

struct order {
	u32 count;
	bool dictionaries;
	bool finish;
	/* @sink and @dictionary are of who has the turn. */
	struct kipt_sink sink;
	u32 dictionary;
	atomic_bool stopped;
	/* Written under @lock; read without it, to see if it is one's turn. */
	atomic_ullong head;

	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* Below: @lock. */
	u32 waiting;
	u32 batches;
	struct batch *unused;

	struct worker *workers;
	struct slot slots[];
};

static struct slot *slot_of(struct order *order, u64 chunk)
{
	return &order->slots[chunk % (order->count * CHUNKS_PER_WORKER)];
}

/* With the lock held. */
static void wait_change(struct order *order)
{
	order->waiting++;
	pthread_cond_wait(&order->changed, &order->lock);
	order->waiting--;
}

/* With the lock held. */
static void tell_change(struct order *order)
{
	if (order->waiting)
		pthread_cond_broadcast(&order->changed);
}

void order_stop(struct order *order)
{
	pthread_mutex_lock(&order->lock);
	order->stopped = true;
	tell_change(order);
	pthread_mutex_unlock(&order->lock);
}

bool order_stopped(const struct order *order)
{
	return order->stopped;
}

/* Records for which nobody waits any more. */
static bool unwanted(const struct order *order)
{
	return order->stopped && !order->finish;
}

/* Only who has the turn. */
static void give(struct order *order, const struct kipt_record *records, u32 n)
{
	if (!unwanted(order) && !order->sink.emit(order->sink.ctx, records, n))
		order_stop(order);
}

/* Records of worker @owner. Only who has the turn. */
static void give_of(struct order *order, u32 owner,
		    const struct kipt_record *records, u32 n)
{
	struct kipt_record record = {
		.type = KIPT_RECORD_DICTIONARY,
		.flags = KIPT_RF_NO_IP,
		.aux = owner,
	};

	if (order->dictionary != owner && order->dictionaries)
		give(order, &record, 1);
	order->dictionary = owner;
	give(order, records, n);
}

static void batch_put(struct order *order, struct batch *batch)
{
	pthread_mutex_lock(&order->lock);
	batch->next = order->unused;
	order->unused = batch;
	tell_change(order);
	pthread_mutex_unlock(&order->lock);
}

/* With the lock held; NULL: none now. The last used is the likeliest to be in
 * the CPU's cache.
 */
static struct batch *batch_find(struct order *order)
{
	struct batch *batch = order->unused;

	if (batch) {
		order->unused = batch->next;
		return batch;
	}
	if (order->batches >= order->count * BATCHES_PER_WORKER)
		return NULL;
	batch = malloc(sizeof(*batch));
	if (batch)
		order->batches++;
	return batch;
}

/* Wait for a batch. NULL: there is no need for one any more, since the turn
 * has come or the records are unwanted. The turn comes to everybody, so this
 * ends even if there is no memory for a single batch.
 */
static struct batch *batch_get(struct order *order, u64 chunk)
{
	struct batch *batch = NULL;

	pthread_mutex_lock(&order->lock);
	while (order->head != chunk && !unwanted(order)) {
		batch = batch_find(order);
		if (batch)
			break;
		wait_change(order);
	}
	pthread_mutex_unlock(&order->lock);
	if (batch) {
		batch->count = 0;
		batch->next = NULL;
	}
	return batch;
}

/* Give away what is kept in a slot. Only who has the turn. */
static void slot_drain(struct order *order, struct slot *slot)
{
	struct batch *batch;

	while ((batch = slot->first)) {
		slot->first = batch->next;
		give_of(order, slot->owner, batch->records, batch->count);
		batch_put(order, batch);
	}
	slot->last = NULL;
}

static void slot_append(struct slot *slot, struct batch *batch)
{
	if (slot->last)
		slot->last->next = batch;
	else
		slot->first = batch;
	slot->last = batch;
}

/* Keep records, all or as many as there is need for; returns how many. */
static u32 slot_keep(struct order *order, u64 chunk,
		     const struct kipt_record *records, u32 n)
{
	struct slot *slot = slot_of(order, chunk);
	struct batch *batch = slot->last;
	u32 done = 0, part;

	while (done < n) {
		if (!batch || batch->count == BATCH_RECORDS) {
			batch = batch_get(order, chunk);
			if (!batch)
				return done;
			slot_append(slot, batch);
		}
		part = BATCH_RECORDS - batch->count;
		if (part > n - done)
			part = n - done;
		memcpy(batch->records + batch->count, records + done,
		       part * sizeof(*records));
		batch->count += part;
		done += part;
	}
	return done;
}

static bool turn_have(struct order *order, struct worker *worker)
{
	if (!worker->turn && order->head == worker->chunk) {
		worker->turn = true;
		slot_drain(order, slot_of(order, worker->chunk));
	}
	return worker->turn;
}

bool order_take(struct order *order, u32 number,
		const struct kipt_record *records, u32 n)
{
	struct worker *worker = &order->workers[number];
	u32 kept = 0;

	if (!turn_have(order, worker))
		kept = slot_keep(order, worker->chunk, records, n);
	if (kept < n && turn_have(order, worker))
		give_of(order, number, records + kept, n - kept);
	return !unwanted(order);
}

bool order_begin(struct order *order, u32 number, u64 chunk)
{
	struct worker *worker = &order->workers[number];
	struct slot *slot;
	bool begun;

	pthread_mutex_lock(&order->lock);
	while (!order->stopped &&
	       chunk - order->head >= order->count * CHUNKS_PER_WORKER)
		wait_change(order);
	begun = !order->stopped;
	if (begun) {
		worker->chunk = chunk;
		worker->turn = false;
		slot = slot_of(order, chunk);
		slot->owner = number;
		slot->begun = chunk + 1;
		slot->done = false;
	}
	pthread_mutex_unlock(&order->lock);
	return begun;
}

/* The chunk at the head is given away. Returns the slot of the next one if it
 * is done, else NULL: its thread has the turn, or whoever begins it.
 */
static struct slot *head_move(struct order *order)
{
	struct slot *slot;

	pthread_mutex_lock(&order->lock);
	order->head++;
	slot = slot_of(order, order->head);
	if (slot->begun != order->head + 1 || !slot->done)
		slot = NULL;
	tell_change(order);
	pthread_mutex_unlock(&order->lock);
	return slot;
}

void order_end(struct order *order, u32 number)
{
	u64 chunk = order->workers[number].chunk;
	struct slot *slot = slot_of(order, chunk);
	bool mine;

	pthread_mutex_lock(&order->lock);
	slot->done = true;
	mine = order->head == chunk;
	pthread_mutex_unlock(&order->lock);
	for (; mine && slot; slot = head_move(order))
		slot_drain(order, slot);
}

void order_last(struct order *order, u32 worker)
{
	order->workers[worker].turn = true;
}

void order_forget(struct order *order)
{
	order->dictionary = 0;
}

/* A run that was stopped may leave records after a chunk nobody began. */
static void slot_clear(struct order *order, struct slot *slot)
{
	struct batch *batch;

	while ((batch = slot->first)) {
		slot->first = batch->next;
		batch_put(order, batch);
	}
	slot->last = NULL;
	slot->begun = 0;
}

void order_start(struct order *order, const struct kipt_sink *sink)
{
	u32 i;

	order->sink = *sink;
	order->stopped = false;
	order->head = 0;
	for (i = 0; i < order->count * CHUNKS_PER_WORKER; i++)
		slot_clear(order, &order->slots[i]);
}

struct order *order_create(u32 workers, bool dictionaries, bool finish)
{
	struct order *order = calloc(1, sizeof(*order) +
				     workers * CHUNKS_PER_WORKER *
				     sizeof(order->slots[0]));

	if (!order)
		return NULL;
	order->workers = calloc(workers, sizeof(*order->workers));
	if (!order->workers) {
		free(order);
		return NULL;
	}
	pthread_mutex_init(&order->lock, NULL);
	pthread_cond_init(&order->changed, NULL);
	order->count = workers;
	order->dictionaries = dictionaries;
	order->finish = finish;
	return order;
}

static void batches_free(struct batch *batch)
{
	struct batch *next;

	for (; batch; batch = next) {
		next = batch->next;
		free(batch);
	}
}

void order_destroy(struct order *order)
{
	u32 i;

	if (!order)
		return;
	/* Slots of chunks that never had their turn. */
	for (i = 0; i < order->count * CHUNKS_PER_WORKER; i++)
		batches_free(order->slots[i].first);
	batches_free(order->unused);
	pthread_cond_destroy(&order->changed);
	pthread_mutex_destroy(&order->lock);
	free(order->workers);
	free(order);
}
