// SPDX-License-Identifier: GPL-2.0-only
/*
 * All of a trace on one screen: what was traced, what is lost, which calls took
 * longest, which functions are hot, and the commands that show more. No line is
 * wider than a terminal of 80 columns, and there are 40 at most unless somebody
 * asks for more.
 */
#include <errno.h>
#include <json-c/json.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "../cli/json_lines.h"
#include "../cli/messages.h"
#include "../cli/printable.h"
#include "../records/record_words.h"
#include "view_totals.h"

#define WIDTH		80
#define TASKS_SHOWN	4
#define GAPS_SHOWN	3
#define SLOWEST_SHOWN	8
#define HOTTEST_SHOWN	10

/* All CPUs together; @from: the first time of all. */
struct span {
	u64 from, to;
	u64 ticks, lost;
	u32 cpus;
	const struct profile_cpu *worst;
};

static void __printf(2, 3) line_print(struct view *view, const char *format,
				      ...)
{
	char text[1024];
	va_list values;

	va_start(values, format);
	vsnprintf(text, sizeof(text), format, values);
	va_end(values);
	fprintf(view->out, "%.*s\n", plain_cut(text, WIDTH), text);
}

/* A function's name and its file after the columns before them; of a name that is too long the
 * end is left out, and not the file.
 */
static void __printf(3, 4) function_print(struct view *view, const struct profile_symbol *symbol,
					  const char *format, ...)
{
	char before[256], name[512], *file;
	size_t room, used, kept;
	va_list values;

	va_start(values, format);
	vsnprintf(before, sizeof(before), format, values);
	va_end(values);
	totals_text(symbol, name, sizeof(name));
	used = strlen(before);
	room = used < WIDTH ? WIDTH - used : 0;
	file = strrchr(name, '[');
	if (!symbol->name || strlen(name) <= room || !file || strlen(file) + 4 >= room) {
		line_print(view, "%s%s", before, name);
		return;
	}
	kept = room - strlen(file) - 4;
	name[plain_cut(name, kept)] = 0;
	line_print(view, "%s%s... %s", before, name, file);
}

static double share(u64 part, u64 whole)
{
	return whole ? (double)part * 100 / (double)whole : 0;
}

static void span_make(const struct profile *profile, struct span *span)
{
	u32 i;

	memset(span, 0, sizeof(*span));
	for (i = 0; i < profile->cpu_count; i++) {
		const struct profile_cpu *cpu = &profile->cpus[i];

		span->cpus++;
		if (!cpu->first)
			continue;
		if (!span->from || cpu->first < span->from)
			span->from = cpu->first;
		if (cpu->last > span->to)
			span->to = cpu->last;
		profile_add(&span->ticks, cpu->ticks);
		profile_add(&span->lost, cpu->lost);
		if (!span->worst || share(cpu->lost, cpu->ticks) >
				    share(span->worst->lost, span->worst->ticks))
			span->worst = cpu;
	}
}

u64 view_nanoseconds(const struct view *view, u64 ticks)
{
	u32 khz = view->tsc_khz;

	return khz ? ticks / khz * 1000000 + ticks % khz * 1000000 / khz : ticks;
}

/* "12.345 ms"; in ticks where nobody knows how fast the TSC is. */
const char *view_duration(const struct view *view, u64 ticks, char *text,
			  size_t size)
{
	double us;

	if (!view->tsc_khz) {
		snprintf(text, size, "%llu ticks", (unsigned long long)ticks);
		return text;
	}
	us = (double)ticks * 1000 / view->tsc_khz;
	if (us < 1000)
		snprintf(text, size, "%.3f us", us);
	else if (us < 1000000)
		snprintf(text, size, "%.3f ms", us / 1000);
	else
		snprintf(text, size, "%.3f s", us / 1000000);
	return text;
}

