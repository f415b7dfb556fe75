// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads rows and summaries and adds them up, see merge.h. What it does not know it
 * refuses: a sum that leaves something out would be wrong.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "../cli/json_lines.h"
#include "../cli/list_room.h"
#include "../cli/messages.h"
#include "../cli/progress.h"
#include "../records/record_words.h"
#include "merge.h"

/* Sums that ended at the largest number there is were not exact. */
#define SUM_MOST	(~0ULL - 1)
/* More than there are kinds of branches. */
#define KINDS_MOST	32
/* Bytes of a line. */
#define LINE_MOST	(1 << 20)
/* A double has the microseconds of less than this exactly. */
#define SECONDS_MOST	1000000000ULL

enum role {
	ROLE_KEY = 0,
	ROLE_SUM,
	ROLE_LONGEST,
	ROLE_UNIT,
};

enum form {
	FORM_TEXT = 0,
	FORM_NUMBER,
	FORM_HEX,
	FORM_FLAG,
};

struct member {
	const char *name;
	enum role role;
	enum form form;
	u32 sum;
};

static const struct member members_of_counts[] = {
	{ "kind", ROLE_KEY, FORM_TEXT, 0 },
	{ "pid", ROLE_KEY, FORM_NUMBER, 0 },
	{ "cr3", ROLE_KEY, FORM_HEX, 0 },
	{ "guest", ROLE_KEY, FORM_FLAG, 0 },
	{ "ip", ROLE_KEY, FORM_HEX, 0 },
	{ "ip_symbol", ROLE_KEY, FORM_TEXT, 0 },
	{ "to", ROLE_KEY, FORM_HEX, 0 },
	{ "to_symbol", ROLE_KEY, FORM_TEXT, 0 },
	{ "count", ROLE_SUM, FORM_NUMBER, MERGE_COUNT },
	{ 0 }
};

static const struct member members_of_totals[] = {
	{ "symbol", ROLE_KEY, FORM_TEXT, 0 },
	{ "object", ROLE_KEY, FORM_TEXT, 0 },
	{ "ip", ROLE_KEY, FORM_HEX, 0 },
	{ "offset", ROLE_KEY, FORM_HEX, 0 },
	{ "pid", ROLE_KEY, FORM_NUMBER, 0 },
	{ "cr3", ROLE_KEY, FORM_HEX, 0 },
	{ "branches", ROLE_SUM, FORM_NUMBER, MERGE_BRANCHES },
	{ "calls", ROLE_SUM, FORM_NUMBER, MERGE_CALLS },
	{ "self", ROLE_SUM, FORM_NUMBER, MERGE_SELF },
	{ "total", ROLE_SUM, FORM_NUMBER, MERGE_TOTAL },
	{ "insns", ROLE_SUM, FORM_NUMBER, MERGE_INSNS },
	{ "cycles", ROLE_SUM, FORM_NUMBER, MERGE_CYCLES },
	{ "longest", ROLE_LONGEST, FORM_NUMBER, 0 },
	{ "longest_tsc", ROLE_LONGEST, FORM_NUMBER, 0 },
	{ "longest_cpu", ROLE_LONGEST, FORM_NUMBER, 0 },
	{ "longest_tid", ROLE_LONGEST, FORM_NUMBER, 0 },
	{ "longest_has_gap", ROLE_LONGEST, FORM_FLAG, 0 },
	{ "tsc_khz", ROLE_UNIT, FORM_NUMBER, 0 },
	{ 0 }
};

static const char *const names_of_wholes[MERGE_WHOLES] = {
	[MERGE_RECORDS] = "records",
	[MERGE_ALL_BRANCHES] = "branches",
	[MERGE_ALL_INSNS] = "insns",
	[MERGE_EXECUTED] = "executed",
	[MERGE_CALLS_CUT] = "calls_cut",
	[MERGE_TRACE_BYTES] = "trace_bytes",
	[MERGE_MICROSECONDS] = "seconds",
};

/* A file while it is read. */
struct reader {
	struct merge *merge;
	const char *path;
	unsigned long long line;
	/* The last line was a summary. */
	bool whole;
};

static bool bad(const struct reader *reader, const char *what)
{
	say_error("%s: line %llu %s", reader->path, reader->line, what);
	return false;
}

static bool bad_member(const struct reader *reader, const char *name, const char *what)
{
	say_error("%s: line %llu: \"%.64s\" %s", reader->path, reader->line, name, what);
	return false;
}

