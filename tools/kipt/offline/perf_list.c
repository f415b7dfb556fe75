// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lists packets of a recording of perf, see perf_list.h. What a packet looks
 * like is for packet_list.c.
 */
#include <stdio.h>

#include <json-c/json.h>

#include "../../../uapi/linux/kipt.h"
#include "../cli/json_lines.h"
#include "../cli/messages.h"
#include "../cli/progress.h"
#include "../cli/standard_output.h"
#include "../perf/perf_aux.h"
#include "../records/record_words.h"
#include "../view/packet_list.h"
#include "perf_list.h"

struct list {
	struct perf_file *file;
	struct perf_aux aux;
	bool json;
	struct packet_counts counts;
	/* Bytes of the queue before the stretch, of the queues before, and of all. */
	u64 before, passed, all;
};

static bool event_take(void *ctx, const struct perf_event *event)
{
	struct list *list = ctx;

	return perf_aux_take(&list->aux, list->file, event);
}

static void whose(const struct perf_queue *queue, bool json)
{
	const char *what = queue->has_cpu ? "cpu" : "tid";
	u32 number = queue->has_cpu ? queue->cpu : queue->tid;
	struct json_object *line;

	if (!json) {
		printf("-- %s %u\n", queue->has_cpu ? "CPU" : "thread", number);
		return;
	}
	line = json_object_new_object();
	jsonl_text(line, "type", "packets-of");
	jsonl_number(line, what, number);
	jsonl_print(line, stdout);
}

/* What is missing before a part, as decoding says it. */
static void gap_tell(const struct perf_part *part, bool json)
{
	struct json_object *line;

	if (!json) {
		printf("-- gap: %s\n", words_gap(part->gap));
		return;
	}
	line = json_object_new_object();
	jsonl_text(line, "type", "packets-gap");
	jsonl_text(line, "kind", words_kind(KIPT_RECORD_GAP, part->gap));
	jsonl_print(line, stdout);
}

static void stretch_list(struct list *list, const struct perf_trace *trace)
{
	size_t i;

	for (i = 0; i < trace->part_count && !progress_interrupted(); i++) {
		const struct perf_part *part = &trace->parts[i];
		const struct packet_part shown = {
			.bytes = trace->bytes,
			.start = part->start,
			.end = part->start + part->size,
			.before = list->before,
			.passed = list->passed + list->before,
			.all = list->all,
		};

		if (part->gap)
			gap_tell(part, list->json);
		packet_list_bytes(&shown, list->json, &list->counts);
	}
	list->before += trace->size;
}

static bool stretch_read(struct list *list, struct perf_queue *queue, struct perf_trace *trace)
{
	return perf_trace_read(trace, &list->aux, queue, list->file, KIPT_PERF_STRETCH);
}

static bool queue_list(struct list *list, struct perf_queue *queue)
{
	struct perf_trace trace = { 0 };
	bool ok;

	if (!queue->size)
		return true;
	ok = stretch_read(list, queue, &trace);
	if (ok)
		whose(queue, list->json);
	list->before = 0;
	while (ok && !progress_interrupted()) {
		stretch_list(list, &trace);
		if (!trace.ahead_size || stdout_error())
			break;
		ok = stretch_read(list, queue, &trace);
	}
	list->passed += queue->size;
	perf_trace_free(&trace);
	return ok;
}

static bool all_list(struct list *list, const char *path)
{
	bool ok = perf_file_events(list->file, event_take, list);
	size_t i;

	if (!perf_aux_check(&list->aux, list->file, ok))
		return false;
	progress_catch();
	for (i = 0; i < list->aux.queue_count; i++)
		list->all += list->aux.queues[i].size;
	for (i = 0; i < list->aux.queue_count && !progress_interrupted(); i++)
		ok = queue_list(list, &list->aux.queues[i]) && ok;
	ok = ok && !perf_file_bad(list->file);
	output_flush(stdout);
	ok = packet_counts_show(&list->counts) && ok;
	if (!ok || list->counts.packets || !list->counts.passed)
		return ok;
	say_error("%s: no PSB in any part of its %llu bytes of trace", path,
		  (unsigned long long)list->all);
	return false;
}

bool perf_list(const char *path, bool json)
{
	struct list list = { .file = perf_file_open(path), .json = json };
	bool ok;

	if (!list.file)
		return false;
	ok = all_list(&list, path);
	perf_aux_free(&list.aux);
	perf_file_close(list.file);
	return ok;
}
