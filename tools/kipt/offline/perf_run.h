/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A recording of perf while it is decoded: what perf_decode.c, perf_stream.c and perf_part.c
 * share. perf_stream.c reads the trace of each queue, a stretch at a time; perf_part.c finds and
 * decodes those bytes of it that are needed of what is shown.
 */
#ifndef KIPT_PERF_RUN_H
#define KIPT_PERF_RUN_H

#include "../perf/perf_kernel.h"
#include "../perf/perf_label.h"
#include "../perf/perf_running.h"
#include "../perf/perf_samples.h"
#include "../perf/perf_text.h"
#include "parallel_decode.h"
#include "perf_decode.h"
#include "time_window.h"

#define BATCH		256

struct run {
	const struct perf_decode *decode;
	struct perf_file *file;
	struct perf_aux aux;
	struct perf_maps *maps;
	struct perf_text *text;
	struct kipt_flow_config config;
	struct output *output;
	struct perf_kernel kernel;
	/* How far it was moved. */
	u64 kernel_bias;
	char kallsyms[4096];
	const char *kallsyms_used;
	/* Only user code was traced. */
	bool user_only;
	/* Its trace has TSC packets, and others between them. */
	bool timed_trace, timed_between;
	/* The trace may have CYC packets. */
	bool cycles;
	bool want_time;
	bool want_samples;
	struct perf_samples samples;
	/* Taken before anything that was traced there. */
	u64 samples_before;
	/* Of the recording, and of --vmlinux. */
	struct image *kernel_image;
	bool kernel_missing, kernel_seen;
	bool guest_seen;
	/* Gaps for want of code of processes. */
	bool user_missing;
	/* A queue. */
	struct perf_turn *turns;
	size_t turn_count;
	const struct perf_owner *owners;
	size_t owner_count;
	/* The space that records were made with, for names. */
	u32 now;
	/* When the records were made, for names of the kernel; 0: at any time. */
	u64 tsc;
	u32 code_version;
	/* CR3s are the indices of turns, not of owners. */
	bool inserted;
	/* Its records: the turn that they are of, and whether a TASK record said so. */
	size_t turn;
	bool turn_said;
	/* A guest runs. */
	bool guest;
	/* The kernel's function that switches tasks; 0: not known, or its calls are not
	 * among the records.
	 */
	u64 switch_ip;
	/* The turn that begins where the kernel does so, if @waits. */
	size_t next_turn;
	bool waits;
	/* @turn was begun where the kernel switched, before a time had reached its event;
	 * @sure_turn is the last that a time had reached.
	 */
	bool ahead;
	size_t sure_turn;
	/* Tracing is on, and the task has been known since it began. */
	bool tracing, settled;
	/* The last time; 0: none in this queue. */
	u64 time;
	/* Its samples, and how many were given; none before its first time. */
	const struct perf_moment *moments;
	size_t moment_count, moment;
	bool timed;
	/* Bytes of trace: all there are, those of parts that are done, how far it
	 * is in the part that is not, and those that nothing of what is shown needs.
	 */
	u64 size, done, reached, left;
	/* What is decoded: a part of a stretch. */
	const struct perf_stream *stream;
	const struct perf_part *part;
	/* Of the queue, and of that part. */
	struct time_stretch stretch;
	struct time_seen seen;
	/* Of all queues one after the other: those that were passed, and which bytes of
	 * them are shown.
	 */
	u64 passed, shown_from, shown_to;
	/* Of the queue, where there are parts: what is shown, PERF_LATER where it has not come
	 * yet, and whether its begin and its end are.
	 */
	struct part_bytes bytes;
	bool has_begin, has_end;
	struct part_needs needs;
	/* A time came while what is before it was decoded. */
	bool seen_time;
	struct kipt_record batch[BATCH];
	u32 batched;
	bool failed;
	/* A part of a trace had a PSB; another had none. */
	bool synced, unsynced;
};

/* An offset that is not known yet: it is in a stretch that is still to be read. */
#define PERF_LATER	(~0ULL)