static bool number_get(const struct reader *reader, const char *name, struct json_object *value,
		       u64 *number)
{
	if (!json_object_is_type(value, json_type_int) || json_object_get_int64(value) < 0)
		return bad_member(reader, name, "is no whole number from 0 on");
	*number = json_object_get_uint64(value);
	return *number <= SUM_MOST ||
	       bad_member(reader, name, "is as large as numbers get: what it was a sum of did not fit");
}

static bool number_add(const struct reader *reader, const char *name, u64 *sum, u64 more)
{
	if (more > SUM_MOST - *sum)
		return bad_member(reader, name, "makes the sum larger than 64 bits");
	*sum += more;
	return true;
}

static bool hex_get(struct json_object *value, u64 *number)
{
	const char *text = json_object_get_string(value);
	char *end;

	if (!json_object_is_type(value, json_type_string) || strncmp(text, "0x", 2) ||
	    !text[2] || strspn(text + 2, "0123456789abcdef") != strlen(text + 2) ||
	    strlen(text) > 18 || (text[2] == '0' && text[3]))
		return false;
	*number = strtoull(text, &end, 16);
	return true;
}

static bool form_check(const struct reader *reader, const struct member *member,
		       struct json_object *value)
{
	u64 number;

	switch (member->form) {
	case FORM_NUMBER:
		return number_get(reader, member->name, value, &number);
	case FORM_HEX:
		return hex_get(value, &number) ||
		       bad_member(reader, member->name, "is no number as \"0x1f\"");
	case FORM_FLAG:
		return json_object_is_type(value, json_type_boolean) ||
		       bad_member(reader, member->name, "is neither true nor false");
	default:
		/* What comes after a U+0000 would be left out. */
		return (json_object_is_type(value, json_type_string) &&
			strlen(json_object_get_string(value)) ==
			(size_t)json_object_get_string_len(value)) ||
		       bad_member(reader, member->name, "is no text");
	}
}

static const struct member *member_find(const struct member *members, const char *name)
{
	for (; members->name; members++) {
		if (!strcmp(members->name, name))
			return members;
	}
	return NULL;
}

/* Another version may know more, of which nobody knows how it is added. */
static bool members_check(const struct reader *reader, const struct member *members,
			  struct json_object *line)
{
	const struct member *member;

	json_object_object_foreach(line, name, value) {
		if (!strcmp(name, "type"))
			continue;
		member = member_find(members, name);
		if (!member)
			return bad_member(reader, name, "is nothing that this kipt can add: another version made it, or another program");
		if (!form_check(reader, member, value))
			return false;
	}
	return true;
}

/* The members that make a row another one, in the order of the table. */
static struct json_object *key_make(const struct member *members, struct json_object *line)
{
	struct json_object *key = json_object_new_object(), *value;

	for (; key && members->name; members++) {
		if (members->role == ROLE_KEY &&
		    json_object_object_get_ex(line, members->name, &value))
			json_object_object_add(key, members->name, json_object_get(value));
	}
	return key;
}

static u32 kind_number(const char *kind)
{
	const char *name;
	u32 i;

	for (i = 0; i < KINDS_MOST; i++) {
		name = words_kind(KIPT_RECORD_BRANCH, i);
		if (name && !strcmp(name, kind))
			break;
	}
	return i;
}

/* By what rows are sorted. */
static void row_place(struct merge_row *row, struct json_object *key)
{
	struct json_object *value;

	if (json_object_object_get_ex(key, "ip", &value) ||
	    json_object_object_get_ex(key, "offset", &value))
		hex_get(value, &row->at);
	if (json_object_object_get_ex(key, "to", &value))
		hex_get(value, &row->to);
	if (json_object_object_get_ex(key, "kind", &value))
		row->kind = kind_number(json_object_get_string(value));
}

static struct merge_row *row_add(struct merge *merge, struct json_object *key, u64 hash,
				 size_t next)
{
	struct merge_row *rows = list_room(merge->rows, merge->count, sizeof(*rows)), *row;
	char *text = strdup(jsonl_string(key));

	if (rows)
		merge->rows = rows;
	if (!rows || !text || !lookup_add(&merge->row_of, hash, merge->count + 1)) {
		free(text);
		return NULL;
	}
	row = &rows[merge->count++];
	*row = (struct merge_row){ .key = text, .next = next };
	row_place(row, key);
	return row;
}

