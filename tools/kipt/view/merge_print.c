// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shows sums of several traces as those of one are shown, see merge.h.
 */
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "../cli/json_lines.h"
#include "../cli/printable.h"
#include "../cli/standard_output.h"
#include "../records/record_words.h"
#include "../records/summary.h"
#include "merge.h"
#include "view_totals.h"

static const char *text_of(struct json_object *members, const char *name)
{
	struct json_object *value;

	return json_object_object_get_ex(members, name, &value) ?
	       json_object_get_string(value) : NULL;
}

static int number_compare(u64 a, u64 b)
{
	return a < b ? -1 : a > b;
}

/* Most first, as those of one trace are; then by what they are. */
static int row_compare(const void *left, const void *right)
{
	const struct merge_row *a = left, *b = right;
	const int by[] = {
		number_compare(b->sums[MERGE_COUNT], a->sums[MERGE_COUNT]),
		number_compare(b->sums[MERGE_SELF], a->sums[MERGE_SELF]),
		number_compare(b->sums[MERGE_BRANCHES], a->sums[MERGE_BRANCHES]),
		number_compare(b->sums[MERGE_TOTAL], a->sums[MERGE_TOTAL]),
		number_compare(a->at, b->at),
		number_compare(a->to, b->to),
		number_compare(a->kind, b->kind),
	};
	size_t i;

	for (i = 0; i < sizeof(by) / sizeof(*by); i++) {
		if (by[i])
			return by[i];
	}
	return strcmp(a->key, b->key);
}

static void longest_json(struct json_object *line, const struct merge_longest *longest)
{
	if (!longest->ticks)
		return;
	jsonl_number(line, "longest", longest->ticks);
	jsonl_number(line, "longest_tsc", longest->tsc);
	if (longest->has_cpu)
		jsonl_number(line, "longest_cpu", longest->cpu);
	if (longest->has_tid)
		jsonl_number(line, "longest_tid", longest->tid);
	if (longest->gap)
		jsonl_flag(line, "longest_has_gap", true);
}

static void total_json(const struct merge *merge, const struct merge_row *row,
		       struct json_object *line)
{
	jsonl_number(line, "branches", row->sums[MERGE_BRANCHES]);
	jsonl_number(line, "calls", row->sums[MERGE_CALLS]);
	if (merge->timed) {
		jsonl_number(line, "self", row->sums[MERGE_SELF]);
		jsonl_number(line, "total", row->sums[MERGE_TOTAL]);
		longest_json(line, &row->longest);
	}
	if (row->counted) {
		jsonl_number(line, "insns", row->sums[MERGE_INSNS]);
		jsonl_number(line, "cycles", row->sums[MERGE_CYCLES]);
	}
	if (merge->tsc_khz)
		jsonl_number(line, "tsc_khz", merge->tsc_khz);
}

static void row_json(const struct merge *merge, const struct merge_row *row,
		     struct json_object *members, FILE *out)
{
	struct json_object *line = json_object_new_object();

	jsonl_text(line, "type", merge->kind == MERGE_OF_COUNTS ? "edge" : "total");
	json_object_object_foreach(members, name, value)
		json_object_object_add(line, name, json_object_get(value));
	if (merge->kind == MERGE_OF_COUNTS)
		jsonl_number(line, "count", row->sums[MERGE_COUNT]);
	else
		total_json(merge, row, line);
	jsonl_print(line, out);
}

/* Names of files may have any characters in them. */
static void put_plain(const char *text, FILE *out)
{
	char plain[512];

	snprintf(plain, sizeof(plain), "%s", text);
	plain_text(plain);
	fputs(plain, out);
}

static void process_text(struct json_object *members, FILE *out)
{
	const char *pid = text_of(members, "pid"), *cr3 = text_of(members, "cr3");

	if (pid)
		fprintf(out, "  -- process %s", pid);
	else if (cr3)
		fprintf(out, "  -- CR3 %s", cr3);
	else if (text_of(members, "guest"))
		fputs("  -- in a guest", out);
}

static void place_text(struct json_object *members, const char *name, const char *symbol,
		       FILE *out)
{
	const char *address = text_of(members, name), *text = text_of(members, symbol);

	put_plain(text ? text : address, out);
}

