/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Decodes a trace in several threads. It is cut at PSBs into chunks, each is
 * decoded by whichever thread is free, and records are given away in the
 * order of the trace, whatever order they were made in. Needs the decoder
 * core only, nothing else of the tool.
 */
#ifndef KIPT_PARALLEL_DECODE_H
#define KIPT_PARALLEL_DECODE_H

#include "../../../kmod/decode/flow.h"

#define JOBS_MAX		64

struct jobs;
struct time_window;
struct kipt_patch_log;
struct kipt_text_view;

/**
 * struct jobs_moment - when tracing was off
 * @at: what is before it in the trace was executed before @tsc, what follows after it
 * @tsc: the time
 */
struct jobs_moment {
	const u8 *at;
	u64 tsc;
};

/**
 * struct jobs_text - kernel text that was patched while it was traced
 * @log: the patches
 * @timed: their times are known; else each may have been at any time
 * @slack: as in struct kipt_text_view
 * @read: as in struct kipt_code, for addresses of the kernel
 * @ctx: its first argument
 * @moments: in order of time and of the traces that are decoded; they stay where they are
 * @moment_count: how many
 */
struct jobs_text {
	const struct kipt_patch_log *log;
	bool timed;
	u64 slack;
	u32 (*read)(void *ctx, const struct kipt_text_view *view, u64 ip,
		    u8 *buf, u32 len);
	void *ctx;
	const struct jobs_moment *moments;
	size_t moment_count;
};

/**
 * jobs_create() - make flows for some threads, with memory for all of them
 * @config: how to read traces; its memory is shared out among the flows
 * @code: copied; its callbacks are called from several threads at once
 * @count: threads, 1..JOBS_MAX, the one that calls jobs_run() included
 *
 * Return: the caller's until jobs_destroy(); NULL without memory, or if the
 * core refuses @config.
 */
struct jobs *jobs_create(const struct kipt_flow_config *config,
			 const struct kipt_code *code, u32 count);

/**
 * jobs_text() - read kernel text as it was when each stretch of trace was made
 * @jobs: did not run yet
 * @text: copied; its log is complete
 *
 * Where patches are near a trace is decoded from PSB to PSB, and from moment to moment
 * between these, see text_view.h. Where text
 * was patched just then there is a gap, of code that was changed. With KIPT_FLOW_CODE
 * the @value of an INSN record of the kernel is the number of the patch that its code
 * was read before.
 *
 * Return: true, or false: the core refuses it.
 */
bool jobs_text(struct jobs *jobs, const struct jobs_text *text);

/**
 * jobs_moments() - replace the moments of jobs_text(), for other bytes of trace
 * @jobs: no jobs_run() is under way
 * @moments: in order of time and of the traces that are decoded next; they stay where they are
 * @count: how many
 */
void jobs_moments(struct jobs *jobs, const struct jobs_moment *moments, size_t count);

/**
 * jobs_destroy() - free it
 * @jobs: no jobs_run() is under way; may be NULL
 */
void jobs_destroy(struct jobs *jobs);

/**
 * jobs_run() - decode a trace
 * @jobs: what was cached in earlier runs is used again
 * @trace: the trace
 * @size: its bytes, not 0
 * @window: the bytes that are decoded; NULL: all
 * @sink: gets the same records in the same order as one kipt_flow_run() over
 *	each end of the window would give, in batches. Called from several threads,
 *	but never from two at once, and what one call wrote the next one sees.
 *
 * With KIPT_FLOW_PACKED each flow has a dictionary of its own, and DICTIONARY
 * records say where they change; the dictionaries last from run to run. With
 * KIPT_FLOW_COUNTS each flow counts by itself, and EDGE records come last.
 *
 * If the sink returns false nothing more is given to it, and dictionaries
 * start anew with the next run. With KIPT_FLOW_COUNTS what was begun is
 * finished instead, so that the edges are those of the records given.
 *
 * Records that wait for their turn have a bound, 15 MiB for each thread.
 *
 * Return: as kipt_flow_run() does.
 */
enum kipt_status jobs_run(struct jobs *jobs, const u8 *trace, u64 size,
			  const struct time_window *window,
			  const struct kipt_sink *sink);

#endif /* KIPT_PARALLEL_DECODE_H */
