// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes the page: data as JSON between the parts of html_page.h. Times are ticks, as of the
 * first time that --time counts from. Names are escaped so that they end no element.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../cli/printable.h"
#include "../cli/progress.h"
#include "../cli/standard_output.h"
#include "../records/record_words.h"
#include "html.h"
#include "html_page.h"
#include "profile_feed.h"
#include "view_totals.h"

#define TEXT_BYTES	512
#define CUT		"\xe2\x80\xa6"
/* At first; the page has fewer if it is too long. */
#define SUMS_FIRST	(1U << 18)
#define FUNCTIONS_FIRST	(1U << 15)
#define TASKS_MOST	4096U
/* What the number of a symbol or node is on the page: no more than this one of it is there. */
#define LEFT_OUT	(~0U)

/**
 * struct writer - a page while it is written
 * @feed, @html: what of
 * @out: where to
 * @zero: TSC that times count from
 * @symbols: number on the page of each symbol, or LEFT_OUT
 * @symbol_count: how many are there
 * @nodes: number on the page of each node of the feed's tree, or LEFT_OUT
 * @node_count: how many are there
 * @tasks: number on the page of each task, or LEFT_OUT
 * @task_count: how many are there
 * @functions_most: of functions
 * @functions_out: how many are left out
 */
struct writer {
	struct profile_feed *feed;
	struct html *html;
	FILE *out;
	u64 zero;
	u32 *symbols;
	u32 symbol_count;
	u32 *nodes;
	u32 node_count;
	u32 *tasks;
	u32 task_count;
	u32 functions_most;
	u32 functions_out;
};

/* A plain text, as a string of JSON that ends no element of the page. */
static void string_put(FILE *out, const char *c)
{
	fputc('"', out);
	for (; *c; c++) {
		if (strchr("\"\\<>&'", *c))
			fprintf(out, "\\u%04x", (unsigned char)*c);
		else
			fputc(*c, out);
	}
	fputc('"', out);
}

/* It fills its room, and there is more of it. */
static void text_cut(char *text)
{
	size_t end = TEXT_BYTES - sizeof(CUT);

	while (end && ((unsigned char)text[end] & 0xc0) == 0x80)
		end--;
	memcpy(text + end, CUT, sizeof(CUT));
}

static void text_put(FILE *out, const char *text)
{
	char plain[TEXT_BYTES];

	if (snprintf(plain, sizeof(plain), "%s", text) >= (int)sizeof(plain))
		text_cut(plain);
	plain_text(plain);
	string_put(out, plain);
}

/* Commands may be longer than names; they are plain. */
static void command_put(FILE *out, const char *name, const char *text)
{
	fprintf(out, "\"%s\":", name);
	if (text)
		string_put(out, text);
	else
		fputs("null", out);
	fputc(',', out);
}

static void number_put(FILE *out, const char *name, u64 number)
{
	fprintf(out, "\"%s\":%llu,", name, (unsigned long long)number);
}

static void since_put(const struct writer *w, const char *name, u64 tsc)
{
	fprintf(w->out, "\"%s\":%lld,", name, (long long)(tsc - w->zero));
}

static u64 zero_find(const struct profile *profile)
{
	u64 zero = ~0ULL;
	u32 i;

	for (i = 0; i < profile->cpu_count; i++) {
		if (profile->cpus[i].first && profile->cpus[i].zero < zero)
			zero = profile->cpus[i].zero;
	}
	return zero == ~0ULL ? 0 : zero;
}

/* Stacks that have a sum, and what they were called from. */
static void nodes_number(struct writer *w)
{
	const struct folded *folded = w->feed->folded;
	const struct html_cells *paths = &w->html->sums.paths;
	size_t i;
	u32 node;

	memset(w->nodes, 0xff, folded->count * sizeof(*w->nodes));
	for (i = 0; i < paths->count; i++) {
		for (node = paths->cells[i].key; node && w->nodes[node];
		     node = folded->nodes[node].parent)
			w->nodes[node] = 0;
	}
	w->node_count = 0;
	for (node = 1; node < folded->count; node++) {
		if (!w->nodes[node])
			w->nodes[node] = w->node_count++;
	}
}

/* Those with most time in themselves, in the order of @list, while there is room. */
static void symbols_number(struct writer *w, const struct profile_symbol **list, size_t count)
{
	const struct profile *profile = w->feed->profile;
	size_t i;

	memset(w->symbols, 0xff, profile->symbol_count * sizeof(*w->symbols));
	w->symbol_count = 0;
	for (i = 0; i < count && w->symbol_count < w->functions_most; i++)
		w->symbols[list[i] - profile->symbols] = w->symbol_count++;
	w->functions_out = count - w->symbol_count;
}

