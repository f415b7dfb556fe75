// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which bytes of the traces of a recording are decoded, see perf_run.h: all, those of a
 * stretch of time, or those of one of several parts.
 */
#include "../cli/progress.h"
#include "perf_run.h"

/* Whether a part began in an earlier stretch. */
static bool goes_on(const struct perf_trace *trace, const struct perf_part *part)
{
	return part == trace->parts && trace->goes_on;
}

u64 perf_part_known(const struct perf_trace *trace, const struct perf_part *part)
{
	return part == trace->parts + trace->part_count - 1 ? trace->end - part->start :
							      part->size;
}

static enum kipt_status window_run(struct run *run, const struct perf_stream *stream,
				   const struct perf_part *part, const struct time_window *window)
{
	const struct kipt_sink sink = { .emit = perf_run_take, .ctx = run };
	const struct perf_trace *trace = &stream->trace;
	enum kipt_status status = KIPT_OK;

	if (time_window_bytes(window))
		status = jobs_run(stream->jobs, trace->bytes + part->start, perf_part_known(trace, part),
				  window, &sink);
	if (status != KIPT_STOPPED) {
		run->done += time_window_bytes(window);
		run->reached = 0;
	}
	return status;
}

static enum kipt_status part_run(struct run *run, const struct perf_stream *stream,
				 const struct perf_part *part)
{
	const struct perf_trace *trace = &stream->trace;
	struct time_window window;

	if (!goes_on(trace, part))
		run->seen = (struct time_seen){ 0 };
	time_window_find(&window, run->output->options, &run->stretch, &run->seen,
			 trace->bytes + part->start, part->size, perf_part_known(trace, part));
	run->left += part->size - time_window_bytes(&window);
	return window_run(run, stream, part, &window);
}

/* Bytes of a part of the trace, from @from on and up to @to at most. */
static enum kipt_status bytes_run(struct run *run, const struct perf_stream *stream,
				  const struct perf_part *part, u64 from, u64 to)
{
	u64 begin = stream->begun + part->start, end = begin + part->size;
	struct time_window window;

	if (from < begin)
		from = begin;
	if (to > end)
		to = end;
	if (from >= to)
		return KIPT_OK;
	window = (struct time_window){ 0, from - begin, to - begin };
	return window_run(run, stream, part, &window);
}

/* Where a trace is cut, of which each part begins anew. */
static u64 trace_cut(const struct perf_trace *trace, u64 wish)
{
	const struct perf_part *part;
	size_t i;

	for (i = 0; i < trace->part_count; i++) {
		part = &trace->parts[i];
		if (wish < part->start + part->size)
			return part->start + part_cut(trace->bytes + part->start, part->size,
						      wish > part->start ? wish - part->start : 0);
	}
	return trace->size;
}

static u64 stretch_end(const struct perf_stream *stream)
{
	return stream->begun + stream->trace.size;
}

/* Where the queue is cut at one of its bytes; PERF_LATER: in a stretch to come. */
static u64 stretch_cut(const struct perf_stream *stream, u64 wish)
{
	const struct perf_trace *trace = &stream->trace;
	u64 size = stream->to - stream->from;

	if (wish >= stream->to)
		return trace->ahead_size ? PERF_LATER : stretch_end(stream);
	/* Labels, and what snapshots have twice, made of them another number of bytes. */
	return stream->begun +
	       trace_cut(trace, (unsigned __int128)(wish - stream->from) * trace->size / size);
}

/* Where what is shown ends. */
static u64 shown_end(const struct run *run, const struct perf_stream *stream)
{
	return stretch_cut(stream, run->has_end ? PERF_LATER : run->shown_to - run->passed);
}

enum kipt_status perf_part_run(struct run *run, struct perf_stream *stream,
			       const struct perf_part *part)
{
	u64 at = stream->begun + part->start;
	bool ok;

	if (!run->output->options->part)
		return perf_run_gap(run, stream, part) ? part_run(run, stream, part) : KIPT_STOPPED;
	if (run->bytes.to == PERF_LATER)
		run->bytes.to = shown_end(run, stream);
	run->output->muted = at < run->bytes.from || at >= run->bytes.to;
	ok = perf_run_gap(run, stream, part);
	run->output->muted = false;
	return ok ? bytes_run(run, stream, part, run->bytes.from, run->bytes.to) : KIPT_STOPPED;
}

bool perf_part_goes_on(const struct run *run, const struct perf_stream *stream)
{
	return !run->output->options->part || stretch_end(stream) < run->bytes.to;
}

