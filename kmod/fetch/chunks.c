// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cutting traces into chunks, see chunks.h. A trace is mapped with its first chunk, and
 * stays so as long as its buffer is there.
 */
#include <linux/errno.h>

#include "../trace/buffer.h"
#include "chunks.h"
#include "../decode/packet/sync.h"
#include "../lib/memory.h"

static size_t sources_bytes(const struct kipt_chunks *chunks, u32 count)
{
	return count * sizeof(*chunks->sources);
}

static void add_source(struct kipt_chunks *chunks, struct kipt_trace *trace)
{
	struct kipt_source *source = &chunks->sources[chunks->nr_sources++];

	source->trace = trace;
	kipt_trace_result(trace, &source->result);
	if (source->result.lost)
		return;
	source->size = source->result.head - source->result.tail;
	chunks->total += source->size;
}

int kipt_chunks_init(struct kipt_chunks *chunks, struct kipt_trace *traces,
		     u32 count, u32 only_cpu, u64 bytes)
{
	u32 wanted = only_cpu == ~0U ? count : 1, i;

	mutex_init(&chunks->lock);
	atomic64_set(&chunks->done, 0);
	chunks->bytes = bytes;
	chunks->sources = kipt_memory_alloc(sources_bytes(chunks, wanted));
	if (!chunks->sources)
		return -ENOMEM;
	for (i = 0; i < count && chunks->nr_sources < wanted; i++)
		if (only_cpu == ~0U || traces[i].cpu == only_cpu)
			add_source(chunks, &traces[i]);
	return 0;
}

void kipt_chunks_uninit(struct kipt_chunks *chunks)
{
	kipt_memory_free(chunks->sources,
			 sources_bytes(chunks, chunks->nr_sources));
	chunks->sources = NULL;
	chunks->nr_sources = 0;
}

static int map_source(struct kipt_source *source)
{
	struct kipt_buffer *buffer = source->trace->buffer;
	const u8 *view;

	if (source->data || !source->size)
		return 0;
	view = kipt_buffer_view(buffer);
	if (!view)
		return -ENOMEM;
	source->data = view + source->result.tail % buffer->size;
	return 0;
}

static int take_locked(struct kipt_chunks *chunks, struct kipt_chunk *chunk)
{
	struct kipt_source *source = &chunks->sources[chunks->source];
	int err;

	lockdep_assert_held(&chunks->lock);
	if (chunks->source == chunks->nr_sources)
		return 0;
	err = map_source(source);
	if (err)
		return err;
	chunk->number = chunks->number++;
	chunk->source = source;
	chunk->from = chunks->at;
	chunk->to = kipt_sync_cut(source->data, source->size, chunks->at, chunks->bytes);
	chunks->at = chunk->to;
	if (chunk->to == source->size) {
		chunks->source++;
		chunks->at = 0;
	}
	return 1;
}

int kipt_chunks_take(struct kipt_chunks *chunks, struct kipt_chunk *chunk)
{
	int ret;

	if (mutex_lock_killable(&chunks->lock))
		return -EINTR;
	ret = take_locked(chunks, chunk);
	mutex_unlock(&chunks->lock);
	return ret;
}

void kipt_chunks_number(struct kipt_chunks *chunks, struct kipt_chunk *chunk)
{
	mutex_lock(&chunks->lock);
	*chunk = (struct kipt_chunk){ .number = chunks->number++ };
	mutex_unlock(&chunks->lock);
}

void kipt_chunks_end(struct kipt_chunks *chunks, struct kipt_chunk *chunk)
{
	atomic64_add(chunk->to - chunk->from, &chunks->done);
	chunk->source = NULL;
}
