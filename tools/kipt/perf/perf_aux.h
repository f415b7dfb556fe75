/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The trace in a recording of perf: how it was made, and which bytes of it
 * follow each other on which CPU or thread.
 */
#ifndef KIPT_PERF_AUX_H
#define KIPT_PERF_AUX_H

#include "../cli/lookup.h"
#include "perf_file.h"

/* The kind of trace that AUXTRACE_INFO is about. */
#define PERF_AUXTRACE_INTEL_PT	1

/* What it says of Intel PT, as 64-bit numbers in this order. */
enum {
	PERF_INFO_PMU,
	PERF_INFO_SHIFT,
	PERF_INFO_MULT,
	PERF_INFO_ZERO,
	PERF_INFO_HAS_ZERO,
	PERF_INFO_TSC_BIT,
	PERF_INFO_NORETCOMP_BIT,
	PERF_INFO_SWITCHES,
	PERF_INFO_SNAPSHOT,
	PERF_INFO_PER_CPU,
	PERF_INFO_MTC_BIT,
	PERF_INFO_MTC_FREQ_BITS,
	PERF_INFO_TSC_NUM,
	PERF_INFO_TSC_DEN,
	PERF_INFO_CYC_BIT,
	PERF_INFO_MAX_NONTURBO,
	PERF_INFO_FILTER_BYTES,
	PERF_INFO_EVENT_TRACE,
	PERF_INFO_COUNT,
};

/* The least value of PERF_INFO_SWITCHES with which there are events of switches. */
#define PERF_SWITCHES_TASK	2

/**
 * struct perf_clock - from the clock of perf to the TSC and back
 * @shift: of the TSC
 * @mult: nanoseconds of 2^@shift ticks; 0: nobody knows
 * @zero: nanoseconds when the TSC was 0
 */
struct perf_clock {
	u16 shift;
	u32 mult;
	u64 zero;
};

/**
 * struct perf_part - bytes of trace that follow each other
 * @start: offset in the trace of its queue
 * @size: how many
 * @gap: enum kipt_gap_kind of what is missing before them; 0: nothing, or
 *	they are the first
 */
struct perf_part {
	u64 start;
	u64 size;
	u32 gap;
};

/**
 * struct perf_piece - trace that perf wrote at once
 * @at: where in the file
 * @bytes: or in memory, owned: it was in a sample; NULL: in the file
 * @size: bytes
 * @offset: of the first one in all that the queue ever had
 */
struct perf_piece {
	u64 at;
	u8 *bytes;
	u64 size;
	u64 offset;
};

/**
 * struct perf_cut - where trace was lost
 * @offset: in all that the queue ever had
 * @gap: enum kipt_gap_kind
 */
struct perf_cut {
	u64 offset;
	u32 gap;
};

/**
 * struct perf_stop - where the CPU did not trace, as perf took what there was
 * @offset: in all that the queue ever had
 * @time: by the clock of perf
 */
struct perf_stop {
	u64 offset;
	u64 time;
};

/**
 * struct perf_queue - the trace of one CPU or thread
 * @has_cpu: it is of a CPU
 * @cpu: which
 * @tid: the thread it is of, if it is not of a CPU
 * @pieces: as they were written
 * @piece_count: how many
 * @cuts: where trace was lost
 * @cut_count: how many
 * @stops: in order of the file
 * @stop_count: how many
 * @size: bytes of all pieces
 */
struct perf_queue {
	bool has_cpu;
	u32 cpu;
	u32 tid;
	struct perf_piece *pieces;
	size_t piece_count;
	struct perf_cut *cuts;
	size_t cut_count;
	struct perf_stop *stops;
	size_t stop_count;
	u64 size;
};

/**
 * struct perf_joint - pieces that follow each other
 * @start: where they begin in the stretch
 * @offset: of that byte in all that the queue ever had
 * @next: of the byte after them
 * @gap: enum kipt_gap_kind of what is missing before them; 0: nothing
 */
struct perf_joint {
	u64 start;
	u64 offset;
	u64 next;
	u32 gap;
};

/**
 * struct perf_trace - the trace of one queue, a stretch at a time
 * @bytes: of the stretch, all that is not there twice, and of what comes after it
 * @size: of the stretch
 * @end: of @bytes, before the next loss of trace: those from @size on come again in the next
 *	stretch, which begins with a PSB, or where it does not go on with what was before
 * @goes_on: its first part goes on where the last one of the stretch before ended
 * @parts: in order, all of the stretch
 * @part_count: how many
 * @stops: offsets in @bytes, in order, as times are
 * @stop_count: how many
 * @labels: offsets in @bytes of PIPs that perf_label.h put there, in order; owned
 * @label_count: how many
 * @room: bytes that @bytes has room for
 * @ahead: all that was read from @size on; owned
 * @ahead_size: how many; 0: this is the last stretch
 * @passed: bytes of the pieces that were read, those of @ahead too
 * @piece: the first piece that is not read whole
 * @done: bytes of that piece that are read
 * @joint: the pieces read last
 */
