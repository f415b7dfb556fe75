/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One of several parts of a trace: which bytes it has, and from where on they have to be
 * decoded so that it is known who ran, and when, where it begins.
 */
#ifndef KIPT_PART_CUT_H
#define KIPT_PART_CUT_H

#include <stdbool.h>

#include "../../../kmod/decode/port.h"

struct view_options;

#define PARTS_MAX	65536

/**
 * struct part - one of several parts
 * @number: from 1 on; 0: there are no parts, but the whole
 * @count: how many there are
 */
struct part {
	u32 number;
	u32 count;
};

/**
 * struct part_needs - what has to be known where a part begins
 * @first: the first time of the trace
 * @time: the time
 * @space: the address space, which says who runs
 */
struct part_needs {
	bool first;
	bool time;
	bool space;
};

/**
 * struct part_bytes - the bytes of a part; each end is a PSB or an end of the trace
 * @from, @to: what is shown; equal where the part has none of the trace
 * @back: decoded from here on, @from at most
 * @head: the first ones are decoded as well, for the first time; @back at most
 * @timed: bytes from @back on are to show a time; where none of their records has one,
 *	those before are needed as well
 */
struct part_bytes {
	u64 from, to;
	u64 back;
	u64 head;
	bool timed;
};

/**
 * part_parse() - take I/N
 * @part: filled on success
 * @text: the text
 *
 * Return: true, or false after a sentence.
 */
bool part_parse(struct part *part, const char *text);

/**
 * part_settle() - whether parts of what is shown make the whole
 * @view: all options were taken
 *
 * Return: true, or false after a sentence.
 */
bool part_settle(const struct view_options *view);

/**
 * part_begin() - where a part would begin if a trace could be cut anywhere
 * @part: which; its @number may be one more than its @count, which is the end
 * @size: bytes of all there is
 *
 * Return: an offset.
 */
u64 part_begin(const struct part *part, u64 size);

/**
 * part_cut() - where a trace is cut
 * @trace: a trace
 * @size: its bytes
 * @wish: offset where it should be, @size at most
 *
 * Return: the first PSB at or after @wish, but 0 instead of the first of all PSBs, so that
 * no part has bytes without a PSB; @size if there is none.
 */
u64 part_cut(const u8 *trace, u64 size, u64 wish);

/**
 * struct part_search - where decoding has to begin, while it is looked for
 * @needs: what has to be known
 * @from: where the part begins
 * @before: bytes before the trace that is looked at
 * @back: the last PSB that says all of it
 * @plain: the last one that says all but the time
 * @head: after the first PSB that has a time
 * @tsc: the time of the last PSB, if @timed
 * @backwards: times went back
 * @other: there is a time, though no PSB has one
 */
struct part_search {
	struct part_needs needs;
	u64 from;
	u64 before;
	u64 back;
	u64 plain;
	u64 head;
	u64 tsc;
	bool timed;
	bool backwards;
	bool other;
};

/**
 * part_look() - look at a piece of a trace
 * @search: @needs and @from are set, the rest is zero before the first
 * @trace: the trace from byte @before on
 * @start: where the piece begins in it; pieces come in order
 * @end: after it
 *
 * Return: true, or false if it was interrupted.
 */
bool part_look(struct part_search *search, const u8 *trace, u64 start, u64 end);

/**
 * part_found() - fill @back and @head
 * @bytes: @from is that of the search
 * @search: looked at all pieces
 *
 * It is the last PSB before @from that says all that is needed. Where none does, or
 * where times of PSBs go back, all from the begin of the trace on is decoded. A trace
 * without times needs none.
 */
void part_found(struct part_bytes *bytes, const struct part_search *search);

/**
 * part_farther() - where to look when bytes from @back on showed no time
 * @bytes: of them @back is not 0
 *
 * A time is shown with a record after it only.
 *
 * Return: what @from of another search is to be, whose @back is given to part_step(); it is
 * at least twice as far from @from of @bytes as their @back, or 0.
 */
u64 part_farther(const struct part_bytes *bytes);

/**
 * part_step() - go farther back
 * @bytes: their @back is moved, to the begin of the trace if @found is not far enough: 64
 *	steps lead there, whatever is found
 * @found: what the search from part_farther() on found
 */
void part_step(struct part_bytes *bytes, u64 found);

#endif /* KIPT_PART_CUT_H */
