// SPDX-License-Identifier: GPL-2.0-only
/*
 * Coverage by lines of source code, as lcov has it. The count of a line is that of the
 * instruction of it that ran most often. Lines of a compile unit of which nothing ran are
 * left out.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../cli/list_room.h"
#include "../cli/messages.h"
#include "../cli/output_file.h"
#include "../cli/printable.h"
#include "../symbols/source_rows.h"
#include "coverage.h"

#define SOURCES_MAX	(1U << 20)
#define LINES_MAX	(1U << 24)
/* Bytes of the name of a function; longer ones are cut. */
#define NAME_MOST	4096

/* Code from @begin up to the next one's ran @count times. */
struct step {
	u64 begin;
	s64 count;
};

struct line {
	u32 source;
	u32 number;
	u64 count;
};

/* @line 0: nothing is known of it. */
struct function {
	char *name;
	u64 begin;
	u64 count;
	u32 source;
	u32 line;
};

/* @functions from @own on are of the file that is being read, and @in_order or not yet.
 * @last_file, as libdw has it until the file is read, is source @last_source.
 */
struct lcov {
	struct text_list sources;
	struct line *lines;
	size_t line_count;
	struct lookup line_of;
	struct function *functions;
	size_t function_count, own;
	bool in_order;
	const char *last_file;
	u32 last_source;
	struct step *steps;
	size_t step_count;
	const struct file_layout *layout;
	bool failed;
};

static int step_compare(const void *left, const void *right)
{
	const struct step *a = left, *b = right;

	return a->begin < b->begin ? -1 : a->begin > b->begin;
}

/* Sums of what begins and ends at each address, from all stretches of a file. */
static bool steps_make(struct lcov *lcov, const struct code_range *ranges, size_t count)
{
	struct step *steps = malloc(2 * count * sizeof(*steps));
	size_t i, n = 0;
	s64 sum = 0;

	if (!steps)
		return false;
	for (i = 0; i < count; i++) {
		steps[2 * i] = (struct step){ ranges[i].begin, ranges[i].count };
		steps[2 * i + 1] = (struct step){ ranges[i].begin + ranges[i].size,
						  -(s64)ranges[i].count };
	}
	qsort(steps, 2 * count, sizeof(*steps), step_compare);
	for (i = 0; i < 2 * count; i++) {
		sum += steps[i].count;
		n += n && steps[n - 1].begin == steps[i].begin ? 0 : 1;
		steps[n - 1] = (struct step){ steps[i].begin, sum };
	}
	lcov->steps = steps;
	lcov->step_count = n;
	return true;
}