const char *view_since(const struct view *view, s64 ticks, char *text,
		       size_t size)
{
	if (ticks >= 0)
		return view_duration(view, ticks, text, size);
	text[0] = '-';
	view_duration(view, -(u64)ticks, text + 1, size - 1);
	return text;
}

static int cpu_compare(const void *a, const void *b)
{
	const u64 *left = a, *right = b;

	return *left < *right ? -1 : *left > *right;
}

const char *view_cpu(u64 cpu, char *text, size_t size)
{
	if (cpu == PROFILE_CPU_UNKNOWN)
		snprintf(text, size, "unknown");
	else
		snprintf(text, size, "%llu", (unsigned long long)cpu);
	return text;
}

const char *view_cpu_cell(u64 cpu, char *text, size_t size)
{
	if (cpu != PROFILE_CPU_UNKNOWN)
		return view_cpu(cpu, text, size);
	snprintf(text, size, "-");
	return text;
}

/* "0-3,6", cut where it is too long. */
static void cpus_text(const struct profile *profile, char *text, size_t size)
{
	char first[16], last[16];
	u64 *list = malloc(profile->cpu_count * sizeof(*list) + 1);
	u32 i, end, count = profile->cpu_count;
	size_t length = 0;

	text[0] = 0;
	for (i = 0; list && i < count; i++)
		list[i] = profile->cpus[i].cpu;
	if (list)
		qsort(list, count, sizeof(*list), cpu_compare);
	for (i = 0; list && i < count; i = end) {
		for (end = i + 1; end < count && list[end] - list[i] == end - i &&
				  list[end] != PROFILE_CPU_UNKNOWN;)
			end++;
		if (length + 32 > size) {
			snprintf(text + length, size - length, ",...");
			break;
		}
		length += snprintf(text + length, size - length,
				   end - i > 1 ? "%s%s-%s" : "%s%s",
				   i ? "," : "",
				   view_cpu(list[i], first, sizeof(first)),
				   view_cpu(list[end - 1], last, sizeof(last)));
	}
	free(list);
}

static void what_print(struct view *view, const struct profile *profile,
		       const struct span *span)
{
	u64 known = profile->traced;
	char cpus[96], time[48], rest[48] = "";

	profile_add(&known, span->lost);
	cpus_text(profile, cpus, sizeof(cpus));
	if (known < span->ticks)
		snprintf(rest, sizeof(rest), " (%.1f %% not traced)",
			 share(span->ticks - known, span->ticks));
	line_print(view, "%llu branches in %s%s, CPU%s %s",
		   (unsigned long long)tally_branches(&view->tally),
		   span->from ? view_duration(view, span->to - span->from, time,
					 sizeof(time)) : "unknown time", rest,
		   span->cpus == 1 ? "" : "s", cpus);
}

static int task_compare(const void *left, const void *right)
{
	const struct profile_task *a = left, *b = right;

	if (a->ticks != b->ticks)
		return a->ticks > b->ticks ? -1 : 1;
	if (a->branches != b->branches)
		return a->branches > b->branches ? -1 : 1;
	return a->tid < b->tid ? -1 : a->tid > b->tid;
}

void view_task(struct view *view, u32 tid, u32 pid, char *text, size_t size)
{
	const char *comm = names_comm(view->names, tid, pid);

	snprintf(text, size, "%u%s%s", tid, *comm ? " " : "", comm);
	text[plain_cut(text, size)] = 0;
}

const char *view_task_cell(struct view *view, bool known, u32 tid, u32 pid,
			   char *text, size_t size)
{
	snprintf(text, size, "-");
	if (known)
		view_task(view, tid, pid, text, size);
	text[plain_cut(text, VIEW_TASK_WIDTH)] = 0;
	return text;
}

/* Of one that is only named nothing was traced, or it was not chosen. */
static bool task_ran(const struct profile_task *task)
{
	return task->ticks || task->branches;
}

