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
#include "record_queue.h"
#include "../shared/task_merge.h"

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
 * @changed: code that was patched was met in this run
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
	bool changed;
};

/**
 * kipt_fetch_reader_uninit() - free what a reader holds, end its chunk
 * @reader: its fetch is still there
 */
void kipt_fetch_reader_uninit(struct kipt_fetch_reader *reader);

#endif /* KIPT_FETCH_READER_H */