static void edge_text(const struct merge_row *row, struct json_object *members, FILE *out)
{
	fprintf(out, "%12llu %16llx ", (unsigned long long)row->sums[MERGE_COUNT],
		(unsigned long long)row->at);
	place_text(members, "ip", "ip_symbol", out);
	fprintf(out, " -> %llx ", (unsigned long long)row->to);
	place_text(members, "to", "to_symbol", out);
	fputs("  ", out);
	put_plain(text_of(members, "kind"), out);
}

static void name_text(struct json_object *members, FILE *out)
{
	const char *symbol = text_of(members, "symbol"), *object = text_of(members, "object");
	const char *address = text_of(members, "offset");

	if (!symbol)
		symbol = address ? address : text_of(members, "ip");
	if (symbol) {
		put_plain(symbol, out);
		if (!object)
			return;
		fputc(' ', out);
	}
	fputc('[', out);
	put_plain(object ? object : "unknown", out);
	fputc(']', out);
}

static struct totals_columns columns_of(const struct merge *merge)
{
	return (struct totals_columns){
		.tsc_khz = merge->tsc_khz, .times = merge->timed, .cycles = merge->counted,
	};
}

static void total_text(const struct merge *merge, const struct merge_row *row,
		       struct json_object *members, FILE *out)
{
	const struct totals_columns columns = columns_of(merge);
	const struct totals_sums sums = {
		.self = row->sums[MERGE_SELF],
		.total = row->sums[MERGE_TOTAL],
		.longest = row->longest.ticks,
		.insns = row->sums[MERGE_INSNS],
		.cycles = row->sums[MERGE_CYCLES],
		.calls = row->sums[MERGE_CALLS],
		.branches = row->sums[MERGE_BRANCHES],
	};

	totals_row(out, &columns, &sums);
	name_text(members, out);
}

static void row_text(const struct merge *merge, const struct merge_row *row,
		     struct json_object *members, FILE *out)
{
	if (merge->kind == MERGE_OF_COUNTS)
		edge_text(row, members, out);
	else
		total_text(merge, row, members, out);
	process_text(members, out);
	fputc('\n', out);
}

static void summary_make(struct tally *tally, const struct merge *merge)
{
	u32 kind;

	tally_init(tally);
	tally->records = merge->wholes[MERGE_RECORDS];
	tally->types[KIPT_RECORD_BRANCH] = merge->wholes[MERGE_ALL_BRANCHES];
	tally->executed = merge->wholes[MERGE_EXECUTED];
	tally->calls_cut = merge->wholes[MERGE_CALLS_CUT];
	tally->trace_bytes = merge->wholes[MERGE_TRACE_BYTES];
	tally->seconds = (double)merge->wholes[MERGE_MICROSECONDS] / 1e6;
	for (kind = 1; kind <= KIPT_GAP_KIND_MAX; kind++) {
		tally->gaps[kind] = merge->gaps[kind];
		tally->types[KIPT_RECORD_GAP] += merge->gaps[kind];
	}
}

static void row_print(const struct merge *merge, const struct merge_row *row, bool json,
		      FILE *out)
{
	struct json_object *members = json_tokener_parse(row->key);

	if (json)
		row_json(merge, row, members, out);
	else
		row_text(merge, row, members, out);
	json_object_put(members);
}

void merge_print(struct merge *merge, bool json, u32 top, FILE *out)
{
	const struct totals_columns columns = columns_of(merge);
	size_t count = merge->count, shown = top && top < count ? top : count, i;
	struct tally tally;

	if (count)
		qsort(merge->rows, count, sizeof(*merge->rows), row_compare);
	if (!json && merge->kind == MERGE_OF_TOTALS)
		totals_head(out, &columns);
	for (i = 0; i < shown; i++)
		row_print(merge, &merge->rows[i], json, out);
	summary_make(&tally, merge);
	tally.rows_left = count - shown;
	if (json) {
		tally_show_json(&tally, out);
		return;
	}
	if (tally.rows_left)
		fprintf(out, "%12s %llu more (--top 0 shows all)\n", "",
			(unsigned long long)tally.rows_left);
	output_flush(out);
	tally_show(&tally, stderr);
}
