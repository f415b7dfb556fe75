// SPDX-License-Identifier: GPL-2.0-only
/*
 * The trace of a queue of a recording, a stretch at a time, see perf_run.h: each stretch gets
 * labels that say who ran, and the moments at which tracing stopped.
 */
#include <errno.h>
#include <stdlib.h>

#include "../cli/messages.h"
#include "perf_run.h"

/* Stops of tracing are one if less than this part of the slack for patches is between them. */
#define STOPS_PART	1024U

/* A trace without PIP packets, as one of user code is, gets some. */
static bool trace_label(struct run *run, struct perf_label *label, struct perf_trace *trace)
{
	run->inserted = false;
	if (!run->user_only && !perf_label_replace(label, trace))
		return false;
	run->owners = perf_label_owners(label, &run->owner_count);
	if (run->owner_count || perf_label_guests(label))
		return true;
	run->inserted = true;
	return perf_label_insert(label, trace);
}

/* Of stops that follow each other at once the first is taken. */
static struct jobs_moment *moments_make(const struct run *run, const struct perf_trace *trace,
					size_t *count)
{
	struct jobs_moment *moments = calloc(trace->stop_count + 1, sizeof(*moments));
	u64 soon = perf_text_slack(run->text) / STOPS_PART, tsc;
	size_t i;

	*count = 0;
	for (i = 0; moments && i < trace->stop_count; i++) {
		tsc = perf_clock_tsc(&run->aux.clock, trace->stops[i].time);
		if (*count && tsc - moments[*count - 1].tsc < soon)
			continue;
		moments[(*count)++] = (struct jobs_moment){
			.at = trace->bytes + trace->stops[i].offset, .tsc = tsc,
		};
	}
	return moments;
}

static bool moments_set(struct run *run, struct perf_stream *stream)
{
	size_t count;
	bool timed;

	if (!perf_text_log(run->text, &timed) || !timed)
		return true;
	free(stream->moments);
	stream->moments = moments_make(run, &stream->trace, &count);
	if (stream->moments)
		jobs_moments(stream->jobs, stream->moments, count);
	return stream->moments;
}

/* A stretch of time is cut out of the whole if nobody knows when the first one is. */
static u64 stretch_most(const struct run *run)
{
	bool untimed = time_range_any(&run->output->options->narrow.time) &&
		       !run->stretch.base_known;

	return untimed ? PERF_TRACE_WHOLE : KIPT_PERF_STRETCH;
}

static bool stretch_read(struct run *run, struct perf_stream *stream)
{
	struct perf_trace *trace = &stream->trace;

	if (!perf_trace_read(trace, &run->aux, stream->queue, run->file, stream->most))
		return false;
	stream->plain_size = trace->size;
	if (!trace_label(run, stream->label, trace))
		return false;
	stream->from = stream->to;
	stream->to = trace->passed - trace->ahead_size;
	if (moments_set(run, stream))
		return true;
	say_errno(ENOMEM, "cannot decode %s", run->decode->path);
	return false;
}

bool perf_stream_begin(struct run *run, struct perf_stream *stream)
{
	perf_stream_end(stream);
	stream->most = stretch_most(run);
	stream->label = perf_label_create(&run->config, run->turns, run->turn_count);
	return stream->label && stretch_read(run, stream);
}

bool perf_stream_next(struct run *run, struct perf_stream *stream)
{
	stream->begun += stream->trace.size;
	stream->plain += stream->plain_size;
	return stretch_read(run, stream);
}

void perf_stream_end(struct perf_stream *stream)
{
	free(stream->moments);
	perf_trace_free(&stream->trace);
	perf_label_destroy(stream->label);
	*stream = (struct perf_stream){ .queue = stream->queue, .jobs = stream->jobs };
}
