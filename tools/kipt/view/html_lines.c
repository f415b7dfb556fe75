// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lines of source code for the page, see html_lines.h. Without memory a call has no line.
 */
#include <stdlib.h>
#include <string.h>

#include "../cli/list_room.h"
#include "html_lines.h"

/* Functions of more places have no line. */
#define PLACES_MAX	(1U << 20)
/* As long as those of the view of calls. */
#define LINE_ROOM	128

/**
 * struct html_place - where a function begins
 * @at: in its file
 * @tried: its line was looked up
 * @line: index of the line, or HTML_NO_LINE
 */
struct html_place {
	struct source_place at;
	bool tried;
	u32 line;
};

/**
 * struct html_line - a line of source code
 * @text: owned
 * @number: on the page, or HTML_NO_LINE
 */
struct html_line {
	char *text;
	u32 number;
};

static u32 place_add(struct html_lines *lines, const struct source_place *at)
{
	u64 key = lookup_mix(lookup_mix(0, (u64)at->object), at->offset);
	const size_t *known = lookup_get(&lines->place_of, key);
	struct html_place *places;

	if (known && !memcmp(&lines->places[*known].at, at, sizeof(*at)))
		return *known + 1;
	if (lines->place_count == PLACES_MAX)
		return HTML_NO_PLACE;
	places = list_room(lines->places, lines->place_count, sizeof(*places));
	if (!places)
		return HTML_NO_PLACE;
	lines->places = places;
	places[lines->place_count] = (struct html_place){ .at = *at };
	/* Without memory for the key it is there twice. */
	lookup_add(&lines->place_of, key, lines->place_count);
	return ++lines->place_count;
}

u32 html_lines_place(struct html_lines *lines, u32 pid, u64 address)
{
	u64 changes = names_changes(lines->names) + 1;
	struct html_lines_recent *recent =
		&lines->recent[lookup_mix(pid, address) % HTML_LINES_RECENT];
	struct source_place at;

	if (recent->address == address && recent->changes == changes &&
	    recent->pid == pid)
		return recent->place;
	recent->place = names_source_place(lines->names, pid, address, &at) ?
			place_add(lines, &at) : HTML_NO_PLACE;
	/* What was looked up may have become known by that. */
	recent->changes = names_changes(lines->names) + 1;
	recent->address = address;
	recent->pid = pid;
	return recent->place;
}

static u32 line_add(struct html_lines *lines, const char *text)
{
	u64 key = lookup_text(0, text);
	const size_t *known = lookup_get(&lines->line_of, key);
	struct html_line *list;

	if (known && !strcmp(lines->lines[*known].text, text))
		return *known;
	list = list_room(lines->lines, lines->line_count, sizeof(*list));
	if (!list)
		return HTML_NO_LINE;
	lines->lines = list;
	list[lines->line_count] = (struct html_line){ strdup(text), HTML_NO_LINE };
	if (!list[lines->line_count].text)
		return HTML_NO_LINE;
	lookup_add(&lines->line_of, key, lines->line_count);
	return lines->line_count++;
}

/* Looked up once, whether it is found or not. */
static struct html_line *line_of(struct html_lines *lines, u32 number)
{
	struct html_place *place = number ? &lines->places[number - 1] : NULL;
	char text[LINE_ROOM];

	if (!place)
		return NULL;
	if (!place->tried)
		place->line = names_source_at(lines->names, &place->at, text,
					      sizeof(text)) ?
			      line_add(lines, text) : HTML_NO_LINE;
	place->tried = true;
	return place->line == HTML_NO_LINE ? NULL : &lines->lines[place->line];
}

void html_lines_restart(struct html_lines *lines)
{
	u32 i;

	for (i = 0; i < lines->numbered_count; i++)
		lines->lines[lines->numbered[i]].number = HTML_NO_LINE;
	lines->numbered_count = 0;
}

u32 html_lines_number(struct html_lines *lines, u32 place)
{
	struct html_line *line = line_of(lines, place);
	u32 *numbered;

	if (!line || line->number != HTML_NO_LINE)
		return line ? line->number : HTML_NO_LINE;
	numbered = list_room(lines->numbered, lines->numbered_count, sizeof(*numbered));
	if (!numbered)
		return HTML_NO_LINE;
	lines->numbered = numbered;
	numbered[lines->numbered_count] = line - lines->lines;
	return line->number = lines->numbered_count++;
}

const char *html_lines_text(const struct html_lines *lines, u32 number)
{
	return lines->lines[lines->numbered[number]].text;
}

void html_lines_free(struct html_lines *lines)
{
	u32 i;

	for (i = 0; i < lines->line_count; i++)
		free(lines->lines[i].text);
	free(lines->lines);
	free(lines->places);
	free(lines->numbered);
	lookup_free(&lines->place_of);
	lookup_free(&lines->line_of);
}
