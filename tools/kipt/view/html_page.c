// SPDX-License-Identifier: GPL-2.0-only
/*
 * The files of the page, see html_page.h. The assembler finds them with the option that
 * kipt.mk gives it.
 */
#define _GNU_SOURCE
#include <string.h>

#include "html_page.h"

/* Defines NAME and NAME_end around the bytes of a file. */
#define FILE_OF(name, file)					\
	__asm__(".section .rodata\n"				\
		#name ":\n.incbin \"" file "\"\n"		\
		#name "_end:\n.byte 0\n.previous\n");		\
	extern const char name[], name##_end[]

FILE_OF(kipt_page_html, "page.html");
FILE_OF(kipt_page_style, "page.css");
FILE_OF(kipt_page_chart, "chart.js");
FILE_OF(kipt_page_draw, "draw.js");
FILE_OF(kipt_page_timeline, "timeline.js");
FILE_OF(kipt_page_flame, "flame.js");
FILE_OF(kipt_page_script, "page.js");
FILE_OF(kipt_page_table, "table.js");

#define MARK_STYLE	"@STYLE@"
#define MARK_DATA	"@DATA@"
#define MARK_SCRIPT	"@SCRIPT@"
/* Elements by which the parts are found that the page of a table has, too. */
#define TITLE_BEGIN	"<title>"
#define TITLE_END	"</title>"
#define HEADER_BEGIN	"<header>"
#define SCRIPT_BEGIN	"<script>"

static void part_put(FILE *out, const char *from, const char *to)
{
	fwrite(from, 1, to - from, out);
}

static const char *line_end(const char *from)
{
	return strchr(from, '\n') + 1;
}

/* A file without its first line, which is of the file alone: the licence. */
static void file_put(FILE *out, const char *from, const char *to)
{
	part_put(out, line_end(from), to);
}

/* The page has each mark. */
static const char *mark_find(const char *mark)
{
	return memmem(kipt_page_html, kipt_page_html_end - kipt_page_html, mark, strlen(mark));
}

static void head_put(FILE *out, const char *title, const char *end)
{
	const char *style = mark_find(MARK_STYLE);

	part_put(out, kipt_page_html, line_end(kipt_page_html));
	part_put(out, line_end(line_end(kipt_page_html)), mark_find(TITLE_BEGIN));
	fprintf(out, TITLE_BEGIN "%s", title);
	part_put(out, mark_find(TITLE_END), style);
	file_put(out, kipt_page_style, kipt_page_style_end);
	part_put(out, style + strlen(MARK_STYLE), end);
}

void html_page_begin(FILE *out)
{
	head_put(out, "kipt trace", mark_find(MARK_DATA));
}

void html_page_end(FILE *out)
{
	const char *script = mark_find(MARK_SCRIPT);

	part_put(out, mark_find(MARK_DATA) + strlen(MARK_DATA), script);
	file_put(out, kipt_page_chart, kipt_page_chart_end);
	file_put(out, kipt_page_draw, kipt_page_draw_end);
	file_put(out, kipt_page_timeline, kipt_page_timeline_end);
	file_put(out, kipt_page_flame, kipt_page_flame_end);
	file_put(out, kipt_page_script, kipt_page_script_end);
	part_put(out, script + strlen(MARK_SCRIPT), kipt_page_html_end);
}

void html_table_begin(FILE *out, const char *title)
{
	head_put(out, title, mark_find(HEADER_BEGIN));
}

void html_table_end(FILE *out)
{
	const char *script = mark_find(MARK_SCRIPT);

	part_put(out, mark_find(SCRIPT_BEGIN), script);
	file_put(out, kipt_page_table, kipt_page_table_end);
	part_put(out, script + strlen(MARK_SCRIPT), kipt_page_html_end);
}
