// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each stretch of time that is not in the trace: where, how long, between which
 * tasks, and why.
 */
#include <json-c/json.h>

#include "../cli/json_lines.h"
#include "../cli/messages.h"
#include "../records/record_words.h"
#include "view_totals.h"

static void task_print(struct view *view, bool known, u32 tid, u32 pid)
{
	char text[64];

	fprintf(view->out, "%-*s ", VIEW_TASK_WIDTH,
		view_task_cell(view, known, tid, pid, text, sizeof(text)));
}

static void loss_print(struct view *view, const struct feed_loss *loss)
{
	char from[48] = "-", ticks[48] = "-", cpu[16];

	if (loss->from) {
		view_since(view, loss->from - loss->zero, from, sizeof(from));
		view_duration(view, loss->ticks, ticks, sizeof(ticks));
	}
	fprintf(view->out, "%3s %14s %14s  ",
		view_cpu_cell(loss->cpu, cpu, sizeof(cpu)), from, ticks);
	task_print(view, loss->known, loss->tid, loss->pid);
	task_print(view, loss->known_after, loss->tid_after, loss->pid_after);
	fprintf(view->out, "%s: %s\n", words_kind(KIPT_RECORD_GAP, loss->kind),
		words_gap(loss->kind));
}

static void loss_json(struct view *view, const struct feed_loss *loss)
{
	struct json_object *line = json_object_new_object();

	jsonl_text(line, "type", "lost");
	jsonl_text(line, "kind", words_kind(KIPT_RECORD_GAP, loss->kind));
	if (loss->cpu != PROFILE_CPU_UNKNOWN)
		jsonl_number(line, "cpu", loss->cpu);
	if (loss->from) {
		jsonl_number(line, "tsc", loss->from);
		jsonl_number(line, "first", loss->zero);
		jsonl_number(line, "ticks", loss->ticks);
	}
	if (loss->known)
		jsonl_number(line, "tid", loss->tid);
	if (loss->known_after)
		jsonl_number(line, "tid_after", loss->tid_after);
	jsonl_print(line, view->out);
}

/* Of each kind, those that lose no time too; as kipt open has them. */
static void sums_print(struct view *view, const struct profile *profile)
{
	const u64 *gaps = view->tally.gaps;
	char ticks[48];
	u64 all = 0;
	u32 kind;

	for (kind = 1; kind <= KIPT_GAP_KIND_MAX; kind++) {
		profile_add(&all, profile->lost[kind]);
		if (gaps[kind])
			fprintf(view->out, "%18llu %14s  %s\n",
				(unsigned long long)gaps[kind],
				view_duration(view, profile->lost[kind], ticks,
					      sizeof(ticks)),
				words_kind(KIPT_RECORD_GAP, kind));
	}
	fprintf(view->out, "%18llu %14s  in all\n",
		(unsigned long long)tally_gaps(&view->tally),
		view_duration(view, all, ticks, sizeof(ticks)));
}

static void sums_json(struct view *view, const struct profile *profile)
{
	struct json_object *line = json_object_new_object();

	jsonl_text(line, "type", "losses");
	if (view->tsc_khz)
		jsonl_number(line, "tsc_khz", view->tsc_khz);
	view_lost_json(line, profile);
	jsonl_print(line, view->out);
}

void losses_print(struct view *view, const struct profile_feed *feed)
{
	size_t i;

	if (!view->tally.records && !view->tally.counted)
		return;
	if (!view->options->json && feed->loss_count)
		fprintf(view->out, "%3s %14s %14s  %-*s %-*s %s\n", "CPU",
			"from", "duration", VIEW_TASK_WIDTH, "task before",
			VIEW_TASK_WIDTH, "task after", "why");
	for (i = 0; i < feed->loss_count; i++) {
		if (view->options->json)
			loss_json(view, &feed->losses[i]);
		else
			loss_print(view, &feed->losses[i]);
	}
	if (view->options->json)
		sums_json(view, feed->profile);
	else
		sums_print(view, feed->profile);
	if (feed->losses_full)
		say_note("more than %zu stretches are lost: those that came later are in the sums only",
			 feed->loss_count);
}
