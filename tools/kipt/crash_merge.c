// SPDX-License-Identifier: GPL-2.0-only
/*
 * Merges by time, see crash_merge.h. Times are estimates with a bound, so what
 * is closer together than that may stand in another order than it happened.
 */
#include <stdlib.h>
#include <string.h>

#include "../../uapi/linux/kipt_record.h"
#include "crash_merge.h"

/* What is told again when a CPU goes on, and its time, which comes anyway. */
enum held {
	HELD_TASK,
	HELD_CONTEXT,
	HELD_MODE,
	HELD_TIME,
	HELDS,
};

/* A CPU's records; those before @at were given. */
struct stream {
	struct kipt_record *list;
	size_t count, room, at;
	struct kipt_record held[HELDS];
};

struct crash_merge {
	struct stream *streams;
	u32 count;
	/* The one that was given last. */
	const struct stream *last;
};

struct crash_merge *crash_merge_create(void)
{
	return calloc(1, sizeof(struct crash_merge));
}

void crash_merge_destroy(struct crash_merge *merge)
{
	u32 i;

	if (!merge)
		return;
	for (i = 0; i < merge->count; i++)
		free(merge->streams[i].list);
	free(merge->streams);
	free(merge);
}

static bool stream_begin(struct crash_merge *merge)
{
	struct stream *streams = realloc(merge->streams, (merge->count + 1) *
							 sizeof(*streams));

	if (!streams)
		return false;
	memset(&streams[merge->count++], 0, sizeof(*streams));
	merge->streams = streams;
	return true;
}

static bool stream_add(struct stream *stream, const struct kipt_record *record)
{
	struct kipt_record *list = stream->list;

	if (stream->count == stream->room) {
		stream->room = 2 * stream->room + 256;
		list = realloc(list, stream->room * sizeof(*list));
		if (!list)
			return false;
		stream->list = list;
	}
	list[stream->count++] = *record;
	return true;
}

bool crash_merge_take(struct crash_merge *merge,
		      const struct kipt_record *records, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++) {
		if ((records[i].type == KIPT_RECORD_CPU || !merge->count) &&
		    !stream_begin(merge))
			return false;
		if (!stream_add(&merge->streams[merge->count - 1],
				&records[i]))
			return false;
	}
	return true;
}

/* When what comes next of a CPU begins; before the first time, at that. */
static u64 stream_time(const struct stream *stream)
{
	const struct kipt_record *held = &stream->held[HELD_TIME];
	size_t i = stream->at;

	if (stream->list[i].type == KIPT_RECORD_TIME)
		return stream->list[i].value;
	while (!held->type && i < stream->count) {
		if (stream->list[i].type == KIPT_RECORD_TIME)
			held = &stream->list[i];
		i++;
	}
	return held->value;
}

static struct stream *earliest(struct crash_merge *merge)
{
	struct stream *found = NULL;
	u32 i;

	for (i = 0; i < merge->count; i++) {
		struct stream *stream = &merge->streams[i];

		if (stream->at < stream->count &&
		    (!found || stream_time(stream) < stream_time(found)))
			found = stream;
	}
	return found;
}

static enum held held_of(const struct kipt_record *record)
{
	switch (record->type) {
	case KIPT_RECORD_TASK:
		return HELD_TASK;
	case KIPT_RECORD_CONTEXT:
		return HELD_CONTEXT;
	case KIPT_RECORD_MODE:
		return HELD_MODE;
	case KIPT_RECORD_TIME:
		return HELD_TIME;
	}
	return HELDS;
}

/* Up to the next TIME record; at the begin of a CPU that is its CPU record. */
static size_t part_size(const struct stream *stream)
{
	size_t end = stream->at + 1;

	while (end < stream->count &&
	       stream->list[end].type != KIPT_RECORD_TIME)
		end++;
	return end - stream->at;
}

static bool change_tell(const struct stream *stream,
			bool (*take)(void *ctx,
				     const struct kipt_record *records,
				     u32 count),
			void *ctx)
{
	bool good = take(ctx, &stream->list[0], 1);
	u32 i;

	for (i = 0; i < HELD_TIME && good; i++) {
		if (stream->held[i].type)
			good = take(ctx, &stream->held[i], 1);
	}
	return good;
}

static void part_hold(struct stream *stream, size_t size)
{
	enum held held;

	for (; size; size--, stream->at++) {
		held = held_of(&stream->list[stream->at]);
		if (held < HELDS)
			stream->held[held] = stream->list[stream->at];
	}
}

bool crash_merge_give(struct crash_merge *merge,
		      bool (*take)(void *ctx,
				   const struct kipt_record *records,
				   u32 count),
		      void *ctx)
{
	struct stream *stream;
	bool good = true;
	size_t size;

	while (good && (stream = earliest(merge))) {
		size = part_size(stream);
		if (stream != merge->last && stream->at)
			good = change_tell(stream, take, ctx);
		merge->last = stream;
		good = good && take(ctx, &stream->list[stream->at], size);
		part_hold(stream, size);
	}
	return good;
}
