/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lines of source code of the calls on the page. Where a function is in its file is kept
 * as it is called, when its process is known; its line is looked up when the page is
 * written, for the calls that are listed there.
 */
#ifndef KIPT_HTML_LINES_H
#define KIPT_HTML_LINES_H

#include "../cli/lookup.h"
#include "../symbols/address_names.h"

/* The place of a function in no file, and the number of a line that is not known. */
#define HTML_NO_PLACE	0U
#define HTML_NO_LINE	(~0U)
/* Functions whose place is found without a search. A power of two. */
#define HTML_LINES_RECENT	4096U

struct html_place;
struct html_line;

/**
 * struct html_lines_recent - a function that was called not long ago
 * @address, @changes, @pid: of it, and names_changes() then
 * @place: what was found
 */
struct html_lines_recent {
	u64 address, changes;
	u32 pid;
	u32 place;
};

/**
 * struct html_lines - all of it; empty if all zero
 * @names: where lines are from
 * @places: by their number
 * @place_count: how many
 * @lines: lines, each once
 * @line_count: how many
 * @numbered: by number on the page: index of the line
 * @numbered_count: how many lines are on the page
 */
struct html_lines {
	struct names *names;
	struct html_place *places;
	u32 place_count;
	struct html_line *lines;
	u32 line_count;
	u32 *numbered;
	u32 numbered_count;
	/* private: */
	struct lookup place_of, line_of;
	struct html_lines_recent recent[HTML_LINES_RECENT];
};

/**
 * html_lines_place() - a function is called
 * @lines: lines
 * @pid: its process; 0: not known
 * @address: where it begins
 *
 * Return: its place, or HTML_NO_PLACE.
 */
u32 html_lines_place(struct html_lines *lines, u32 pid, u64 address);

/**
 * html_lines_restart() - no line is on the page
 * @lines: lines
 */
void html_lines_restart(struct html_lines *lines);

/**
 * html_lines_number() - have the line of a place on the page
 * @lines: lines
 * @place: the place
 *
 * Return: its number there, or HTML_NO_LINE.
 */
u32 html_lines_number(struct html_lines *lines, u32 place);

/**
 * html_lines_text() - a line that is on the page
 * @lines: lines
 * @number: its number
 *
 * Return: "parse.c:31", owned by @lines.
 */
const char *html_lines_text(const struct html_lines *lines, u32 number);

/**
 * html_lines_free() - free what it has
 * @lines: lines
 */
void html_lines_free(struct html_lines *lines);

#endif /* KIPT_HTML_LINES_H */
