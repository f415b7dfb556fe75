// SPDX-License-Identifier: GPL-2.0-only
/*
 * Merges by time, see merge_by_time.h. Times are estimates with a bound, so what
 * is closer together than that may be in another order than it happened.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../../uapi/linux/kipt_record.h"
#include "../cli/list_room.h"
#include "../cli/messages.h"
#include "../records/record_state.h"
#include "merge_by_time.h"

/* A CPU's records; those before @at were given. */
struct stream {
	struct kipt_record *list;
	size_t count, at;
	struct record_state state;
};

void crash_merge_free(struct crash_merge *merge)
{
	u32 i;

	for (i = 0; i < merge->count; i++)
		free(merge->streams[i].list);
	free(merge->streams);
}

static bool stream_begin(struct crash_merge *merge)
{
	struct stream *streams = list_room(merge->streams, merge->count,
					   sizeof(*streams));

	if (!streams)
		return false;
	memset(&streams[merge->count++], 0, sizeof(*streams));
	merge->streams = streams;
	return true;
}

static bool stream_add(struct stream *stream, const struct kipt_record *record)
{
	struct kipt_record *list = list_room(stream->list, stream->count,
					     sizeof(*list));

	if (!list)
		return false;
	stream->list = list;
	list[stream->count++] = *record;
	return true;
}

bool crash_merge_take(struct crash_merge *merge,
		      const struct kipt_record *records, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++) {
		if (((records[i].type == KIPT_RECORD_CPU || !merge->count) &&
		     !stream_begin(merge)) ||
		    !stream_add(&merge->streams[merge->count - 1], &records[i])) {
			say_errno(ENOMEM, "cannot hold the traces");
			return false;
		}
	}
	return true;
}

/* When what comes next of a CPU begins; before the first time, at that. */
static u64 stream_time(const struct stream *stream)
{
	const struct kipt_record *time = record_state_last(&stream->state, RECORD_STATE_TIME);
	size_t i = stream->at;

	if (stream->list[i].type == KIPT_RECORD_TIME)
		return stream->list[i].value;
	for (; !time && i < stream->count; i++) {
		if (stream->list[i].type == KIPT_RECORD_TIME)
			time = &stream->list[i];
	}
	return time ? time->value : 0;
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

/* Up to the next TIME record; at the begin of a CPU that is its CPU record. */
static size_t part_size(const struct stream *stream)
{
	size_t end = stream->at + 1;

	while (end < stream->count &&
	       stream->list[end].type != KIPT_RECORD_TIME)
		end++;
	return end - stream->at;
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
		/* What holds is said again when a CPU goes on; its time comes. */
		if (stream != merge->last && stream->at)
			good = record_state_give(&stream->state, false, take,
						 ctx);
		merge->last = stream;
		good = good && take(ctx, &stream->list[stream->at], size);
		for (; size; size--, stream->at++)
			record_state_see(&stream->state, &stream->list[stream->at]);
	}
	return good;
}
