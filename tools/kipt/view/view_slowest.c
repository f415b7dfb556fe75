// SPDX-License-Identifier: GPL-2.0-only
/*
 * The slowest runs of a function, and of the slowest what came before it and what
 * it called.
 */
#include <json-c/json.h>

#include "../cli/json_lines.h"
#include "../cli/messages.h"
#include "view_totals.h"
#include "wanted.h"

static bool has_times(const struct slowest *slowest)
{
	return slowest->lines && slowest->first.call.begun;
}

static void duration_print(struct view *view, const struct slowest *slowest,
			   const struct slow_line *line)
{
	char ticks[48] = "-";

	if (has_times(slowest))
		view_duration(view, line->ticks, ticks, sizeof(ticks));
	fprintf(view->out, "%14s ", ticks);
}

/* "*" where a gap is within, "?" where the return is not in the trace. */
static void function_print(struct view *view, const struct profile *profile,
			   const struct slow_line *line, u32 depth)
{
	const struct profile_symbol *symbol = &profile->symbols[line->symbol];
	char name[512];

	fprintf(view->out, "%12llu  %*s%s%s\n",
		(unsigned long long)line->branches, (int)(2 * depth), "",
		line->unseen ? "? " : line->gap ? "* " : "",
		totals_text(symbol, name, sizeof(name)));
}

static void run_print(struct view *view, const struct profile_feed *feed,
		      const struct slow_run *run)
{
	const struct profile_call *call = &run->call;
	char from[48] = "-", task[64], cpu[16];

	if (call->begun)
		view_since(view, call->begun - run->zero, from, sizeof(from));
	duration_print(view, feed->slowest, &run->line);
	fprintf(view->out, "%14s %3s  %-*s ", from,
		view_cpu_cell(call->cpu, cpu, sizeof(cpu)), VIEW_TASK_WIDTH,
		view_task_cell(view, call->tid || call->pid, call->tid,
			       call->pid, task, sizeof(task)));
	function_print(view, feed->profile, &run->line, 0);
}

static void run_json(struct view *view, const struct profile *profile,
		     const struct slow_run *run)
{
	const struct profile_symbol *symbol =
		&profile->symbols[run->line.symbol];
	const struct profile_call *call = &run->call;
	struct json_object *line = json_object_new_object();

	jsonl_text(line, "type", "run");
	jsonl_text(line, "symbol", symbol->name);
	jsonl_text(line, "object", symbol->object);
	jsonl_hex(line, symbol->name || !symbol->object ? "ip" : "offset",
		  symbol->start);
	if (call->cpu != PROFILE_CPU_UNKNOWN)
		jsonl_number(line, "cpu", call->cpu);
	if (call->tid)
		jsonl_number(line, "tid", call->tid);
	if (call->pid)
		jsonl_number(line, "pid", call->pid);
	if (call->begun) {
		jsonl_number(line, "tsc", call->begun);
		jsonl_number(line, "first", run->zero);
		jsonl_number(line, "ticks", run->line.ticks);
	}
	jsonl_number(line, "branches", run->line.branches);
	if (run->line.gap)
		jsonl_flag(line, "has_gap", true);
	if (view->tsc_khz)
		jsonl_number(line, "tsc_khz", view->tsc_khz);
	jsonl_print(line, view->out);
}

/* How many of the lines before it are of calls that it is within. */
static u32 depth_of(const struct slow_line *lines, u32 at)
{
	u32 i, depth = 0;

	for (i = 0; i < at; i++)
		depth += lines[i].ended > lines[at].ended;
	return depth;
}

static void lines_print(struct view *view, const struct profile_feed *feed,
			const struct slow_line *lines, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++) {
		duration_print(view, feed->slowest, &lines[i]);
		function_print(view, feed->profile, &lines[i],
			       depth_of(lines, i));
	}
}

