/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where lines of inlined functions come among those of calls, and how far all of them
 * are indented: a call that inlined code makes is below the lines of what was inlined.
 */
#ifndef KIPT_INLINED_LINES_H
#define KIPT_INLINED_LINES_H

#include "../symbols/inlined.h"

struct inlined_level;

/**
 * struct inlined_lines - the lines that the next one may be below; all zero at first
 * @levels: of each depth of calls, the last line
 * @known: how many of them there were since inlined_lines_begin(), and one below
 * @room: how many there is memory for
 */
struct inlined_lines {
	struct inlined_level *levels;
	u32 known;
	u32 room;
};

/**
 * inlined_lines_begin() - another CPU or task: what comes is below no line before
 * @lines: lines
 */
void inlined_lines_begin(struct inlined_lines *lines);

/**
 * inlined_lines_next() - a line comes
 * @lines: lines
 * @depth: calls it is below
 * @inlined: the innermost inlined function it is below, or NULL
 * @shown: filled: so many levels of inlined functions have their lines already
 *
 * Return: how many lines, inlined functions of the same call not among them, it is below.
 */
u32 inlined_lines_next(struct inlined_lines *lines, u32 depth,
		       const struct inlined *inlined, u32 *shown);

/**
 * inlined_lines_end() - free it
 * @lines: may be all zero
 */
void inlined_lines_end(struct inlined_lines *lines);

#endif /* KIPT_INLINED_LINES_H */