struct perf_trace {
	u8 *bytes;
	u64 size, end;
	bool goes_on;
	struct perf_part *parts;
	size_t part_count;
	struct perf_stop *stops;
	size_t stop_count;
	u64 *labels;
	size_t label_count;
	u64 room;
	u8 *ahead;
	u64 ahead_size;
	u64 passed;
	size_t piece;
	u64 done;
	struct perf_joint joint;
};

/* All of a queue is one stretch. */
#define PERF_TRACE_WHOLE	(~0ULL)

/* Bytes of trace that are in memory at a time; a test has less. */
#ifndef KIPT_PERF_STRETCH
#define KIPT_PERF_STRETCH	(16ULL << 20)
#endif

/**
 * struct perf_aux - all trace of a recording
 * @known: perf said how it was made
 * @pmu: the number of the PMU of Intel PT
 * @clock: conversion of time
 * @snapshot: pieces are snapshots or of samples, which may overlap
 * @per_cpu: each buffer is of a CPU, not of a thread
 * @switches: who ran is recorded: 0 no, 1 as a tracepoint, 2 each task, 3 CPUs
 * @mtc_freq_bits: bits of the configuration that are the period of MTC
 * @noretcomp_bit, @cyc_bit, @mtc_bit, @tsc_bit: bits of the configuration
 * @tsc_num, @tsc_den: TSC ticks per tick of the crystal
 * @max_nonturbo: ratio; 0: unknown
 * @filter: ranges of addresses as perf writes them; "": there are none
 * @queues: in the order in which they are first in the file
 * @queue_count: how many
 * @queue_of: the index of a queue by CPU, or by thread above those
 * @place_of: the CPU, or the thread above those, of an event's number
 * @truncated, @partial, @collisions, @overwritten: AUX records that say so
 * @sampled: bytes of trace in samples, which are kept in memory
 * @bad_samples: samples that make no sense: their trace is not there
 * @cuts, @stops: of all queues
 * @failed: memory ran out, or a limit was reached, and a sentence said so
 */
struct perf_aux {
	bool known;
	u32 pmu;
	struct perf_clock clock;
	bool snapshot, per_cpu;
	u32 switches;
	u64 mtc_freq_bits;
	u64 noretcomp_bit, cyc_bit, mtc_bit, tsc_bit;
	u32 tsc_num, tsc_den;
	u8 max_nonturbo;
	char filter[256];
	struct perf_queue *queues;
	size_t queue_count;
	struct lookup queue_of;
	struct lookup place_of;
	u64 truncated, partial, collisions, overwritten;
	u64 sampled;
	u64 bad_samples;
	u32 cuts, stops;
	bool failed;
};

/**
 * perf_aux_take() - look at one event
 * @aux: all zero before the first
 * @file: where it is from
 * @event: any event
 *
 * Return: true, or false after a sentence: the trace is not of Intel PT, or
 * there is no memory.
 */
bool perf_aux_take(struct perf_aux *aux, const struct perf_file *file,
		   const struct perf_event *event);

/**
 * perf_aux_free() - free it
 * @aux: may be all zero
 */
void perf_aux_free(struct perf_aux *aux);

/**
 * perf_aux_attr() - what was traced
 * @aux: all events were looked at
 * @file: where they were from
 *
 * Return: the attribute of the trace, or NULL.
 */
const struct perf_attr *perf_aux_attr(const struct perf_aux *aux,
				      const struct perf_file *file);

/**
 * perf_aux_check() - is there a trace that can be read
 * @aux: all events were looked at
 * @file: where they were from
 * @whole: all of them; else a sentence said why some were not
 *
 * Return: true, or false after a sentence.
 */
bool perf_aux_check(const struct perf_aux *aux, const struct perf_file *file, bool whole);

/**
 * perf_trace_read() - the next stretch of the trace of a queue
 * @trace: all zero before the first; the caller's until perf_trace_free()
 * @aux: all events were looked at
 * @queue: one of its queues; its cuts are put in order
 * @file: where they are from
 * @most: about so many bytes, more where PSBs are far apart; of snapshots, which may overlap,
 *	some more than the largest
 *
 * It has no parts after the last stretch. Return: true, or false after a sentence.
 */
bool perf_trace_read(struct perf_trace *trace, const struct perf_aux *aux,
		     struct perf_queue *queue, const struct perf_file *file, u64 most);

/**
 * perf_trace_first() - the first time in the trace of a queue
 * @queue: a queue
 * @file: where its pieces are from
 * @tsc: 56 bits of the TSC, on success
 *
 * Return: false if its first pieces have none, or cannot be read.
 */
bool perf_trace_first(const struct perf_queue *queue,
		      const struct perf_file *file, u64 *tsc);

/**
 * perf_trace_free() - free it
 * @trace: may be all zero
 */
void perf_trace_free(struct perf_trace *trace);

/**
 * perf_clock_tsc() - the TSC at a time
 * @clock: its @mult is not 0
 * @time: in the clock of perf
 *
 * Return: the TSC, 0 if it is before the first.
 */
u64 perf_clock_tsc(const struct perf_clock *clock, u64 time);

/**
 * perf_clock_khz() - the speed of the TSC
 * @clock: any
 *
 * Return: kHz; 0: unknown.
 */
u32 perf_clock_khz(const struct perf_clock *clock);

#endif /* KIPT_PERF_AUX_H */
