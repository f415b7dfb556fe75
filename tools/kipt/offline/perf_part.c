// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which bytes of the traces of a recording are decoded, see perf_run.h: all, those of a
 * stretch of time, or those of one of several parts.
 */
#include "../cli/progress.h"
#include "perf_run.h"

/* What is needed of a part. The decoder looks at what is ahead of the stretch, too. */
static enum kipt_status part_run(struct run *run, struct jobs *jobs,
				 const struct perf_trace *trace, const struct perf_part *part)
{
	const struct kipt_sink sink = { .emit = perf_run_take, .ctx = run };
	bool last = part == trace->parts + trace->part_count - 1;
	const u8 *bytes = trace->bytes + part->start;
	u64 end = last ? trace->end - part->start : part->size;
	struct time_window window;
	enum kipt_status status = KIPT_OK;

	if (part > trace->parts || !trace->goes_on) {
		run->before = 0;
		run->seen = (struct time_seen){ 0 };
	}
	time_window_find(&window, run->output->options, &run->stretch, &run->seen, bytes,
			 part->size, end);
	if (time_window_bytes(&window))
		status = jobs_run(jobs, bytes, end, &window, &sink);
	if (status != KIPT_STOPPED) {
		run->done += time_window_bytes(&window);
		run->left += part->size - time_window_bytes(&window);
		run->before += part->size;
		run->reached = 0;
	}
	return status;
}

static bool is_shown(const struct run *run, u64 at, u64 size)
{
	return at == size ? run->has_end : at >= run->bytes.from && at < run->bytes.to;
}

/* Bytes of a part of the trace, up to @to at most. */
static enum kipt_status bytes_run(struct run *run, struct jobs *jobs,
				  const struct perf_trace *trace, const struct perf_part *part,
				  u64 from, u64 to)
{
	const struct kipt_sink sink = { .emit = perf_run_take, .ctx = run };
	struct time_window window;
	enum kipt_status status;

	if (from < part->start)
		from = part->start;
	if (to > part->start + part->size)
		to = part->start + part->size;
	if (from >= to)
		return KIPT_OK;
	window = (struct time_window){ 0, from - part->start, to - part->start };
	status = jobs_run(jobs, trace->bytes + part->start, part->size, &window, &sink);
	if (status != KIPT_STOPPED) {
		run->done += to - from;
		run->reached = 0;
	}
	return status;
}

enum kipt_status perf_part_run(struct run *run, struct jobs *jobs,
			       const struct perf_trace *trace, const struct perf_part *part)
{
	bool ok;

	if (!run->output->options->part)
		return perf_run_gap(run, part) ? part_run(run, jobs, trace, part) :
						 KIPT_STOPPED;
	run->output->muted = !is_shown(run, part->start, trace->size);
	ok = perf_run_gap(run, part);
	run->output->muted = false;
	return ok ? bytes_run(run, jobs, trace, part, run->bytes.from, run->bytes.to) :
		    KIPT_STOPPED;
}

/* False: interrupted. */
static bool back_find(struct run *run, struct part_bytes *bytes, const struct perf_trace *trace)
{
	struct part_search search = { .needs = run->needs, .from = bytes->from };
	const struct perf_part *part;
	size_t i;

	for (i = 0; i < trace->part_count; i++) {
		part = &trace->parts[i];
		if (!part_look(&search, trace->bytes, part->start, part->start + part->size))
			return false;
	}
	part_found(bytes, &search);
	return true;
}

static bool back_decode(struct run *run, struct jobs *jobs, const struct perf_trace *trace)
{
	size_t i;

	for (i = 0; i < trace->part_count; i++) {
		const struct perf_part *part = &trace->parts[i];
		u64 end = part->start + part->size;

		if (end <= run->bytes.back || part->start >= run->bytes.from)
			continue;
		if (!perf_run_gap(run, part) ||
		    bytes_run(run, jobs, trace, part, run->bytes.back, run->bytes.from) ==
		    KIPT_STOPPED)
			return false;
	}
	return true;
}

/* Each round has twice the bytes of the one before, or all there are, see part_step(). */
static bool rounds_decode(struct run *run, struct jobs *jobs, const struct perf_trace *trace)
{
	struct part_bytes *bytes = &run->bytes, before;

	for (;;) {
		run->seen_time = false;
		if (!back_decode(run, jobs, trace))
			return false;
		if (run->seen_time || !bytes->timed || !bytes->back)
			return true;
		before.from = part_farther(bytes);
		if (progress_interrupted() || !back_find(run, &before, trace))
			return false;
		part_step(bytes, before.back);
	}
}

bool perf_part_before(struct run *run, struct jobs *jobs, const struct perf_trace *trace)
{
	bool ok;

	run->output->muted = true;
	ok = rounds_decode(run, jobs, trace);
	run->output->muted = false;
	return ok;
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

/* As @size bytes of the queue became another number of them. */
static u64 trace_offset(const struct perf_trace *trace, u64 offset, u64 size)
{
	return (u64)((unsigned __int128)offset * trace->size / size);
}

bool perf_part_trace(struct run *run, const struct perf_queue *queue,
		     const struct perf_trace *trace)
{
	u64 begin = run->passed, end = begin + queue->size;

	run->bytes = (struct part_bytes){ .to = trace->size };
	if (!run->has_begin)
		run->bytes.from = trace_cut(trace, trace_offset(trace, run->shown_from - begin,
								queue->size));
	if (run->shown_to < end)
		run->bytes.to = trace_cut(trace, trace_offset(trace, run->shown_to - begin,
							      queue->size));
	/* Where nothing of it is shown, samples after its end may be. */
	run->needs.time = run->needs.space =
		!(run->config.output & KIPT_FLOW_COUNTS) &&
		(run->bytes.from < run->bytes.to || (run->has_end && run->moment_count));
	return back_find(run, &run->bytes, trace);
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