static struct merge_row *row_find(struct merge *merge, struct json_object *key)
{
	const char *text = jsonl_string(key);
	u64 hash = lookup_mix(merge->seed, lookup_text(merge->seed, text));
	size_t *first = lookup_get(&merge->row_of, hash), at;

	for (at = first ? *first : 0; at; at = merge->rows[at - 1].next) {
		if (!strcmp(merge->rows[at - 1].key, text))
			return &merge->rows[at - 1];
	}
	return row_add(merge, key, hash, first ? *first : 0);
}

static struct merge_row *row_get(struct merge *merge, const struct member *members,
				 struct json_object *line)
{
	struct json_object *key = key_make(members, line);
	struct merge_row *row = key ? row_find(merge, key) : NULL;

	json_object_put(key);
	if (!row)
		say_errno(ENOMEM, "cannot add up the files");
	return row;
}

static bool sums_add(const struct reader *reader, struct merge_row *row,
		     const struct member *members, struct json_object *line)
{
	struct json_object *value;

	for (; members->name; members++) {
		if (members->role != ROLE_SUM ||
		    !json_object_object_get_ex(line, members->name, &value))
			continue;
		row->timed |= members->sum == MERGE_SELF;
		row->counted |= members->sum == MERGE_CYCLES;
		if (!number_add(reader, members->name, &row->sums[members->sum],
				json_object_get_uint64(value)))
			return false;
	}
	reader->merge->timed |= row->timed;
	reader->merge->counted |= row->counted;
	return true;
}

static u64 number_of(struct json_object *line, const char *name, bool *has)
{
	struct json_object *value;
	bool there = json_object_object_get_ex(line, name, &value);

	if (has)
		*has = there;
	return there ? json_object_get_uint64(value) : 0;
}

/* Of those that are equally long one, whatever comes first. */
static bool is_longer(const struct merge_longest *a, const struct merge_longest *b)
{
	const u64 left[] = { a->ticks, ~a->tsc, ~a->cpu, ~a->tid, a->has_cpu, a->has_tid,
			     a->gap };
	const u64 right[] = { b->ticks, ~b->tsc, ~b->cpu, ~b->tid, b->has_cpu, b->has_tid,
			      b->gap };
	size_t i;

	for (i = 0; i < sizeof(left) / sizeof(*left); i++) {
		if (left[i] != right[i])
			return left[i] > right[i];
	}
	return false;
}

static void longest_add(struct merge_row *row, struct json_object *line)
{
	struct merge_longest longest = { 0 };
	struct json_object *gap;

	longest.ticks = number_of(line, "longest", NULL);
	longest.tsc = number_of(line, "longest_tsc", NULL);
	longest.cpu = number_of(line, "longest_cpu", &longest.has_cpu);
	longest.tid = number_of(line, "longest_tid", &longest.has_tid);
	longest.gap = json_object_object_get_ex(line, "longest_has_gap", &gap) &&
		      json_object_get_boolean(gap);
	if (longest.ticks && is_longer(&longest, &row->longest))
		row->longest = longest;
}

static bool unit_take(const struct reader *reader, struct json_object *line)
{
	struct merge *merge = reader->merge;
	u64 tsc_khz = number_of(line, "tsc_khz", NULL);

	if (merge->unit_known && merge->tsc_khz != tsc_khz) {
		say_error("%s: its times are in ticks of %llu kHz (0: unknown), those of the files before in ticks of %llu kHz: they cannot be added",
			  reader->path, (unsigned long long)tsc_khz,
			  (unsigned long long)merge->tsc_khz);
		return false;
	}
	merge->unit_known = true;
	merge->tsc_khz = tsc_khz;
	return true;
}

static bool has_all(struct json_object *line, const char *const *names)
{
	for (; *names; names++) {
		if (!json_object_object_get_ex(line, *names, NULL))
			return false;
	}
	return true;
}

