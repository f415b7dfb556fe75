// SPDX-License-Identifier: GPL-2.0-only
/*
 * Branches, calls and time of each function in each process, most time in
 * itself first.
 */
#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>

#include "../cli/json_lines.h"
#include "../cli/messages.h"
#include "../cli/printable.h"
#include "view_totals.h"

const char *totals_text(const struct profile_symbol *symbol, char *text,
			size_t size)
{
	const char *object = symbol->object ? symbol->object : "unknown";

	if (symbol->name)
		snprintf(text, size, "%s [%s]", symbol->name, object);
	else if (symbol->called && symbol->object)
		snprintf(text, size, "0x%llx [%s]",
			 (unsigned long long)symbol->start, object);
	else if (symbol->called)
		snprintf(text, size, "0x%llx",
			 (unsigned long long)symbol->start);
	else
		snprintf(text, size, "[%s]", object);
	text[plain_cut(text, size)] = 0;
	return text;
}

static void time_print(FILE *out, const struct totals_columns *columns, u64 ticks)
{
	if (columns->tsc_khz)
		fprintf(out, "%14.3f ", (double)ticks * 1000 / (double)columns->tsc_khz);
	else
		fprintf(out, "%14llu ", (unsigned long long)ticks);
}

void totals_head(FILE *out, const struct totals_columns *columns)
{
	const char *unit = columns->tsc_khz ? "us" : "ticks";

	if (columns->times)
		fprintf(out, "%8s %5s %8s %5s %8s %5s ", "self", unit, "total", unit,
			"longest", unit);
	if (columns->cycles)
		fprintf(out, "%12s %5s ", "cycles", "IPC");
	fprintf(out, "%12s %12s  function\n", "calls", "branches");
}

void totals_row(FILE *out, const struct totals_columns *columns, const struct totals_sums *sums)
{
	if (columns->times) {
		time_print(out, columns, sums->self);
		time_print(out, columns, sums->total);
		time_print(out, columns, sums->longest);
	}
	if (columns->cycles && sums->cycles)
		fprintf(out, "%12llu %5.2f ", (unsigned long long)sums->cycles,
			(double)sums->insns / (double)sums->cycles);
	else if (columns->cycles)
		fprintf(out, "%12s %5s ", "0", "-");
	fprintf(out, "%12llu %12llu  ", (unsigned long long)sums->calls,
		(unsigned long long)sums->branches);
}

static void symbol_print(struct view *view, const struct profile *profile,
			 const struct profile_symbol *symbol,
			 const struct totals_columns *columns, bool whose)
{
	const struct profile_space *space = &profile->spaces[symbol->space];
	const struct totals_sums sums = {
		.self = symbol->self,
		.total = symbol->total,
		.longest = symbol->longest.ticks,
		.insns = symbol->insns,
		.cycles = symbol->cycles,
		.calls = symbol->calls,
		.branches = symbol->branches,
	};
	char text[512];

	totals_row(view->out, columns, &sums);
	fputs(totals_text(symbol, text, sizeof(text)), view->out);
	if (whose && symbol->space && space->pid != NAMES_GUEST)
		view_process(view, space->pid, space->cr3);
	fputc('\n', view->out);
}

static void longest_json(struct json_object *line,
			 const struct profile_call *longest)
{
	if (!longest->ticks)
		return;
	jsonl_number(line, "longest", longest->ticks);
	jsonl_number(line, "longest_tsc", longest->begun);
	if (longest->cpu != PROFILE_CPU_UNKNOWN)
		jsonl_number(line, "longest_cpu", longest->cpu);
	if (longest->tid)
		jsonl_number(line, "longest_tid", longest->tid);
	if (longest->gap)
		jsonl_flag(line, "longest_has_gap", true);
}