static void tasks_print(struct view *view, const struct profile *profile,
			const struct span *span)
{
	u64 branches = tally_branches(&view->tally);
	u32 i, count = profile->task_count;
	char text[512], task[64];
	size_t length = 0;

	qsort(profile->tasks, count, sizeof(*profile->tasks), task_compare);
	while (count && !task_ran(&profile->tasks[count - 1]))
		count--;
	for (i = 0; i < count && i < TASKS_SHOWN; i++) {
		const struct profile_task *at = &profile->tasks[i];

		view_task(view, at->tid, at->pid, task, sizeof(task));
		length += snprintf(text + length, sizeof(text) - length,
				   "%s%s %.1f %%", i ? ", " : "", task,
				   span->ticks ?
				   share(at->ticks, span->ticks) :
				   share(at->branches, branches));
	}
	if (i < count)
		snprintf(text + length, sizeof(text) - length, ", %u more",
			 count - i);
	line_print(view, "%s%s", count == 1 ? "task " : "tasks ",
		   count ? text : "not known: the trace does not say which task ran");
}

static void lost_print(struct view *view, const struct span *span)
{
	u64 gaps = tally_gaps(&view->tally);
	char cpu[16];

	if (view->cut)
		line_print(view, "lost: the file is cut");
	if (!gaps) {
		if (!view->cut)
			line_print(view, "nothing is lost");
		return;
	}
	if (!span->ticks)
		line_print(view, "lost: unknown time, in %llu gap%s:",
			   (unsigned long long)gaps, gaps == 1 ? "" : "s");
	else if (span->cpus == 1)
		line_print(view, "lost: %.1f %% of the time, in %llu gap%s:",
			   share(span->lost, span->ticks),
			   (unsigned long long)gaps, gaps == 1 ? "" : "s");
	else
		line_print(view, "lost: %.1f %% of the time (CPU %s %.1f %%), in %llu gap%s:",
			   share(span->lost, span->ticks),
			   view_cpu(span->worst->cpu, cpu, sizeof(cpu)),
			   share(span->worst->lost, span->worst->ticks),
			   (unsigned long long)gaps, gaps == 1 ? "" : "s");
}

/* Those that lost most time, then the most frequent. */
static u32 worst_gap(struct view *view, const struct profile *profile,
		     const bool *shown)
{
	const u64 *gaps = view->tally.gaps;
	u32 kind, worst = 0;

	for (kind = 1; kind <= KIPT_GAP_KIND_MAX; kind++) {
		if (!gaps[kind] || shown[kind])
			continue;
		if (!worst || profile->lost[kind] > profile->lost[worst] ||
		    (profile->lost[kind] == profile->lost[worst] &&
		     gaps[kind] > gaps[worst]))
			worst = kind;
	}
	return worst;
}

static void gaps_print(struct view *view, const struct profile *profile,
		       const struct span *span)
{
	bool shown[KIPT_GAP_KIND_MAX + 1] = { false };
	u64 left = tally_gaps(&view->tally);
	u32 i, kind;

	for (i = 0; i < GAPS_SHOWN; i++) {
		kind = worst_gap(view, profile, shown);
		if (!kind)
			break;
		shown[kind] = true;
		left -= view->tally.gaps[kind];
		line_print(view, "  %8llu  %5.1f %%  %s: %s",
			   (unsigned long long)view->tally.gaps[kind],
			   share(profile->lost[kind], span->ticks),
			   words_kind(KIPT_RECORD_GAP, kind), words_gap(kind));
	}
	if (left)
		line_print(view, "  %8llu           of other kinds",
			   (unsigned long long)left);
}

/* So many unless --top says otherwise. */
static size_t rows(const struct view *view, size_t count, size_t unless)
{
	if (view->options->top_given)
		return view_top(view->options, count);
	return count < unless ? count : unless;
}