/* How many steps begin at or before an address. */
static size_t steps_until(const struct lcov *lcov, u64 address)
{
	size_t low = 0, high = lcov->step_count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (lcov->steps[middle].begin <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The most that any of these bytes ran. */
static u64 count_of(const struct lcov *lcov, u64 begin, u64 end)
{
	size_t i = steps_until(lcov, begin);
	s64 most = i ? lcov->steps[i - 1].count : 0;

	for (; i < lcov->step_count && lcov->steps[i].begin < end; i++) {
		if (lcov->steps[i].count > most)
			most = lcov->steps[i].count;
	}
	return most;
}

static void line_count(struct lcov *lcov, u32 source, u32 number, u64 count)
{
	u64 key = (u64)source << 32 | number;
	size_t *found = lookup_get(&lcov->line_of, key);
	struct line *lines;

	if (found) {
		if (lcov->lines[*found].count < count)
			lcov->lines[*found].count = count;
		return;
	}
	lines = lcov->line_count < LINES_MAX ?
		list_room(lcov->lines, lcov->line_count, sizeof(*lines)) : NULL;
	if (lines)
		lcov->lines = lines;
	if (!lines || !lookup_add(&lcov->line_of, key, lcov->line_count)) {
		lcov->failed = true;
		return;
	}
	lines[lcov->line_count++] = (struct line){ source, number, count };
}

static void function_take(void *ctx, const char *name, u64 begin)
{
	struct lcov *lcov = ctx;
	struct function *list = list_room(lcov->functions, lcov->function_count,
					  sizeof(*list));
	char *copy = list ? strndup(name, NAME_MOST) : NULL;

	if (list)
		lcov->functions = list;
	if (!copy) {
		lcov->failed = true;
		return;
	}
	plain_text(copy);
	list[lcov->function_count++] = (struct function){
		.name = copy,
		.begin = begin,
	};
}

static int begin_compare(const void *left, const void *right)
{
	const struct function *a = left, *b = right;

	if (a->begin != b->begin)
		return a->begin < b->begin ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* The function that begins at an address, by the first of its names; NULL: none does. */
static struct function *function_at(const struct lcov *lcov, u64 begin)
{
	size_t low = lcov->own, high = lcov->function_count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (lcov->functions[middle].begin < begin)
			low = middle + 1;
		else
			high = middle;
	}
	return low < lcov->function_count && lcov->functions[low].begin == begin ?
	       &lcov->functions[low] : NULL;
}

/* "/a/b/../c" is "/a/c": compilers name one header by several paths. */
static void path_shorten(char *path)
{
	char *from = path, *to = path, *end;
	size_t length;

	for (; *from == '/'; from = end) {
		end = strchrnul(from + 1, '/');
		length = end - from;
		if (length == 3 && !strncmp(from, "/..", 3)) {
			while (to > path && *--to != '/')
				;
		} else if (length > 1 && !(length == 2 && from[1] == '.')) {
			memmove(to, from, length);
			to += length;
		}
	}
	if (from != path)
		*to = 0;
}

static u32 source_number(struct lcov *lcov, const char *folder, const char *file)
{
	char path[4096];

	/* Rows of one source come together. */
	if (lcov->last_file == file)
		return lcov->last_source;
	snprintf(path, sizeof(path), "%s%s%s", *file == '/' ? "" : folder,
		 *file == '/' || !*folder ? "" : "/", file);
	path_shorten(path);
	lcov->last_file = file;
	lcov->last_source = text_list_number(&lcov->sources, path, SOURCES_MAX);
	return lcov->last_source;
}

static void row_take(struct lcov *lcov, const struct source_row *row)
{
	struct function *function = function_at(lcov, row->begin);
	u32 source = source_number(lcov, row->folder, row->file);

	if (source == TEXT_NONE) {
		lcov->failed = true;
		return;
	}
	if (row->line)
		line_count(lcov, source, row->line, count_of(lcov, row->begin, row->end));
	if (!function || function->line)
		return;
	function->source = source_number(lcov, row->folder, row->first_file);
	if (function->source == TEXT_NONE)
		return;
	function->line = row->first_line;
	function->count = count_of(lcov, row->begin, row->begin + 1);
}

static void unit_take(void *ctx, const struct source_row *rows, size_t count)
{
	struct lcov *lcov = ctx;
	bool ran = false;
	size_t i;

	if (!lcov->in_order)
		qsort(lcov->functions + lcov->own, lcov->function_count - lcov->own,
		      sizeof(*lcov->functions), begin_compare);
	lcov->in_order = true;
	for (i = 0; i < count && !ran; i++)
		ran = file_layout_code(lcov->layout, rows[i].begin) &&
		      count_of(lcov, rows[i].begin, rows[i].end);
	for (i = 0; ran && i < count; i++) {
		/* Functions that the linker left out have no code. */
		if (file_layout_code(lcov->layout, rows[i].begin))
			row_take(lcov, &rows[i]);
	}
}

/* Functions of which no line is known go. */
static void functions_keep(struct lcov *lcov)
{
	struct function *list = lcov->functions;
	size_t i, count = lcov->own;

	for (i = lcov->own; i < lcov->function_count; i++) {
		if (list[i].line)
			list[count++] = list[i];
		else
			free(list[i].name);
	}
	/* list_room() goes by powers of two. */
	lcov->function_count = count;
	list = realloc(list, 2 * (count + 1) * sizeof(*list));
	if (list)
		lcov->functions = list;
	else
		lcov->failed = true;
}

/* False: it has no debug information. */
static bool file_take(struct lcov *lcov, const char *path, const struct debug_places *places,
		      const struct code_range *ranges, size_t count)
{
	const struct source_taker taker = {
		.function = function_take,
		.unit = unit_take,
		.ctx = lcov,
	};
	bool known;

	if (!count)
		return false;
	if (!steps_make(lcov, ranges, count)) {
		lcov->failed = true;
		return false;
	}
	lcov->own = lcov->function_count;
	lcov->in_order = false;
	lcov->last_file = NULL;
	known = source_rows(path, places, &taker);
	functions_keep(lcov);
	free(lcov->steps);
	return known;
}

static int line_compare(const void *left, const void *right)
{
	const struct line *a = left, *b = right;

	if (a->source != b->source)
		return a->source < b->source ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

static int function_compare(const void *left, const void *right)
{
	const struct function *a = left, *b = right;
	int names;

	if (a->source != b->source)
		return a->source < b->source ? -1 : 1;
	names = strcmp(a->name, b->name);
	if (names)
		return names;
	return a->line < b->line ? -1 : a->line > b->line;
}

/* Of one source; those of one name are one function, of which there are copies. */
static void functions_print(struct function *list, size_t count, FILE *out)
{
	size_t i, kept = 0, hit = 0;
	struct function swap;

	for (i = 0; i < count; i++) {
		if (kept && !strcmp(list[kept - 1].name, list[i].name)) {
			list[kept - 1].count += list[i].count;
		} else {
			swap = list[kept];
			list[kept++] = list[i];
			list[i] = swap;
		}
	}
	for (i = 0; i < kept; i++)
		fprintf(out, "FN:%u,%s\n", list[i].line, list[i].name);
	for (i = 0; i < kept; i++) {
		hit += !!list[i].count;
		fprintf(out, "FNDA:%llu,%s\n", (unsigned long long)list[i].count,
			list[i].name);
	}
	fprintf(out, "FNF:%zu\nFNH:%zu\n", kept, hit);
}

static void lines_print(const struct line *list, size_t count, FILE *out)
{
	size_t i, hit = 0;

	for (i = 0; i < count; i++) {
		hit += !!list[i].count;
		fprintf(out, "DA:%u,%llu\n", list[i].number,
			(unsigned long long)list[i].count);
	}
	fprintf(out, "LF:%zu\nLH:%zu\nend_of_record\n", count, hit);
}

static void sources_print(struct lcov *lcov, FILE *out)
{
	size_t line = 0, function = 0, lines, functions;
	char path[4096];
	u32 i;

	for (i = 0; i < lcov->sources.count; i++) {
		for (lines = line; lines < lcov->line_count &&
		     lcov->lines[lines].source == i; lines++)
			;
		for (functions = function; functions < lcov->function_count &&
		     lcov->functions[functions].source == i; functions++)
			;
		snprintf(path, sizeof(path), "%s", lcov->sources.texts[i]);
		plain_text(path);
		if (lines > line) {
			fprintf(out, "TN:\nSF:%s\n", path);
			functions_print(lcov->functions + function, functions - function, out);
			lines_print(lcov->lines + line, lines - line, out);
		}
		line = lines;
		function = functions;
	}
}

static void all_write(struct lcov *lcov, struct fresh_file *file)
{
	if (lcov->line_count)
		qsort(lcov->lines, lcov->line_count, sizeof(*lcov->lines), line_compare);
	if (lcov->function_count)
		qsort(lcov->functions, lcov->function_count, sizeof(*lcov->functions),
		      function_compare);
	if (!fresh_begin(file))
		return;
	sources_print(lcov, file->out);
	if (ferror(file->out))
		fresh_failed(file);
}

static void lcov_free(struct lcov *lcov)
{
	size_t i;

	for (i = 0; i < lcov->function_count; i++)
		free(lcov->functions[i].name);
	free(lcov->functions);
	free(lcov->lines);
	lookup_free(&lcov->line_of);
	text_list_free(&lcov->sources);
}

bool lcov_write(const struct coverage *coverage, const struct debug_places *places,
		struct fresh_file *file)
{
	const struct code_range *ranges = coverage->ranges.list;
	size_t i, end, begin = 0, bare = 0, count = coverage->files.paths.count;
	struct lcov lcov = { 0 };
	bool ok;

	for (i = 0; i < count; i++, begin = end) {
		for (end = begin; end < coverage->ranges.count && ranges[end].file == i; end++)
			;
		lcov.layout = &coverage->files.list[i].layout;
		if (coverage->files.list[i].kernel ||
		    !file_take(&lcov, coverage->files.paths.texts[i], places, ranges + begin,
			       end - begin))
			bare++;
	}
	ok = lcov.line_count && !lcov.failed;
	if (ok)
		all_write(&lcov, file);
	else if (lcov.failed)
		say_errno(ENOMEM, "cannot count by lines of source code");
	else
		say_error("--lcov: none of the files whose code ran has debug information");
	if (bare && ok)
		say_note("%zu of %zu files whose code ran have no debug information, and are left out of %s",
			 bare, count, file->path);
	lcov_free(&lcov);
	return ok;
}