static void tasks_number(struct writer *w)
{
	u32 i;

	w->task_count = 0;
	for (i = 0; i < w->feed->profile->task_count; i++)
		w->tasks[i] = html_task_joined(w->html, i) ? LEFT_OUT : w->task_count++;
}

static void head_put(const struct writer *w)
{
	const struct html_sums *sums = &w->html->sums;
	struct view *view = w->feed->view;
	u64 begin = sums->first >> sums->shift << sums->shift;

	fputs("{\"format\":1,", w->out);
	command_put(w->out, "file", view->options->path);
	command_put(w->out, "command", view->options->again);
	command_put(w->out, "typed", view->options->again ? view->options->typed : NULL);
	command_put(w->out, "typedCpus",
		    view->options->again ? view->options->typed_cpus : NULL);
	command_put(w->out, "time", view->options->narrow.time.text);
	number_put(w->out, "khz", view->tsc_khz);
	since_put(w, "origin", begin);
	since_put(w, "first", sums->first);
	since_put(w, "last", sums->last);
	number_put(w->out, "width", 1ULL << sums->shift);
	number_put(w->out, "buckets", html_sums_buckets(sums));
	number_put(w->out, "traced", w->feed->profile->traced);
	number_put(w->out, "mergedBelow", w->html->floor);
	number_put(w->out, "functionsLeftOut", w->functions_out);
	number_put(w->out, "tasksLeftOut", w->html->joined_count);
	number_put(w->out, "untimedCalls", w->html->untimed_calls);
	number_put(w->out, "untimedGaps", w->html->untimed_gaps);
	fprintf(w->out, "\"stacksFull\":%s,\"cut\":%s,\"interrupted\":%s,",
		w->feed->folded->full ? "true" : "false", view->cut ? "true" : "false",
		progress_interrupted() ? "true" : "false");
}

static void cpus_put(const struct writer *w)
{
	const struct profile *profile = w->feed->profile;
	const struct profile_cpu *cpu;
	u32 i;

	fputs("\"cpus\":[", w->out);
	for (i = 0; i < profile->cpu_count; i++) {
		cpu = &profile->cpus[i];
		fprintf(w->out, "%s{", i ? "," : "");
		since_put(w, "first", cpu->first ? cpu->first : w->zero);
		since_put(w, "last", cpu->last ? cpu->last : w->zero);
		since_put(w, "zero", cpu->first ? cpu->zero : w->zero);
		number_put(w->out, "ticks", cpu->ticks);
		number_put(w->out, "lost", cpu->lost);
		if (cpu->cpu == PROFILE_CPU_UNKNOWN)
			fputs("\"cpu\":null}", w->out);
		else
			fprintf(w->out, "\"cpu\":%llu}", (unsigned long long)cpu->cpu);
	}
	fputs("],", w->out);
}

static void tasks_put(const struct writer *w)
{
	const struct profile *profile = w->feed->profile;
	const struct profile_task *task;
	u32 i;

	fputs("\"tasks\":[", w->out);
	for (i = 0; i < profile->task_count; i++) {
		task = &profile->tasks[i];
		if (w->tasks[i] == LEFT_OUT)
			continue;
		fprintf(w->out, "%s{\"tid\":%u,\"pid\":%u,", w->tasks[i] ? "," : "", task->tid,
			task->pid);
		number_put(w->out, "ticks", task->ticks);
		fputs("\"name\":", w->out);
		text_put(w->out, names_comm(w->feed->view->names, task->tid, task->pid));
		fputc('}', w->out);
	}
	fputs("],", w->out);
}

static void gaps_put(const struct writer *w)
{
	const struct profile *profile = w->feed->profile;
	u32 i;

	fputs("\"gaps\":[", w->out);
	for (i = 0; i <= KIPT_GAP_KIND_MAX; i++) {
		fputs(i ? "," : "", w->out);
		text_put(w->out, words_gap(i));
	}
	fputs("],\"lost\":[", w->out);
	for (i = 0; i <= KIPT_GAP_KIND_MAX; i++)
		fprintf(w->out, "%s%llu", i ? "," : "", (unsigned long long)profile->lost[i]);
	fputs("],", w->out);
}