static int longest_compare(const void *left, const void *right)
{
	const struct profile_symbol *a = *(const struct profile_symbol **)left;
	const struct profile_symbol *b = *(const struct profile_symbol **)right;

	if (a->longest.ticks != b->longest.ticks)
		return a->longest.ticks > b->longest.ticks ? -1 : 1;
	/* The outer call of two. */
	if (a->longest.begun != b->longest.begun)
		return a->longest.begun < b->longest.begun ? -1 : 1;
	return a < b ? -1 : a > b;
}

/* As --calls --time of its CPU has it, and --time FROM,TO takes it. */
static s64 call_from(const struct profile *profile,
		     const struct profile_call *call)
{
	u32 i;

	for (i = 0; i < profile->cpu_count; i++) {
		if (profile->cpus[i].cpu == call->cpu)
			return call->begun - profile->cpus[i].zero;
	}
	return 0;
}

static void slow_print(struct view *view, const struct profile *profile,
		       const struct profile_symbol *symbol)
{
	const struct profile_call *call = &symbol->longest;
	char time[48], at[48], task[64], cpu[16];

	view_task_cell(view, call->tid || call->pid, call->tid, call->pid, task,
		       sizeof(task));
	function_print(view, symbol, "%12s %12s %3s  %s%*s %s",
		       view_duration(view, call->ticks, time, sizeof(time)),
		       view_since(view, call_from(profile, call), at, sizeof(at)),
		       view_cpu_cell(call->cpu, cpu, sizeof(cpu)), task,
		       VIEW_TASK_WIDTH - (int)strlen(task), "",
		       call->gap ? "* " : "");
}

static void longest_print(struct view *view, const struct profile *profile,
			  const struct span *span,
			  const struct profile_symbol **functions,
			  size_t count)
{
	size_t i, top, size = count * sizeof(*functions);
	const struct profile_symbol **list = malloc(size + 1);

	fputc('\n', view->out);
	if (!list) {
		say_errno(ENOMEM, "cannot show the slowest calls");
		view->failed = true;
		return;
	}
	memcpy(list, functions, size);
	qsort(list, count, sizeof(*list), longest_compare);
	if (!count || !list[0]->longest.ticks) {
		line_print(view, "Slowest calls: %s", span->from ?
			   "none begins and ends at different times of the trace" :
			   "the trace has no times");
		free(list);
		return;
	}
	line_print(view, "Slowest calls, the longest of each function (*: with a gap within):");
	line_print(view, "%12s %12s %3s  %-18s %s", "duration", "from", "CPU",
		   "task", "function");
	top = rows(view, count, SLOWEST_SHOWN);
	for (i = 0; i < top && list[i]->longest.ticks; i++)
		slow_print(view, profile, list[i]);
	free(list);
}

static void hot_print(struct view *view, const struct profile_symbol *symbol,
		      const struct span *span)
{
	u64 branches = tally_branches(&view->tally);
	char total[48];

	function_print(view, symbol, "%6.1f %% %11s %10llu %10llu  ", span->ticks ?
		       share(symbol->self, span->ticks) :
		       share(symbol->branches, branches),
		       span->ticks ? view_duration(view, symbol->total, total,
					      sizeof(total)) : "-",
		       (unsigned long long)symbol->calls,
		       (unsigned long long)symbol->branches);
}

static void hottest_print(struct view *view, const struct span *span,
			  const struct profile_symbol **list, size_t count)
{
	size_t i, top = rows(view, count, HOTTEST_SHOWN);

	fputc('\n', view->out);
	line_print(view, "Hottest functions, by %s:", span->ticks ?
		   "the time in themselves" : "branches");
	line_print(view, "%8s %11s %10s %10s  %s", "self", "total", "calls",
		   "branches", "function");
	for (i = 0; i < top; i++)
		hot_print(view, list[i], span);
}

