// SPDX-License-Identifier: GPL-2.0-only
/*
 * What differs between two runs: each number before and after, and the change.
 */
#define _GNU_SOURCE
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "../cli/json_lines.h"
#include "../cli/messages.h"
#include "../cli/printable.h"
#include "../cli/standard_output.h"
#include "html_page.h"
#include "profile_diff.h"
#include "view_totals.h"

/* So many files are named that are not the same in both. */
#define OBJECTS_SHOWN	8
/* Nanoseconds, as a TSC would count them. */
#define NS_KHZ		1000000

static const char run_names[] = "AB";

static const char *const measure_names[DIFF_MEASURES] = {
	[DIFF_SELF] = "self",
	[DIFF_TOTAL] = "total",
	[DIFF_INSNS] = "instructions",
	[DIFF_CALLS] = "calls",
};

static const char *const measure_keys[DIFF_MEASURES] = {
	[DIFF_SELF] = "self",
	[DIFF_TOTAL] = "total",
	[DIFF_INSNS] = "insns",
	[DIFF_CALLS] = "calls",
};

static const char *number_text(const struct view *view, u32 measure, u64 number,
			       char *text, size_t size)
{
	if (diff_is_time(measure))
		return view_duration(view, number, text, size);
	snprintf(text, size, "%llu", (unsigned long long)number);
	return text;
}

/* The numbers of both runs, the difference, and that in percent, in words. */
struct pair_texts {
	char before[48], after[48], change[64], share[48];
};

/* @fresh: there was nothing of it before */
static void pair_words(const struct view *view, u32 measure, u64 before, u64 after,
		       bool fresh, struct pair_texts *texts)
{
	u64 change = diff_apart(before, after);
	const char *sign = after > before ? "+" : after < before ? "-" : "";
	char text[48];

	number_text(view, measure, before, texts->before, sizeof(texts->before));
	number_text(view, measure, after, texts->after, sizeof(texts->after));
	snprintf(texts->change, sizeof(texts->change), "%s%s", sign,
		 number_text(view, measure, change, text, sizeof(text)));
	texts->share[0] = 0;
	if (before)
		snprintf(texts->share, sizeof(texts->share), "%s%.1f %%", sign,
			 (double)change * 100 / (double)before);
	else if (fresh)
		snprintf(texts->share, sizeof(texts->share), "new");
}

static void measure_print(const struct view *view, u32 measure, u64 before, u64 after,
			  bool fresh, bool unsure)
{
	struct pair_texts texts;

	if (!before && !after)
		return;
	pair_words(view, measure, before, after, fresh, &texts);
	fprintf(view->out, "  %-12s %16s -> %16s %17s %10s%s\n", measure_names[measure],
		texts.before, texts.after, texts.change, texts.share, unsure ? " ?" : "");
}

static void function_symbol(const struct profile_diff *diff,
			    const struct diff_function *function,
			    struct profile_symbol *symbol)
{
	*symbol = (struct profile_symbol){
		.name = function->name,
		.object = function->object == DIFF_NO_OBJECT ? NULL :
			  diff->objects[function->object].name,
		.called = function->called,
		.start = function->start,
	};
}

static void function_print(const struct profile_diff *diff, const struct view *view,
			   const struct diff_function *function)
{
	struct profile_symbol symbol;
	char text[512];
	u32 i;

	function_symbol(diff, function, &symbol);
	fprintf(view->out, "\n%s%s\n", totals_text(&symbol, text, sizeof(text)),
		!function->in[0] ? ", only in B" : !function->in[1] ? ", only in A" : "");
	for (i = 0; i < DIFF_MEASURES; i++)
		measure_print(view, i, function->sums[0][i], function->sums[1][i],
			      !function->in[0], diff_unsure(diff, function, i));
}

static struct json_object *pair_json(u64 a, u64 b)
{
	struct json_object *pair = json_object_new_array();

	json_object_array_add(pair, json_object_new_uint64(a));
	json_object_array_add(pair, json_object_new_uint64(b));
	return pair;
}

