// SPDX-License-Identifier: GPL-2.0-only
/*
 * A queue of lines whose tail can be taken back, see call_lines.h.
 */
#include <stdlib.h>
#include <string.h>

#include "call_lines.h"

#define LINES_HELD	32768

struct call_lines {
	/* Numbers of the first line held and of the one after the last. */
	u64 first, end;
	void (*print)(void *ctx, const struct call_line *l);
	void *ctx;
	struct call_line ring[LINES_HELD];
};

struct call_lines *call_lines_create(void (*print)(void *ctx,
						   const struct call_line *l),
				     void *ctx)
{
	struct call_lines *lines = calloc(1, sizeof(*lines));

	if (!lines)
		return NULL;
	lines->print = print;
	lines->ctx = ctx;
	return lines;
}

static struct call_line *slot(struct call_lines *lines, u64 number)
{
	return &lines->ring[number % LINES_HELD];
}

static void print_first(struct call_lines *lines)
{
	struct call_line *line = slot(lines, lines->first++);

	lines->print(lines->ctx, line);
	free(line->text);
}

void call_lines_destroy(struct call_lines *lines)
{
	if (!lines)
		return;
	while (lines->first < lines->end)
		print_first(lines);
	free(lines);
}

struct call_line *call_lines_add(struct call_lines *lines)
{
	if (lines->end - lines->first == LINES_HELD)
		print_first(lines);
	return slot(lines, lines->end++);
}

u64 call_lines_last(const struct call_lines *lines)
{
	return lines->end - 1;
}

struct call_line *call_lines_at(struct call_lines *lines, u64 number)
{
	if (number < lines->first || number >= lines->end)
		return NULL;
	return slot(lines, number);
}

void call_lines_fold(struct call_lines *lines, u64 first, u64 number)
{
	struct call_line *line, *other;
	u64 i;

	for (i = 0; first + i < number && number + i < lines->end; i++) {
		line = call_lines_at(lines, first + i);
		other = call_lines_at(lines, number + i);
		if (!line || !other)
			continue;
		line->instances += other->instances;
		line->measured += other->measured;
		line->ticks += other->ticks;
		line->cycles += other->cycles;
		line->insns += other->insns;
	}
	while (lines->end > number && lines->end > lines->first)
		free(slot(lines, --lines->end)->text);
}