/* These are not cut: they are there to be copied. */
static void more_print(struct view *view)
{
	const struct view_options *options = view->options;
	/* It may be in what was typed. */
	const bool timed = options->time;
	const char *const more[] = {
		timed ? "--calls" : "--calls --time", "--totals", "--counts",
		timed ? "--branches" : "--branches --time",
	};
	size_t i;

	if (!options->again)
		return;
	fputc('\n', view->out);
	for (i = 0; i < ARRAY_SIZE(more); i++)
		fprintf(view->out, "%s %s%s\n", options->again, more[i],
			options->typed);
	if (options->packets)
		fprintf(view->out, "%s\n", options->packets);
}

void screen_print(struct view *view, const struct profile *profile,
		  const struct profile_symbol **list, size_t count)
{
	struct span span;

	/* Nothing was read, and a sentence says why. */
	if (!view->tally.records && !view->tally.counted)
		return;
	span_make(profile, &span);
	if (view->options->path)
		line_print(view, "%s", view->options->path);
	what_print(view, profile, &span);
	tasks_print(view, profile, &span);
	lost_print(view, &span);
	gaps_print(view, profile, &span);
	longest_print(view, profile, &span, list, count);
	hottest_print(view, &span, list, count);
	more_print(view);
}

void view_lost_json(struct json_object *line, const struct profile *profile)
{
	struct json_object *lost = json_object_new_object();
	u32 kind;

	for (kind = 1; kind <= KIPT_GAP_KIND_MAX; kind++) {
		if (profile->lost[kind])
			jsonl_number(lost, words_kind(KIPT_RECORD_GAP, kind),
				     profile->lost[kind]);
	}
	json_object_object_add(line, "lost", lost);
}

static void cpus_json(struct json_object *line, const struct profile *profile)
{
	struct json_object *list = json_object_new_array();
	u32 i;

	for (i = 0; i < profile->cpu_count; i++) {
		const struct profile_cpu *cpu = &profile->cpus[i];
		struct json_object *object = json_object_new_object();

		if (cpu->cpu != PROFILE_CPU_UNKNOWN)
			jsonl_number(object, "cpu", cpu->cpu);
		if (cpu->first) {
			jsonl_number(object, "first", cpu->first);
			jsonl_number(object, "last", cpu->last);
			jsonl_number(object, "ticks", cpu->ticks);
			jsonl_number(object, "lost", cpu->lost);
		}
		json_object_array_add(list, object);
	}
	json_object_object_add(line, "cpus", list);
}

static void tasks_json(struct view *view, struct json_object *line,
		       const struct profile *profile)
{
	struct json_object *list = json_object_new_array();
	u32 i;

	for (i = 0; i < profile->task_count; i++) {
		const struct profile_task *task = &profile->tasks[i];
		struct json_object *object;

		if (!task_ran(task))
			continue;
		object = json_object_new_object();
		jsonl_number(object, "tid", task->tid);
		jsonl_number(object, "pid", task->pid);
		jsonl_text(object, "comm", names_comm(view->names, task->tid,
						      task->pid));
		jsonl_number(object, "ticks", task->ticks);
		jsonl_number(object, "branches", task->branches);
		json_object_array_add(list, object);
	}
	json_object_object_add(line, "tasks", list);
}

void screen_json(struct view *view, const struct profile *profile,
		 const struct profile_symbol **list, size_t count)
{
	struct json_object *line;
	size_t i, top = view_top(view->options, count);

	if (!view->tally.records && !view->tally.counted)
		return;
	line = json_object_new_object();
	jsonl_text(line, "type", "trace");
	if (view->tsc_khz)
		jsonl_number(line, "tsc_khz", view->tsc_khz);
	cpus_json(line, profile);
	tasks_json(view, line, profile);
	view_lost_json(line, profile);
	if (view->cut)
		jsonl_flag(line, "cut", true);
	jsonl_print(line, view->out);
	for (i = 0; i < top; i++)
		totals_json(view, profile, list[i]);
}