static bool row_take(struct reader *reader, struct json_object *line, enum merge_kind kind)
{
	static const char *const of_counts[] = { "kind", "ip", "to", "count", NULL };
	static const char *const of_totals[] = { "branches", "calls", NULL };
	const struct member *members = kind == MERGE_OF_COUNTS ? members_of_counts :
								 members_of_totals;
	struct merge *merge = reader->merge;
	struct merge_row *row;

	if (merge->kind && merge->kind != kind) {
		say_error("%s: line %llu is of --%s, what was before is of --%s: they cannot be added",
			  reader->path, reader->line,
			  kind == MERGE_OF_COUNTS ? "counts" : "totals",
			  kind == MERGE_OF_COUNTS ? "totals" : "counts");
		return false;
	}
	merge->kind = kind;
	if (!members_check(reader, members, line))
		return false;
	if (!has_all(line, kind == MERGE_OF_COUNTS ? of_counts : of_totals))
		return bad(reader, "is damaged: numbers are missing");
	if (kind == MERGE_OF_TOTALS && !unit_take(reader, line))
		return false;
	row = row_get(merge, members, line);
	if (!row)
		return false;
	longest_add(row, line);
	return sums_add(reader, row, members, line);
}

static bool gaps_take(struct reader *reader, struct json_object *gaps)
{
	u64 number;
	u32 kind;

	if (!json_object_is_type(gaps, json_type_object))
		return bad_member(reader, "gaps", "is no object");
	json_object_object_foreach(gaps, name, value) {
		for (kind = 1; kind <= KIPT_GAP_KIND_MAX; kind++) {
			if (!strcmp(name, words_kind(KIPT_RECORD_GAP, kind)))
				break;
		}
		if (kind > KIPT_GAP_KIND_MAX)
			return bad_member(reader, name, "is no kind of gap that this kipt knows");
		if (!number_get(reader, name, value, &number) ||
		    !number_add(reader, name, &reader->merge->gaps[kind], number))
			return false;
	}
	return true;
}

/* Added in microseconds: sums of fractions depend on the order. */
static bool seconds_get(const struct reader *reader, struct json_object *value, u64 *number)
{
	double seconds = json_object_get_double(value);

	if (!json_object_is_type(value, json_type_double) || !(seconds >= 0 && seconds < SECONDS_MOST))
		return bad_member(reader, "seconds", "is no time");
	*number = (u64)(seconds * 1e6 + 0.5);
	return true;
}

/* Those that say nothing of a sum. */
static bool is_passed(const char *name)
{
	return !strcmp(name, "trace_left") || !strcmp(name, "bytes_per_second") ||
	       !strcmp(name, "branches_per_second");
}

static bool passed_check(const struct reader *reader, const char *name,
			 struct json_object *value)
{
	return json_object_is_type(value, json_type_int) ||
	       json_object_is_type(value, json_type_double) ||
	       bad_member(reader, name, "is no number");
}

static bool whole_take(struct reader *reader, const char *name, struct json_object *value)
{
	u64 number;
	u32 i;

	for (i = 0; i < MERGE_WHOLES && strcmp(name, names_of_wholes[i]); i++)
		;
	if (i == MERGE_WHOLES)
		return bad_member(reader, name, "is nothing that this kipt can add: another version made it, or it is of another view");
	if (!(i == MERGE_MICROSECONDS ? seconds_get(reader, value, &number) :
					number_get(reader, name, value, &number)))
		return false;
	if (i == MERGE_ALL_INSNS && number)
		return bad_member(reader, name, "is of a view of instructions");
	if (!number_add(reader, name, &reader->merge->wholes[i], number))
		return false;
	/* What the sum is as a fraction, so that it may be added again. */
	return i != MERGE_MICROSECONDS ||
	       reader->merge->wholes[i] < SECONDS_MOST * 1000000ULL ||
	       bad_member(reader, name, "makes a sum that is no time");
}

static bool summary_take(struct reader *reader, struct json_object *line)
{
	static const char *const needed[] = { "records", "branches", "insns", "executed",
					     "gaps", "trace_bytes", "seconds", NULL };
	bool ok = true;

	if (!has_all(line, needed))
		return bad(reader, "is damaged: numbers are missing");
	if (json_object_object_get_ex(line, "rows_left", NULL))
		return bad(reader, "says that --top left out rows: a sum needs all of them");
	if (json_object_object_get_ex(line, "unfinished", NULL))
		return bad(reader, "says that decoding failed or was interrupted: the file is not whole");
	json_object_object_foreach(line, name, value) {
		if (!strcmp(name, "type"))
			continue;
		if (is_passed(name))
			ok = passed_check(reader, name, value);
		else if (!strcmp(name, "gaps"))
			ok = gaps_take(reader, value);
		else
			ok = whole_take(reader, name, value);
		if (!ok)
			return false;
	}
	return true;
}

