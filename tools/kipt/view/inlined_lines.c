// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lines of inlined functions among those of calls, see inlined_lines.h.
 */
#include <stdlib.h>

#include "inlined_lines.h"

/* Calls below that depth are shown without what is inlined there. */
#define DEPTH_MOST	65536

/* @indent: lines that a call of this depth is below. @last: what the last call of this
 * depth was made by; NULL: no inlined function, or it was of another caller.
 */
struct inlined_level {
	u32 indent;
	const struct inlined *last;
};

void inlined_lines_begin(struct inlined_lines *lines)
{
	lines->known = 0;
}

void inlined_lines_end(struct inlined_lines *lines)
{
	free(lines->levels);
	*lines = (struct inlined_lines){ 0 };
}

/* Room for a depth and the one below it. */
static bool room_make(struct inlined_lines *lines, u32 depth)
{
	u32 room = lines->room ? lines->room : 64;
	struct inlined_level *levels;

	if (depth >= DEPTH_MOST)
		return false;
	if (depth + 2 <= lines->room)
		return true;
	while (room < depth + 2)
		room *= 2;
	levels = realloc(lines->levels, room * sizeof(*levels));
	if (!levels)
		return false;
	lines->levels = levels;
	lines->room = room;
	return true;
}

/* Lines up to this depth are not there: their task went on from before. */
static void levels_skip(struct inlined_lines *lines, u32 depth)
{
	struct inlined_level *levels = lines->levels;

	for (; lines->known <= depth; lines->known++) {
		levels[lines->known].indent =
			lines->known ? levels[lines->known - 1].indent + 1 : 0;
		levels[lines->known].last = NULL;
	}
}

u32 inlined_lines_next(struct inlined_lines *lines, u32 depth,
		       const struct inlined *inlined, u32 *shown)
{
	struct inlined_level *at, *below;

	*shown = inlined ? inlined->level : 0;
	if (!room_make(lines, depth))
		return depth;
	levels_skip(lines, depth);
	at = &lines->levels[depth];
	below = at + 1;
	*shown = inlined_shared(at->last, inlined);
	at->last = inlined;
	below->indent = at->indent + 1 + (inlined ? inlined->level : 0);
	below->last = NULL;
	lines->known = depth + 2;
	return at->indent;
}
