/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The end of a trace as lines, in the time there is. Where the machine died is
 * looked for backwards, from one PSB to the one before, each part decoded once; then
 * the part that has it becomes lines, then more and more before it, while there is
 * time. So time that is up costs the oldest calls and not the newest. Pure
 * functions, any context; the clock comes by a callback.
 */
#ifndef KIPT_EXCERPT_DECODE_H
#define KIPT_EXCERPT_DECODE_H

#include "../shared/excerpt_end.h"
#include "../shared/excerpt_lines.h"

struct kipt_flow;

/**
 * struct kipt_excerpt_found - what a part of the trace gave
 * @list: lines up to where execution died, or to the end of the trace
 * @cut: time was up before @list was whole
 * @over: time was up before all was decoded that should have been
 */
struct kipt_excerpt_found {
	struct kipt_excerpt_lines list;
	bool cut;
	bool over;
};

/**
 * struct kipt_excerpt_decode - a trace that is decoded
 * @flow: its sink is kipt_excerpt_decode_emit(), with this as context; it
 *	pauses now and then; the caller sets it, and what follows up to @room
 * @data: the trace
 * @size: its bytes
 * @end: where execution died
 * @lines: as many are enough
 * @begins: what is decoded next begins at the PSB at @offset, or there is none
 * @now: the clock, any unit, never back
 * @ctx: first argument of @begins and @now
 * @limit: it ends when @now gives this
 * @memory: two lists of @room lines
 * @room: at least KIPT_EXCERPT_ROOM_MIN
 * @found: what is being decoded, and what was decoded before that
 * @at: which of @found is being decoded
 * @until: what is being done ends when @now gives this
 * @total: records since that began
 * @number: of the current record in its part, from 1
 * @part: offset of the PSB before the end of execution; of the last one if that
 *	is not found
 * @part_end: offset of the next one, or @size
 * @last: where execution died, record @last_number of @part; 0: not found
 * @last_number: see there
 * @insns: instructions that were traced after @last
 * @stop_at: no more lines are made from this record of the part on; 0: all are
 * @searching: @last is looked for
 * @over: @until was reached, or there were too many records
 */
struct kipt_excerpt_decode {
	struct kipt_flow *flow;
	const u8 *data;
	u64 size;
	struct kipt_excerpt_end end;
	u32 lines;
	void (*begins)(void *ctx, u64 offset);
	u64 (*now)(void *ctx);
	void *ctx;
	u64 limit;
	struct kipt_excerpt_line *memory[2];
	u32 room;
	struct kipt_excerpt_found found[2];
	u32 at;
	u64 until;
	u64 total;
	u64 number;
	u64 part;
	u64 part_end;
	struct kipt_record last;
	u64 last_number;
	u64 insns;
	u64 stop_at;
	bool searching;
	bool over;
};

/**
 * kipt_excerpt_decode_emit() - take records, as struct kipt_sink has it
 * @ctx: struct kipt_excerpt_decode
 * @records: they
 * @n: how many
 *
 * Return: false if no more are wanted.
 */
bool kipt_excerpt_decode_emit(void *ctx, const struct kipt_record *records,
			      u32 n);

/**
 * kipt_excerpt_decode_run() - decode as much as there is time for
 * @decode: as said there
 *
 * The end is the last place that looks like it. What is found is found in half of the
 * time, so that the other half does for its lines.
 *
 * Return: what was found, in @decode, as are @last_number, @last and @insns; its list is the
 * caller's to change.
 */
struct kipt_excerpt_found *
kipt_excerpt_decode_run(struct kipt_excerpt_decode *decode);

#endif /* KIPT_EXCERPT_DECODE_H */