static bool line_take(struct reader *reader, struct json_object *line)
{
	struct json_object *type;
	const char *name;

	if (!json_object_is_type(line, json_type_object) ||
	    !json_object_object_get_ex(line, "type", &type))
		return bad(reader, "is nothing that --counts --json or --totals --json shows");
	name = json_object_get_string(type);
	name = name ? name : "";
	reader->whole = !strcmp(name, "summary");
	if (reader->whole)
		return summary_take(reader, line);
	if (!strcmp(name, "edge"))
		return row_take(reader, line, MERGE_OF_COUNTS);
	if (!strcmp(name, "total"))
		return row_take(reader, line, MERGE_OF_TOTALS);
	return bad(reader, "is nothing that --counts --json or --totals --json shows");
}

static size_t members_written(const char *text, size_t length)
{
	bool quoted = false;
	size_t count = 0, i;

	for (i = 0; i < length; i++) {
		if (quoted && text[i] == '\\')
			i++;
		else if (text[i] == '"')
			quoted = !quoted;
		else
			count += !quoted && text[i] == ':';
	}
	return count;
}

/* Of members with one name json-c keeps the last, others the first. */
static bool is_unique(const struct reader *reader, struct json_object *line,
		      const char *text, size_t length)
{
	size_t count = json_object_object_length(line);
	struct json_object *gaps;

	if (json_object_object_get_ex(line, "gaps", &gaps))
		count += json_object_object_length(gaps);
	return count == members_written(text, length) ||
	       bad(reader, "is damaged: one of its members is there twice");
}

static bool text_take(struct reader *reader, const char *text, size_t length)
{
	struct json_tokener *tokener = json_tokener_new();
	struct json_object *line;
	bool ok;

	if (!tokener) {
		say_errno(ENOMEM, "cannot read %s", reader->path);
		return false;
	}
	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	line = json_tokener_parse_ex(tokener, text, (int)length);
	ok = line && json_tokener_get_error(tokener) == json_tokener_success &&
	     json_tokener_get_parse_end(tokener) == length;
	json_tokener_free(tokener);
	if (ok)
		ok = line_take(reader, line) && is_unique(reader, line, text, length);
	else if (reader->line == 1 && *text != '{')
		say_error("%s: this is no output of --json", reader->path);
	else
		bad(reader, "is no JSON: the file is damaged");
	json_object_put(line);
	return ok;
}

/* Bytes of the next line, with its end unless it is cut or too long; 0: there is none. */
static size_t line_read(char *text, FILE *file)
{
	size_t length = 0;
	int byte = 0;

	while (length < LINE_MOST && byte != '\n') {
		byte = getc_unlocked(file);
		if (byte == EOF)
			break;
		text[length++] = (char)byte;
	}
	return length;
}

static bool lines_take(struct reader *reader, char *text, FILE *file)
{
	u64 done = 0, total = progress_total(file);
	size_t length;
	bool ok = true;

	while (ok && (length = line_read(text, file))) {
		reader->line++;
		done += length;
		progress_show("reading", done, total);
		ok = text[length - 1] == '\n' ? text_take(reader, text, length - 1) :
		     ferror(file) || bad(reader, "is cut or too long: the file is not whole");
		if (ferror(file))
			break;
	}
	progress_clear();
	if (ok && ferror(file)) {
		say_errno(errno, "cannot read %s", reader->path);
		return false;
	}
	if (ok && !reader->whole)
		say_error("%s: it does not end with a summary: the file is not whole, or not of --json",
			  reader->path);
	return ok && reader->whole;
}

bool merge_file(struct merge *merge, const char *path)
{
	struct reader reader = { .merge = merge, .path = path };
	FILE *file = strcmp(path, "-") ? fopen(path, "re") : stdin;
	char *text;
	bool ok;

	if (!file) {
		say_errno(errno, "cannot open %s", path);
		return false;
	}
	if (!merge->seed)
		merge->seed = lookup_seed();
	text = malloc(LINE_MOST);
	ok = text && lines_take(&reader, text, file);
	if (!text)
		say_errno(ENOMEM, "cannot read %s", path);
	free(text);
	if (file != stdin)
		fclose(file);
	return ok;
}

void merge_free(struct merge *merge)
{
	size_t i;

	for (i = 0; i < merge->count; i++)
		free(merge->rows[i].key);
	free(merge->rows);
	lookup_free(&merge->row_of);
	*merge = (struct merge){ 0 };
}
