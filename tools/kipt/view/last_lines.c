// SPDX-License-Identifier: GPL-2.0-only
/*
 * The last lines of a text, see last_lines.h.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "last_lines.h"

struct line {
	char *text;
	size_t length;
	size_t room;
};

/* @begun counts lines; the last one may not have its end yet. */
struct last_lines {
	FILE *file;
	u64 begun;
	bool open;
	u32 count;
	struct line lines[];
};

static struct line *line_begin(struct last_lines *lines)
{
	struct line *line;

	if (!lines->open) {
		lines->open = true;
		lines->begun++;
		line = &lines->lines[(lines->begun - 1) % lines->count];
		line->length = 0;
	}
	return &lines->lines[(lines->begun - 1) % lines->count];
}

static bool line_add(struct line *line, const char *text, size_t length)
{
	size_t room = line->length + length;
	char *larger;

	if (room > line->room) {
		room = room < 128 ? 128 : room * 2;
		larger = realloc(line->text, room);
		if (!larger)
			return false;
		line->text = larger;
		line->room = room;
	}
	memcpy(line->text + line->length, text, length);
	line->length += length;
	return true;
}

static ssize_t lines_write(void *ctx, const char *text, size_t size)
{
	struct last_lines *lines = ctx;
	const char *end = text + size, *newline;
	size_t length;

	while (text < end) {
		newline = memchr(text, '\n', end - text);
		length = newline ? (size_t)(newline + 1 - text) :
				   (size_t)(end - text);
		if (!line_add(line_begin(lines), text, length))
			return 0;
		text += length;
		lines->open = !newline;
	}
	return size;
}

struct last_lines *last_lines_create(u32 count)
{
	const cookie_io_functions_t calls = { .write = lines_write };
	struct last_lines *lines;

	lines = calloc(1, sizeof(*lines) + count * sizeof(*lines->lines));
	if (!lines)
		return NULL;
	lines->count = count;
	lines->file = fopencookie(lines, "w", calls);
	if (lines->file)
		return lines;
	free(lines);
	return NULL;
}

FILE *last_lines_file(struct last_lines *lines)
{
	return lines->file;
}

u64 last_lines_show(struct last_lines *lines, FILE *out)
{
	const struct line *line;
	u64 i, first;

	fflush(lines->file);
	first = lines->begun > lines->count ? lines->begun - lines->count : 0;
	for (i = first; i < lines->begun; i++) {
		line = &lines->lines[i % lines->count];
		fwrite(line->text, line->length, 1, out);
	}
	return first;
}

void last_lines_destroy(struct last_lines *lines)
{
	u32 i;

	if (!lines)
		return;
	fclose(lines->file);
	for (i = 0; i < lines->count; i++)
		free(lines->lines[i].text);
	free(lines);
}