static void function_json(const struct profile_diff *diff, const struct view *view,
			  const struct diff_function *function)
{
	struct json_object *line = json_object_new_object();
	struct json_object *unsure = NULL;
	struct profile_symbol symbol;
	u32 i;

	function_symbol(diff, function, &symbol);
	jsonl_text(line, "type", "change");
	jsonl_text(line, "symbol", symbol.name);
	jsonl_text(line, "object", symbol.object);
	if (symbol.called)
		jsonl_hex(line, symbol.object ? "offset" : "ip", symbol.start);
	if (!function->in[0] || !function->in[1])
		jsonl_text(line, "only", function->in[0] ? "a" : "b");
	if (function->object != DIFF_NO_OBJECT &&
	    diff_other_build(&diff->objects[function->object]))
		jsonl_flag(line, "other_build", true);
	for (i = 0; i < DIFF_MEASURES; i++) {
		if (diff_is_time(i) && !diff->times)
			continue;
		json_object_object_add(line, measure_keys[i],
				       pair_json(function->sums[0][i],
						 function->sums[1][i]));
		if (!diff_unsure(diff, function, i))
			continue;
		unsure = unsure ? unsure : json_object_new_array();
		json_object_array_add(unsure, json_object_new_string(measure_keys[i]));
	}
	if (diff->times)
		json_object_object_add(line, "lost",
				       pair_json(diff->runs[0].lost, diff->runs[1].lost));
	if (unsure)
		json_object_object_add(line, "unsure", unsure);
	jsonl_print(line, view->out);
}

static double share(u64 part, u64 whole)
{
	return whole ? (double)part * 100 / (double)whole : 0;
}

static void run_print(const struct profile_diff *diff, const struct view *view, u32 run,
		      const char *path)
{
	const struct diff_run *at = &diff->runs[run];
	char time[48] = "", lost[48];

	if (diff->times)
		view_duration(view, at->ticks, time, sizeof(time));
	fprintf(view->out, "%c: %s: %llu instructions, %llu calls%s%s; ", run_names[run],
		path, (unsigned long long)at->sums[DIFF_INSNS],
		(unsigned long long)at->sums[DIFF_CALLS], diff->times ? " in " : "", time);
	if (!at->gaps)
		fputs("nothing is lost\n", view->out);
	else if (!diff->times)
		fprintf(view->out, "%llu gap%s\n", (unsigned long long)at->gaps,
			at->gaps == 1 ? "" : "s");
	else
		fprintf(view->out, "%llu gap%s, in which %s are lost, %.1f %% of the time\n",
			(unsigned long long)at->gaps, at->gaps == 1 ? "" : "s",
			view_duration(view, at->lost, lost, sizeof(lost)),
			share(at->lost, at->ticks));
}

static void times_print(const struct profile_diff *diff, const struct view *view)
{
	const struct diff_run *a = &diff->runs[0], *b = &diff->runs[1];

	if (diff->times && !diff->ns)
		fputs("Times are ticks of the TSC: how fast it is, is not known.\n", view->out);
	if (diff->times)
		return;
	if (!a->times && !b->times)
		fputs("Neither has times", view->out);
	else if (!a->times || !b->times)
		fprintf(view->out, "%s has no times", a->times ? "B" : "A");
	else
		fprintf(view->out, "How fast the TSC is, is known of %s only",
			a->tsc_khz ? "A" : "B");
	fputs(": calls and instructions are compared.\n", view->out);
}

static void objects_print(const struct profile_diff *diff, const struct view *view)
{
	const struct diff_object *at;
	u32 i, shown = 0, left = 0;

	for (i = 0; i < diff->object_count; i++) {
		at = &diff->objects[i];
		if (!at->other && !diff_other_build(at))
			continue;
		if (shown++ >= OBJECTS_SHOWN)
			left++;
		else if (at->other)
			fprintf(view->out, "%s is %s in B: the build id is the same.\n",
				at->name, at->other);
		else
			fprintf(view->out, "%s is another build in B: names are compared.\n",
				at->name);
	}
	if (left)
		fprintf(view->out, "Files that differ so, too: %u more.\n", left);
}