static void before_print(struct view *view, const struct profile_feed *feed)
{
	const struct slow_lines *lines = feed->slowest->lines;

	fprintf(view->out, "\nBefore the slowest, in its task: %s\n",
		lines->before_count ? "the calls that returned last" :
				      "no call that returned");
	lines_print(view, feed, lines->before, lines->before_count);
}

static void inside_print(struct view *view, const struct profile_feed *feed)
{
	const struct slow_lines *lines = feed->slowest->lines;

	fprintf(view->out, "\nWithin the slowest: %s\n", lines->inside_count ?
		"what it called (?: the return is not in the trace)" :
		"no calls");
	lines_print(view, feed, lines->inside, lines->inside_count);
	if (lines->left_out)
		fprintf(view->out, "%14s %12s  %llu more, none of them %s\n",
			"", "", (unsigned long long)lines->left_out,
			has_times(feed->slowest) ? "longer" :
						   "with more branches");
}

/* One end of --time, which takes numbers without a unit as they are shown. */
static void time_print(struct view *view, u64 ticks, char end)
{
	if (view->tsc_khz)
		fprintf(view->out, "%.3f%c",
			(double)ticks * 1000 / view->tsc_khz, end);
	else
		fprintf(view->out, "%llu%c", (unsigned long long)ticks, end);
}

/* It is there to be copied. */
static void command_print(struct view *view, const struct slow_run *run)
{
	const struct view_options *options = view->options;
	u64 from = run->call.begun - run->zero;

	if (!options->again)
		return;
	fprintf(view->out, "\n%s ", options->again);
	if (run->call.cpu != PROFILE_CPU_UNKNOWN)
		fprintf(view->out, "--cpu %llu ",
			(unsigned long long)run->call.cpu);
	else if (run->call.tid)
		fprintf(view->out, "--tid %u ", run->call.tid);
	/* A TSC may have been set back: then it is before the first. */
	if (run->call.begun && run->call.begun >= run->zero) {
		fputs("--time ", view->out);
		time_print(view, from, ',');
		time_print(view, from + run->line.ticks, ' ');
	}
	fprintf(view->out, "--calls%s\n", options->typed);
}

static void slowest_text(struct view *view, const struct profile_feed *feed)
{
	const struct slowest *slowest = feed->slowest;
	u32 i;

	if (!slowest->count) {
		fprintf(view->out, "%s: no run begins and ends in the trace\n",
			view->options->slowest);
		return;
	}
	fprintf(view->out, "Slowest runs, %u of %llu%s (*: with a gap within):\n",
		slowest->count, (unsigned long long)slowest->all,
		has_times(slowest) ? "" :
		", by their branches as the trace has no times");
	fprintf(view->out, "%14s %14s %3s  %-*s %12s  %s\n", "duration", "from",
		"CPU", VIEW_TASK_WIDTH, "task", "branches", "function");
	for (i = 0; i < slowest->count; i++)
		run_print(view, feed, &slowest->runs[i]);
	before_print(view, feed);
	inside_print(view, feed);
	command_print(view, &slowest->first);
}

void slowest_print(struct view *view, const struct profile_feed *feed)
{
	struct slowest *slowest = feed->slowest;
	u32 i;

	/* Nothing was read, and a sentence says why. */
	if (!view->tally.records)
		return;
	if (view->tally.counted) {
		say_error("--slowest %s: the branches were only counted, which has no calls; allowed are traces and records of each branch",
			  view->options->slowest);
		view->failed = true;
		return;
	}
	if (!wanted_check(feed->profile, "slowest")) {
		view->failed = true;
		return;
	}
	slowest_sort(slowest);
	if (!view->options->json)
		slowest_text(view, feed);
	for (i = 0; view->options->json && i < slowest->count; i++)
		run_json(view, feed->profile, &slowest->runs[i]);
	if (slowest->unseen)
		say_note("%llu more began whose return is not in the trace",
			 (unsigned long long)slowest->unseen);
}
