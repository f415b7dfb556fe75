/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One reader of a fetch: decodes chunks piece by piece in its caller's context,
 * and adds to the records of the decoder what is known of a CPU. Leaves to
 * chunks.c what comes next, to fetch.c who may read. Process context.
 */
#ifndef KIPT_FETCH_READER_H
#define KIPT_FETCH_READER_H

#include "chunks.h"
#include "code_bytes.h"
#include "fetch.h"
#include "../shared/task_merge.h"
#include "../../uapi/linux/kipt_record.h"

/**
 * struct kipt_fetch - what the readers of a fetch share
 * @session: whose trace it is; has as many pins as there are readers
 * @id: its number; constant
 * @output: enum kipt_output; constant
 * @memory: bytes of working memory of each reader; constant
 * @near: a TSC less than 2^55 ticks from those of the traces; constant
 * @in_order: without time in the trace one reader decodes all, since only the
 *	order of switches shows which task ran; constant
 * @readers: who takes part; session->lock
 * @next_reader: number of the next one; session->lock
 * @bytes: code; shared, it has a lock of its own
 * @chunks: the traces; has a lock of its own
 */
struct kipt_fetch {
	struct kipt_session *session;
	u32 id;
	u32 output;
	u64 memory;
	u64 near;
	bool in_order;
	u32 readers;
	u32 next_reader;
	struct kipt_code_bytes *bytes;
	struct kipt_chunks chunks;
};

/**
 * enum kipt_fetch_step - where a reader is
 * @KIPT_FETCH_BETWEEN: it has no chunk
 * @KIPT_FETCH_DECODING: it decodes one
 * @KIPT_FETCH_RESUMING: the same, the flow is paused
 * @KIPT_FETCH_ENDING: all of it was decoded, records are left
 * @KIPT_FETCH_COUNTING: the same, and counts are given
 * @KIPT_FETCH_DONE: nothing is left
 */
enum kipt_fetch_step {
	KIPT_FETCH_BETWEEN,
	KIPT_FETCH_DECODING,
	KIPT_FETCH_RESUMING,
	KIPT_FETCH_ENDING,
	KIPT_FETCH_COUNTING,
	KIPT_FETCH_DONE,
};

/**
 * struct kipt_record_queue - records that were made and not taken yet; all zero: none
 * @records: memory of @room of them
 * @first: the next to be taken
 * @end: after the last
 * @room: see @records
 *
 * A row that grows: usually it holds what one message does and a bit more; a packet that
 * makes more than that finds room too. Its memory is charged.
 */
struct kipt_record_queue {
	struct kipt_record *records;
	u32 first;
	u32 end;
	u32 room;
};

/**
 * struct kipt_fetch_reader - a reader; used by one call at a time
 * @fetch: what it reads
 * @number: its number there, and that of its dictionary of nodes
 * @step: enum kipt_fetch_step
 * @arena: memory of @flow
 * @arena_size: its bytes
 * @flow: NULL before the first read
 * @code: its way to code
 * @counted: when counts were given last
 * @unnamed: number of the address space of counts without one
 * @chunk: that is being read
 * @at: offset of what is decoded next
 * @stretch: and of its end; what is decoded in one run
 * @merge: TASK records
 * @queue: records made
 * @enough: records that are made before it pauses
 * @err: 0, or why it cannot go on
 * @ring_begins: no PSB was reached yet, of a ring that was written round
 */
struct kipt_fetch_reader {
	struct kipt_fetch *fetch;
	u32 number;
	u32 step;
	void *arena;
	size_t arena_size;
	struct kipt_flow *flow;
	struct kipt_code_reader code;
	u64 counted;
	u64 unnamed;
	struct kipt_chunk chunk;
	u64 at;
	u64 stretch;
	struct kipt_task_merge merge;
	struct kipt_record_queue queue;
	u32 enough;
	int err;
	bool ring_begins;
};

/**
 * kipt_fetch_reader_uninit() - free what a reader holds, end its chunk
 * @reader: its fetch is still there
 */
void kipt_fetch_reader_uninit(struct kipt_fetch_reader *reader);

/**
 * kipt_record_queue_uninit() - free what it holds
 * @queue: empty afterwards
 */
void kipt_record_queue_uninit(struct kipt_record_queue *queue);

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

/**
 * kipt_fetch_put() - put records into the queue
 * @reader: whose; an error stays in its @err
 * @records: copied
 * @count: of them
 *
 * Context: process, may sleep.
 */
void kipt_fetch_put(struct kipt_fetch_reader *reader, const struct kipt_record *records,
		    u32 count);

/**
 * kipt_fetch_put_gap() - put a gap into the queue
 * @reader: whose
 * @kind: enum kipt_gap_kind
 * @value: as the kind says
 *
 * Context: process, may sleep.
 */
void kipt_fetch_put_gap(struct kipt_fetch_reader *reader, u8 kind, u64 value);

/**
 * kipt_fetch_wants_time() - does whoever reads want TIME records
 * @reader: the reader
 *
 * Time is made to place tasks also where it is not wanted.
 *
 * Context: any. Return: true if so.
 */
bool kipt_fetch_wants_time(const struct kipt_fetch_reader *reader);

/**
 * kipt_fetch_is_enough() - may the next records of the flow be too many for the message
 * @reader: the reader
 *
 * Context: process. Return: true if so, and there are some.
 */
bool kipt_fetch_is_enough(const struct kipt_fetch_reader *reader);

/**
 * kipt_fetch_emit() - take records from the flow
 * @ctx: struct kipt_fetch_reader, whose flow is paused when there is enough
 * @records: copied
 * @n: of them
 *
 * Context: process, may sleep; the sink of the flow.
 *
 * Return: false after an error, which is in @err of the reader.
 */
bool kipt_fetch_emit(void *ctx, const struct kipt_record *records, u32 n);

#endif /* KIPT_FETCH_READER_H */