/* A function is a row: name, process, is it the kernel's, calls, self, total, longest. */
static void functions_put(const struct writer *w, const struct profile_symbol **list)
{
	const struct profile *profile = w->feed->profile;
	const struct profile_symbol *symbol;
	char text[2 * TEXT_BYTES];
	u32 i;

	fputs("\"functions\":[", w->out);
	for (i = 0; i < w->symbol_count; i++) {
		symbol = list[i];
		fputs(i ? ",\n[" : "[", w->out);
		text_put(w->out, totals_text(symbol, text, sizeof(text)));
		fprintf(w->out, ",%u,%d,%llu,%llu,%llu,%llu]",
			profile_space_pid(&profile->spaces[symbol->space]),
			!symbol->space, (unsigned long long)symbol->calls,
			(unsigned long long)symbol->self, (unsigned long long)symbol->total,
			(unsigned long long)symbol->longest.ticks);
	}
	fputs("],\n", w->out);
}

/* A function: its number; -1: left out, -2: merged; of a process -3 - its number. */
static long long function_of(const struct writer *w, const struct folded_node *node)
{
	if (node->parent == FOLDED_ROOT)
		return -3LL - node->symbol;
	if (node->symbol == HTML_MERGED)
		return -2;
	return w->symbols[node->symbol] == LEFT_OUT ? -1 : (long long)w->symbols[node->symbol];
}

/* Pairs: the number of the parent, -1 of a process, and the function. */
static void nodes_put(const struct writer *w)
{
	const struct folded_node *nodes = w->feed->folded->nodes;
	const char *comma = "";
	u32 i;

	fputs("\"nodes\":[", w->out);
	for (i = 1; i < w->feed->folded->count; i++) {
		if (w->nodes[i] == LEFT_OUT)
			continue;
		fprintf(w->out, "%s%lld,%lld", comma,
			nodes[i].parent == FOLDED_ROOT ? -1LL : w->nodes[nodes[i].parent],
			function_of(w, &nodes[i]));
		comma = ",";
	}
	fputs("],\n\"processes\":{", w->out);
	comma = "";
	for (i = 1; i < w->feed->folded->count; i++) {
		if (nodes[i].parent != FOLDED_ROOT || w->nodes[i] == LEFT_OUT || !nodes[i].symbol)
			continue;
		fprintf(w->out, "%s\"%u\":", comma, nodes[i].symbol);
		text_put(w->out, names_comm(w->feed->view->names, nodes[i].symbol,
					    nodes[i].symbol));
		comma = ",";
	}
	fputs("},\n", w->out);
}

/* Tasks without a row are one that is not known. */
static long long task_of(const struct writer *w, u32 task)
{
	return task >= w->feed->profile->task_count || w->tasks[task] == LEFT_OUT ?
		       -1LL : w->tasks[task];
}

static long long cpu_of(const struct writer *w, u32 cpu)
{
	return cpu >= w->feed->profile->cpu_count ? -1LL : cpu;
}

/* Rows of numbers: bucket, as of the first, and then what @kind has. */
static void cells_put(const struct writer *w, char kind, const struct html_cells *cells)
{
	const struct html_cell *cell;
	u64 first = w->html->sums.first >> w->html->sums.shift;
	size_t i;

	for (i = 0; i < cells->count; i++) {
		cell = &cells->cells[i];
		fprintf(w->out, "%s%llu,", i ? "," : "",
			(unsigned long long)(cell->bucket - first));
		if (kind == 'p')
			fprintf(w->out, "%d,", (int)w->nodes[cell->key]);
		else
			fprintf(w->out, "%lld,%lld,", cpu_of(w, cell->key >> 32),
				kind == 'l' ? (long long)(u32)cell->key :
					      task_of(w, (u32)cell->key));
		fprintf(w->out, "%llu", (unsigned long long)cell->ticks);
		if (kind != 'r')
			fprintf(w->out, ",%llu", (unsigned long long)cell->count);
	}
	fputs("],\n", w->out);
}

static void sums_put(const struct writer *w)
{
	fputs("\"paths\":[", w->out);
	cells_put(w, 'p', &w->html->sums.paths);
	fputs("\"runs\":[", w->out);
	cells_put(w, 'r', &w->html->sums.runs);
	fputs("\"losses\":[", w->out);
	cells_put(w, 'l', &w->html->sums.losses);
}