/* All of the stretch that the search needs; false: interrupted. */
static bool stretch_look(struct part_search *search, const struct perf_stream *stream)
{
	const struct perf_trace *trace = &stream->trace;
	const struct perf_part *part;
	size_t i;

	search->before = stream->begun;
	for (i = 0; i < trace->part_count; i++) {
		part = &trace->parts[i];
		if (!part_look(search, trace->bytes, part->start, part->start + part->size))
			return false;
	}
	return true;
}

/*
 * From the first stretch on; @bytes begin at the cut at @wish, but if @from is not PERF_LATER,
 * there. Leaves the stream at the stretch where they begin, or later.
 */
static bool back_find(struct run *run, struct perf_stream *stream, u64 wish,
		      struct part_bytes *bytes)
{
	struct part_search search = { .needs = run->needs, .from = bytes->from };

	for (;;) {
		if (search.from == PERF_LATER)
			search.from = stretch_cut(stream, wish);
		if (!stretch_look(&search, stream))
			return false;
		if (search.from <= stretch_end(stream))
			break;
		progress_show("looking for the part", run->passed + stream->to, run->size);
		if (!perf_stream_next(run, stream))
			return false;
	}
	bytes->from = search.from;
	part_found(bytes, &search);
	return true;
}

/* The stream goes back, if it has to. */
static bool back_go(struct run *run, struct perf_stream *stream)
{
	bool ok = run->bytes.back >= stream->begun || perf_stream_begin(run, stream);

	while (ok && stretch_end(stream) <= run->bytes.back && stream->trace.ahead_size)
		ok = !progress_interrupted() && perf_stream_next(run, stream);
	return ok;
}

/* What is shown, and samples after the end of the queue, need what is before. */
static bool shows_any(const struct run *run, const struct perf_stream *stream)
{
	return run->bytes.from < shown_end(run, stream) ||
	       (run->has_end && run->moment_count);
}

bool perf_part_find(struct run *run, struct perf_stream *stream)
{
	run->bytes = (struct part_bytes){ .to = PERF_LATER };
	run->needs.time = run->needs.space = !(run->config.output & KIPT_FLOW_COUNTS);
	if (run->has_begin)
		return true;
	run->bytes.from = PERF_LATER;
	if (!back_find(run, stream, run->shown_from - run->passed, &run->bytes))
		return false;
	if (shows_any(run, stream))
		return back_go(run, stream);
	run->bytes.to = run->bytes.back = run->bytes.from;
	run->bytes.timed = false;
	return true;
}

static bool stretch_before(struct run *run, const struct perf_stream *stream)
{
	const struct perf_trace *trace = &stream->trace;
	size_t i;

	for (i = 0; i < trace->part_count; i++) {
		const struct perf_part *part = &trace->parts[i];
		u64 begin = stream->begun + part->start;

		if (begin + part->size <= run->bytes.back || begin >= run->bytes.from)
			continue;
		if (!perf_run_gap(run, stream, part) ||
		    bytes_run(run, stream, part, run->bytes.back, run->bytes.from) ==
		    KIPT_STOPPED)
			return false;
	}
	return true;
}

static bool back_decode(struct run *run, struct perf_stream *stream)
{
	bool ok = stretch_before(run, stream);

	while (ok && stretch_end(stream) < run->bytes.from)
		ok = perf_stream_next(run, stream) && stretch_before(run, stream);
	return ok;
}

/* Each round has twice the bytes of the one before, or all there are, see part_step(). */
static bool rounds_decode(struct run *run, struct perf_stream *stream)
{
	struct part_bytes *bytes = &run->bytes, before;

	for (;;) {
		run->seen_time = false;
		if (!back_decode(run, stream))
			return false;
		if (run->seen_time || !bytes->timed || !bytes->back)
			return true;
		before.from = part_farther(bytes);
		if (progress_interrupted() || !perf_stream_begin(run, stream) ||
		    !back_find(run, stream, 0, &before))
			return false;
		part_step(bytes, before.back);
		if (!back_go(run, stream))
			return false;
	}
}

bool perf_part_before(struct run *run, struct perf_stream *stream)
{
	bool ok;

	run->output->muted = true;
	ok = rounds_decode(run, stream);
	run->output->muted = false;
	return ok;
}

void perf_part_all(struct run *run)
{
	const struct part *part = &run->decode->part;
	const struct part after = { part->number + 1, part->count };

	run->shown_to = run->size;
	if (!part->number)
		return;
	run->shown_from = part_begin(part, run->size);
	run->shown_to = part_begin(&after, run->size);
}

bool perf_part_queue(struct run *run, const struct perf_queue *queue)
{
	u64 begin = run->passed, end = begin + queue->size;

	run->has_begin = run->shown_from <= begin;
	run->has_end = run->shown_to >= end;
	return queue->size && run->shown_from < end && run->shown_to > begin;
}
