/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The end of a trace as lines, in the time there is: first what stands behind
 * the last PSB, then more and more, further back, while there is time. What was
 * decoded to its end last is what counts, so that time that is up costs the
 * oldest calls and not the newest. Pure functions, any context; the clock comes by
 * a callback.
 */
#ifndef KIPT_EXCERPT_DECODE_H
#define KIPT_EXCERPT_DECODE_H

#include "excerpt_lines.h"
#include "excerpt_text.h"

struct kipt_flow;

/**
 * struct kipt_excerpt_found - what a part of the trace gave
 * @list: lines up to @last, or to the end of the trace
 * @last: where execution died; valid if @ends
 * @ends: kipt_excerpt_ends() held for @last
 * @cut: time was up before @list was whole
 * @over: time was up before all was decoded that should have been
 * @insns: instructions that were traced after @last
 */
struct kipt_excerpt_found {
	struct kipt_excerpt_lines list;
	struct kipt_record last;
	bool ends;
	bool cut;
	bool over;
	u64 insns;
};

/**
 * struct kipt_excerpt_decode - a trace that is decoded
 * @flow: its sink is kipt_excerpt_decode_emit(), with this as context; it
 *	pauses now and then; the caller sets it, and what follows up to @memory
 * @data: the trace
 * @size: its bytes
 * @end: where execution died
 * @lines: as many are enough
 * @now: the clock, any unit, never back
 * @ctx: first argument of @now
 * @limit: it ends when @now gives this
 * @memory: two lists of @room lines
 * @room: at least KIPT_EXCERPT_ROOM_MIN
 * @found: what is being decoded, and what was decoded before that
 * @at: which of @found is being decoded
 * @number: of the record at hand, from 1
 * @last_number: of where execution died; 0: not found
 * @searching: it is looked for
 * @over: @limit was reached, or there were too many records
 */
struct kipt_excerpt_decode {
	struct kipt_flow *flow;
	const u8 *data;
	u64 size;
	struct kipt_excerpt_end end;
	u32 lines;
	u64 (*now)(void *ctx);
	void *ctx;
	u64 limit;
	struct kipt_excerpt_line *memory[2];
	u32 room;
	struct kipt_excerpt_found found[2];
	u32 at;
	u64 number;
	u64 last_number;
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
 * Each part is decoded twice: once to find where the machine died, which is the
 * last place that looks like it, and once up to there.
 *
 * Return: what was found, in @decode; its list is the caller's to change.
 */
struct kipt_excerpt_found *
kipt_excerpt_decode_run(struct kipt_excerpt_decode *decode);

#endif /* KIPT_EXCERPT_DECODE_H */
