/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records of chunks that several threads get at the same time, given away in
 * the order of the chunks. Knows neither where chunks come from nor what the
 * records say.
 */
#ifndef KIPT_REORDER_H
#define KIPT_REORDER_H

#include "../../../kmod/decode/flow.h"

struct order;

/**
 * order_create() - make an order
 * @workers: threads, 1 or more, numbered from 0
 * @dictionaries: say by DICTIONARY records whose nodes follow
 * @finish: records are given away although nobody wants more
 *
 * Return: the caller's until order_destroy(); NULL without memory.
 */
struct order *order_create(u32 workers, bool dictionaries, bool finish);

/**
 * order_destroy() - free it
 * @order: no thread uses it; may be NULL
 */
void order_destroy(struct order *order);

/**
 * order_start() - begin with chunk 0
 * @order: no thread uses it
 * @sink: gets the records; called from several threads, but never from two at
 *	once, and what one call wrote the next one sees. If it returns false
 *	nothing more is given to it, unless that is to be finished
 */
void order_start(struct order *order, const struct kipt_sink *sink);

/**
 * order_begin() - a worker has a chunk
 * @order: the order
 * @worker: it had none
 * @chunk: number of the chunk; no other worker ever has it, and someone has
 *	each lower one
 *
 * Waits while @chunk is too far ahead of what was given away.
 *
 * Return: false if nobody wants more.
 */
bool order_begin(struct order *order, u32 worker, u64 chunk);

/**
 * order_take() - records of the chunk a worker has
 * @order: the order
 * @worker: began a chunk
 * @records: copied, or given away
 * @n: how many
 *
 * Records that wait for their turn have a bound, 15 MiB for each thread; who
 * has more waits.
 *
 * Return: false if nobody wants them.
 */
bool order_take(struct order *order, u32 worker,
		const struct kipt_record *records, u32 n);

/**
 * order_end() - the chunk of a worker is complete
 * @order: the order
 * @worker: began a chunk, and has none afterwards
 */
void order_end(struct order *order, u32 worker);

/**
 * order_last() - what a worker takes from now on comes after all chunks
 * @order: all chunks ended, no other thread uses it
 * @worker: has no chunk
 */
void order_last(struct order *order, u32 worker);

/**
 * order_stop() - nobody wants more
 * @order: the order
 */
void order_stop(struct order *order);

/**
 * order_stopped() - does nobody want more
 * @order: the order
 *
 * Return: true if so.
 */
bool order_stopped(const struct order *order);

/**
 * order_forget() - the sink knows no dictionary any more
 * @order: no thread uses it
 */
void order_forget(struct order *order);

#endif /* KIPT_REORDER_H */