static void head_print(const struct profile_diff *diff, const struct view *view,
		       char **paths)
{
	u32 run;

	for (run = 0; run < 2; run++)
		run_print(diff, view, run, paths[run]);
	if (diff->runs[0].gaps || diff->runs[1].gaps)
		fputs("What is lost is in no number: a difference with '?' may come from that alone.\n",
		      view->out);
	times_print(diff, view);
	objects_print(diff, view);
	fprintf(view->out, "Noise is up to %g %% of the larger number, and up to %g %% of the whole run.\n",
		diff->noise, diff->noise / 100);
	if (diff->changed)
		fprintf(view->out, "Functions that differ: %u of %u, what changed most comes first.\n\nall functions\n",
			diff->changed, diff->function_count);
	else
		fprintf(view->out, "Nothing differs beyond that, of %u function%s.\n",
			diff->function_count, diff->function_count == 1 ? "" : "s");
	for (run = 0; run < DIFF_MEASURES && diff->changed; run++) {
		u64 a = diff->runs[0].sums[run], b = diff->runs[1].sums[run];

		if (run != DIFF_TOTAL)
			measure_print(view, run, a, b, false,
				      diff_sum_unsure(diff, run, a, b));
	}
}

static struct json_object *run_json(const struct profile_diff *diff, u32 run,
				    const char *path)
{
	const struct diff_run *at = &diff->runs[run];
	struct json_object *object = json_object_new_object();

	jsonl_text(object, "path", path);
	jsonl_number(object, "gaps", at->gaps);
	if (diff->times) {
		jsonl_number(object, "time", at->ticks);
		jsonl_number(object, "lost", at->lost);
		jsonl_number(object, "self", at->sums[DIFF_SELF]);
	}
	jsonl_number(object, "insns", at->sums[DIFF_INSNS]);
	jsonl_number(object, "calls", at->sums[DIFF_CALLS]);
	return object;
}

static void head_json(const struct profile_diff *diff, const struct view *view, char **paths)
{
	struct json_object *line = json_object_new_object();

	jsonl_text(line, "type", "diff");
	json_object_object_add(line, "a", run_json(diff, 0, paths[0]));
	json_object_object_add(line, "b", run_json(diff, 1, paths[1]));
	if (diff->times)
		jsonl_text(line, "unit", diff->ns ? "ns" : "ticks");
	json_object_object_add(line, "noise", json_object_new_double(diff->noise));
	jsonl_number(line, "functions", diff->function_count);
	jsonl_number(line, "changed", diff->changed);
	jsonl_print(line, view->out);
}

static void text_html(FILE *out, const char *c)
{
	for (; *c; c++) {
		if (strchr("&<>\"'", *c))
			fprintf(out, "&#%d;", *c);
		else
			fputc(*c, out);
	}
}

static void number_html(FILE *out, const char *sign, u64 number, const char *text)
{
	fprintf(out, "<td data-n=\"%s%llu\">%s</td>", sign, (unsigned long long)number,
		text);
}

static void function_html(const struct profile_diff *diff, const struct view *view,
			  const struct diff_function *function)
{
	struct profile_symbol symbol;
	struct pair_texts texts;
	char text[512], change[128];
	u64 a, b;
	u32 i;

	function_symbol(diff, function, &symbol);
	fputs("<tr><td class=\"text name\">", view->out);
	text_html(view->out, totals_text(&symbol, text, sizeof(text)));
	fprintf(view->out, "</td><td class=\"text\">%s</td>",
		!function->in[0] ? "B" : !function->in[1] ? "A" : "");
	for (i = diff->times ? 0 : DIFF_INSNS; i < DIFF_MEASURES; i++) {
		a = function->sums[0][i];
		b = function->sums[1][i];
		pair_words(view, i, a, b, !function->in[0], &texts);
		snprintf(change, sizeof(change), "%s %s%s", texts.change, texts.share,
			 diff_unsure(diff, function, i) ? " ?" : "");
		number_html(view->out, "", a, texts.before);
		number_html(view->out, "", b, texts.after);
		number_html(view->out, a > b ? "-" : "", diff_apart(a, b), change);
	}
	fputs("</tr>\n", view->out);
}

