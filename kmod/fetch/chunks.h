/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The traces of a fetch, cut at PSBs into chunks that are decoded one by one,
 * by whoever takes them. Where the cuts are does not depend on who that is.
 * Process context.
 */
#ifndef KIPT_CHUNKS_H
#define KIPT_CHUNKS_H

#include <linux/mutex.h>
#include <linux/types.h>

#include "../trace/trace.h"

/**
 * struct kipt_source - the trace of one CPU
 * @trace: the CPU's
 * @result: of it; constant
 * @size: trace bytes; constant
 * @data: they, contiguous also if a ring was written round; NULL: not mapped yet.
 *	Written with the lock of the chunks
 */
struct kipt_source {
	struct kipt_trace *trace;
	struct kipt_trace_result result;
	u64 size;
	const u8 *data;
};

/**
 * struct kipt_chunk - a piece of one CPU's trace
 * @number: from 0, in the order of CPUs and trace
 * @source: the CPU; NULL: a chunk without trace
 * @from: offset in its data
 * @to: offset of its end
 */
struct kipt_chunk {
	u64 number;
	struct kipt_source *source;
	u64 from;
	u64 to;
};

/**
 * struct kipt_chunks - what is cut
 * @total: trace bytes; constant
 * @done: of these, in chunks that ended
 * @bytes: of a chunk, roughly; constant
 * @lock: guards what follows; with it the buffers of the sources are mapped
 * @number: of the next chunk
 * @source: it is cut from
 * @at: offset there
 * @nr_sources: of @sources; constant
 * @sources: one for each CPU
 */
struct kipt_chunks {
	u64 total;
	atomic64_t done;
	u64 bytes;
	struct mutex lock;
	u64 number;
	u32 source;
	u64 at;
	u32 nr_sources;
	struct kipt_source *sources;
};

/**
 * kipt_chunks_init() - be ready to cut
 * @chunks: zeroed
 * @traces: stopped, and stay so; their buffers stay
 * @count: how many there are
 * @only_cpu: take only this CPU's, or ~0
 * @bytes: of a chunk, roughly
 *
 * Return: 0 or -ENOMEM; call kipt_chunks_uninit() after both.
 */
int kipt_chunks_init(struct kipt_chunks *chunks, struct kipt_trace *traces,
		     u32 count, u32 only_cpu, u64 bytes);

/**
 * kipt_chunks_uninit() - let go of the traces
 * @chunks: no chunk is taken
 */
void kipt_chunks_uninit(struct kipt_chunks *chunks);

/**
 * kipt_chunks_take() - take the next chunk
 * @chunks: what is cut
 * @chunk: filled in, for kipt_chunks_end()
 *
 * Each CPU has a chunk at least, an empty one where there is no trace.
 *
 * Context: may sleep, killable.
 *
 * Return:
 * 1: there is one.
 * 0: all were taken.
 * -EINTR: the task is being killed.
 * -ENOMEM: no memory to map the trace.
 */
int kipt_chunks_take(struct kipt_chunks *chunks, struct kipt_chunk *chunk);

/**
 * kipt_chunks_number() - a chunk without trace, after all others so far
 * @chunks: what is cut
 * @chunk: filled in; need not be ended
 *
 * Context: may sleep.
 */
void kipt_chunks_number(struct kipt_chunks *chunks, struct kipt_chunk *chunk);

/**
 * kipt_chunks_end() - a chunk is done
 * @chunks: what is cut
 * @chunk: from kipt_chunks_take(); has no source afterwards
 *
 * Context: may sleep.
 */
void kipt_chunks_end(struct kipt_chunks *chunks, struct kipt_chunk *chunk);

#endif /* KIPT_CHUNKS_H */