/* Begin, ticks, function, CPU, thread, level, and 1: no return was seen, 2: has a gap. */
static void calls_put(const struct writer *w)
{
	const struct html *html = w->html;
	const struct html_call *call;
	u32 symbol;
	size_t i;

	number_put(w->out, "callsSeen", html->calls_seen);
	fputs("\"calls\":[", w->out);
	for (i = 0; i < html->call_count; i++) {
		call = &html->calls[i];
		symbol = w->symbols[call->symbol];
		fprintf(w->out, "%s%lld,%llu,%lld,%lld,%u,%u,%d", i ? "," : "",
			(long long)(call->begun - w->zero), (unsigned long long)call->ticks,
			symbol == LEFT_OUT ? -1LL : symbol, cpu_of(w, call->cpu), call->tid,
			call->level, call->unseen | call->gap << 1);
	}
	fputs("]}\n", w->out);
}

/* The line of each call, or -1, and what it is. */
static void lines_put(const struct writer *w)
{
	const struct html *html = w->html;
	struct html_lines *lines = html->lines;
	u32 number;
	size_t i;

	if (!lines)
		return;
	html_lines_restart(lines);
	fputs("\"callLines\":[", w->out);
	for (i = 0; i < html->call_count; i++) {
		number = html_lines_number(lines, html->calls[i].source);
		fprintf(w->out, "%s%lld", i ? "," : "",
			number == HTML_NO_LINE ? -1LL : number);
	}
	fputs("],\n\"lines\":[", w->out);
	for (number = 0; number < lines->numbered_count; number++) {
		fputs(number ? "," : "", w->out);
		text_put(w->out, html_lines_text(lines, number));
	}
	fputs("],\n", w->out);
}

static void data_put(struct writer *w, const struct profile_symbol **list)
{
	head_put(w);
	cpus_put(w);
	tasks_put(w);
	gaps_put(w);
	functions_put(w, list);
	nodes_put(w);
	sums_put(w);
	lines_put(w);
	calls_put(w);
}

/* The page as text. NULL without memory. */
static char *page_make(struct writer *w, const struct profile_symbol **list, size_t count,
		       size_t *size)
{
	char *page = NULL;
	bool ok;

	free(w->nodes);
	w->nodes = malloc(w->feed->folded->count * sizeof(*w->nodes));
	w->out = w->nodes ? open_memstream(&page, size) : NULL;
	if (!w->out)
		return NULL;
	nodes_number(w);
	tasks_number(w);
	symbols_number(w, list, count);
	html_page_begin(w->out);
	data_put(w, list);
	html_page_end(w->out);
	ok = !ferror(w->out);
	ok &= !fclose(w->out);
	if (ok)
		return page;
	free(page);
	return NULL;
}

/* Half as much of all until the page is short enough. */
static char *page_fit(struct writer *w, const struct profile_symbol **list, size_t count,
		      size_t *size)
{
	size_t sums = SUMS_FIRST;
	char *page = NULL;

	for (w->functions_most = FUNCTIONS_FIRST; sums; w->functions_most /= 2, sums /= 2) {
		free(page);
		page = html_shrink(w->feed, sums) ? page_make(w, list, count, size) : NULL;
		if (!page || *size <= HTML_BYTES)
			return page;
		html_longest(w->html, HTML_CALLS_LONGEST);
	}
	w->html->too_much = true;
	free(page);
	return NULL;
}

static void page_save(struct html *html, const char *page, size_t size)
{
	FILE *out = html->file.out;

	if (!fresh_begin(&html->file))
		return;
	fwrite(page, 1, size, out);
	if (output_flush(out))
		fresh_failed(&html->file);
}

bool html_write(struct profile_feed *feed)
{
	struct profile *profile = feed->profile;
	struct writer w = { .feed = feed, .html = feed->html, .zero = zero_find(profile) };
	const struct profile_symbol **list;
	size_t count, size = 0;
	char *page = NULL;
	bool ok;

	if (w.html->calls_seen - w.html->untimed_calls > w.html->call_count)
		html_longest(w.html, HTML_CALLS_LONGEST);
	html_longest(w.html, HTML_CALLS_ALL);
	list = profile_sort(profile, &count);
	w.symbols = malloc(profile->symbol_count * sizeof(*w.symbols));
	w.tasks = malloc((profile->task_count + 1) * sizeof(*w.tasks));
	if (list && w.symbols && w.tasks && html_tasks_keep(feed, TASKS_MOST))
		page = page_fit(&w, list, count, &size);
	ok = page;
	if (ok)
		page_save(w.html, page, size);
	free(page);
	free(w.tasks);
	free(w.nodes);
	free(w.symbols);
	free(list);
	return ok;
}