/**
 * struct perf_stream - a queue while it is decoded, a stretch at a time
 * @queue: which
 * @trace: the stretch, with the labels of perf_label.h
 * @label: says who ran
 * @jobs: decodes
 * @moments: stops of tracing in the stretch
 * @most: bytes of a stretch, about
 * @begun: bytes, with labels, of the stretches before
 * @plain: the same without labels
 * @plain_size: bytes of the stretch without labels
 * @from, @to: bytes of the queue that the stretch is made of
 */
struct perf_stream {
	struct perf_queue *queue;
	struct perf_trace trace;
	struct perf_label *label;
	struct jobs *jobs;
	struct jobs_moment *moments;
	u64 most;
	u64 begun, plain, plain_size;
	u64 from, to;
};

/**
 * perf_stream_begin() - read the first stretch of a queue, also once more
 * @run: has the queue's turns
 * @stream: @queue and @jobs are set, the rest is zero the first time
 *
 * Return: true, or false after a sentence.
 */
bool perf_stream_begin(struct run *run, struct perf_stream *stream);

/**
 * perf_stream_next() - read the next stretch
 * @run: the run
 * @stream: its trace has bytes ahead
 *
 * Return: true, or false after a sentence.
 */
bool perf_stream_next(struct run *run, struct perf_stream *stream);

/**
 * perf_stream_end() - free all but @queue and @jobs
 * @stream: may be all zero
 */
void perf_stream_end(struct perf_stream *stream);

/**
 * perf_run_take() - give records of a trace to who shows them, with who ran between
 * @ctx: the run
 * @records: what, in order
 * @n: how many
 *
 * Return: false: enough, as of struct kipt_sink.
 */
bool perf_run_take(void *ctx, const struct kipt_record *records, u32 n);

/**
 * perf_run_gap() - say why a piece does not go on where the one before ended
 * @run: the run; it is at that piece from then on
 * @stream: its stretch
 * @part: the piece
 *
 * Return: true, or false if there are to be no more.
 */
bool perf_run_gap(struct run *run, const struct perf_stream *stream, const struct perf_part *part);

/**
 * perf_part_known() - bytes from the begin of a piece on that the decoder may look at
 * @trace: the stretch
 * @part: the piece
 *
 * Return: how many; of the last piece those that are ahead of the stretch, too.
 */
u64 perf_part_known(const struct perf_trace *trace, const struct perf_part *part);

/**
 * perf_part_all() - find which bytes of all queues together are shown
 * @run: its size is known
 */
void perf_part_all(struct run *run);

/**
 * perf_part_queue() - look whether bytes of a queue are shown, its begin, and its end
 * @run: those before were passed
 * @queue: the queue
 *
 * Return: true if there are some.
 */
bool perf_part_queue(struct run *run, const struct perf_queue *queue);

/**
 * perf_part_find() - find where the bytes of a queue begin that are shown, or needed for them
 * @run: perf_part_queue() was asked
 * @stream: at its first stretch; moved on to the one where the needed bytes begin
 *
 * Return: true, or false if it was interrupted, or after a sentence.
 */
bool perf_part_find(struct run *run, struct perf_stream *stream);

/**
 * perf_part_before() - decode what is before the bytes that are shown
 * @run: perf_part_find() found them
 * @stream: as that left it; moved on to the stretch where the shown bytes begin, or to the one
 *	that ends there
 *
 * It says only who ran, and when: it is decoded from farther back until there is a time.
 *
 * Return: true, or false if decoding is to end.
 */
bool perf_part_before(struct run *run, struct perf_stream *stream);

/**
 * perf_part_run() - decode the bytes of a piece that are shown
 * @run: perf_part_before() was called, or the whole is shown
 * @stream: the stretch
 * @part: the piece
 *
 * Return: as jobs_run().
 */
enum kipt_status perf_part_run(struct run *run, struct perf_stream *stream,
			       const struct perf_part *part);

/**
 * perf_part_goes_on() - whether something of the stretches to come is shown
 * @run: perf_part_run() had all pieces of the stretch
 * @stream: the stretch
 */
bool perf_part_goes_on(const struct run *run, const struct perf_stream *stream);

#endif /* KIPT_PERF_RUN_H */