void totals_json(struct view *view, const struct profile *profile,
		 const struct profile_symbol *symbol)
{
	const struct profile_space *space = &profile->spaces[symbol->space];
	struct json_object *line = json_object_new_object();

	jsonl_text(line, "type", "total");
	jsonl_text(line, "symbol", symbol->name);
	jsonl_text(line, "object", symbol->object);
	if (symbol->name)
		jsonl_hex(line, "ip", symbol->start);
	else if (symbol->called)
		jsonl_hex(line, symbol->object ? "offset" : "ip",
			  symbol->start);
	if (profile_space_pid(space))
		jsonl_number(line, "pid", profile_space_pid(space));
	if (space->cr3)
		jsonl_hex(line, "cr3", space->cr3);
	jsonl_number(line, "branches", symbol->branches);
	jsonl_number(line, "calls", symbol->calls);
	if (profile_has_times(profile)) {
		jsonl_number(line, "self", symbol->self);
		jsonl_number(line, "total", symbol->total);
		longest_json(line, &symbol->longest);
	}
	if (profile->cycles) {
		jsonl_number(line, "insns", symbol->insns);
		jsonl_number(line, "cycles", symbol->cycles);
	}
	if (view->tsc_khz)
		jsonl_number(line, "tsc_khz", view->tsc_khz);
	jsonl_print(line, view->out);
}

static void totals_print(struct view *view, const struct profile *profile,
			 const struct profile_symbol **list, size_t count)
{
	const struct view_options *options = view->options;
	size_t i, top = view_top(options, count);
	bool whose = profile_several_spaces(profile);
	const struct totals_columns columns = {
		.tsc_khz = view->tsc_khz,
		.times = profile_has_times(profile),
		.cycles = profile->cycles,
	};

	if (!options->json && count)
		totals_head(view->out, &columns);
	for (i = 0; i < top; i++) {
		if (options->json)
			totals_json(view, profile, list[i]);
		else
			symbol_print(view, profile, list[i], &columns, whose);
	}
	view->tally.rows_left = count - i;
	if (i < count && !options->json)
		fprintf(view->out, "%12s %zu more (--top 0 shows all)\n", "",
			count - i);
}

static void failure_say(struct view *view)
{
	const struct profile_feed *feed = view->self;

	if (!feed->profile->failed || view->failed)
		return;
	say_errno(ENOMEM, "cannot count by functions");
	view->failed = true;
}

static void record_print(struct view *view, const struct kipt_record *r)
{
	profile_feed_take(view->self, r);
	failure_say(view);
}

static u32 records_skim(struct view *view, const struct kipt_record *records,
			u32 count)
{
	u32 n = profile_feed_skim(view->self, records, count);

	failure_say(view);
	return n;
}

static void totals_finish(struct view *view)
{
	struct profile_feed *feed = view->self;
	const struct profile *profile = feed->profile;
	const struct profile_symbol **list;
	size_t count;

	profile_feed_end(feed);
	if (feed->lanes && !lanes_end(feed))
		view->failed = true;
	if (feed->firefox && !firefox_end(feed))
		view->failed = true;
	if (feed->html && !html_end(feed))
		view->failed = true;
	if (view->options->collect) {
		view->options->collect(view->options->collect_ctx, view, profile);
		goto out;
	}
	list = profile_sort(profile, &count);
	if (!list) {
		say_errno(ENOMEM, "cannot show the functions");
		view->failed = true;
	} else if (view->options->mode >= VIEW_PERFETTO) {
		/* It was written as it came. */
	} else if (view->options->mode == VIEW_LOST) {
		losses_print(view, feed);
	} else if (view->options->mode == VIEW_FOLDED) {
		folded_print(view, feed);
	} else if (view->options->mode == VIEW_SLOWEST) {
		slowest_print(view, feed);
	} else if (view->options->mode == VIEW_TOTALS) {
		totals_print(view, profile, list, count);
	} else if (view->options->json) {
		screen_json(view, profile, list, count);
	} else {
		screen_print(view, profile, list, count);
	}
	free(list);
out:
	profile_notes(profile);
	profile_feed_destroy(feed);
	view->self = NULL;
}

void view_totals_follow(struct view *view, const struct kipt_record *record)
{
	if (view->self)
		profile_feed_follow(view->self, record);
}

void view_totals_cut(struct view *view)
{
	const struct profile_feed *feed = view->self;

	if (feed && feed->at)
		profile_add(&view->tally.calls_cut,
			    call_track_open(&feed->at->track));
}

bool view_totals_init(struct view *view)
{
	view->self = profile_feed_create(view);
	view->print = record_print;
	view->skim = records_skim;
	view->finish = totals_finish;
	return view->self;
}