static void heads_html(const struct profile_diff *diff, const struct view *view)
{
	char lost[48];
	u32 i, run;

	fputs("<tr><th class=\"text\">function</th><th class=\"text\">only in</th>",
	      view->out);
	for (i = diff->times ? 0 : DIFF_INSNS; i < DIFF_MEASURES; i++) {
		for (run = 0; run < 2; run++) {
			fprintf(view->out, "<th>%s %c", measure_names[i], run_names[run]);
			if (diff_is_time(i))
				fprintf(view->out, "<br>lost: %s", view_duration(view,
					diff->runs[run].lost, lost, sizeof(lost)));
			fputs("</th>", view->out);
		}
		fputs("<th>change</th>", view->out);
	}
	fputs("</tr>\n", view->out);
}

/* The head is that of the text. */
static bool page_print(const struct profile_diff *diff, const struct view *view,
		       char **paths, u32 top)
{
	struct view text = *view;
	char *head = NULL;
	size_t size;
	u32 i;

	text.out = open_memstream(&head, &size);
	if (!text.out)
		return false;
	head_print(diff, &text, paths);
	if (fclose(text.out)) {
		free(head);
		return false;
	}
	html_table_begin(view->out, "kipt diff");
	fputs("<header>\n<h1>kipt diff</h1>\n<pre>", view->out);
	text_html(view->out, head);
	free(head);
	fputs("</pre>\n</header>\n<main>\n<div class=\"wide\"><table>\n<thead>", view->out);
	heads_html(diff, view);
	fputs("</thead>\n<tbody>\n", view->out);
	for (i = 0; i < top; i++)
		function_html(diff, view, &diff->functions[i]);
	fputs("</tbody>\n</table></div>\n", view->out);
	if (top < diff->changed)
		fprintf(view->out, "<p>%u more (--top 0 shows all)</p>\n",
			diff->changed - top);
	fputs("</main>\n", view->out);
	html_table_end(view->out);
	return true;
}

/* Of names that several functions of one file have. */
static void several_say(const struct profile_diff *diff)
{
	const struct diff_function *example = NULL;
	struct profile_symbol symbol;
	u32 i, count = 0;
	char text[512];

	for (i = 0; i < diff->function_count; i++) {
		if (!diff->functions[i].several)
			continue;
		if (!count++)
			example = &diff->functions[i];
	}
	if (!example)
		return;
	function_symbol(diff, example, &symbol);
	say_note("%s was at several addresses: functions of one file and name are compared together (%u name%s)",
		 totals_text(&symbol, text, sizeof(text)), count, count == 1 ? "" : "s");
}

static void rows_print(const struct profile_diff *diff, const struct view *view,
		       char **paths, u32 top)
{
	u32 i;

	if (view->options->json)
		head_json(diff, view, paths);
	else
		head_print(diff, view, paths);
	for (i = 0; i < top; i++) {
		if (view->options->json)
			function_json(diff, view, &diff->functions[i]);
		else
			function_print(diff, view, &diff->functions[i]);
	}
	if (top < diff->changed && !view->options->json)
		fprintf(view->out, "\n%u more (--top 0 shows all)\n",
			diff->changed - top);
}

bool view_diff_print(const struct profile_diff *diff, const struct view_options *options,
		     char **paths, FILE *out)
{
	const struct view view = {
		.options = options,
		.out = out,
		.tsc_khz = diff->ns ? NS_KHZ : 0,
	};
	u32 top = view_top(options, diff->changed);

	if (options->html && !page_print(diff, &view, paths, top))
		return false;
	if (!options->html) {
		rows_print(diff, &view, paths, top);
		/* Notes come after the text. */
		output_flush(out);
	}
	several_say(diff);
	return true;
}
