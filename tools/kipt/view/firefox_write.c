// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes the processed format of Firefox's profiler, version 60, whose threads share the
 * tables of stacks and functions. Tables are of columns. Functions, frames and texts have
 * the numbers of the profile's symbols, with two of those that are no functions after them.
 */
#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>

#include "../cli/json_lines.h"
#include "../cli/printable.h"
#include "../cli/standard_output.h"
#include "../records/record_words.h"
#include "firefox.h"
#include "profile_feed.h"
#include "view_totals.h"

#define TEXT_BYTES	512

/* As the profile lists them. */
enum category {
	CATEGORY_OTHER,
	CATEGORY_USER,
	CATEGORY_KERNEL,
	CATEGORY_AWAY,
};

static void text_put(FILE *out, const char *text)
{
	char plain[TEXT_BYTES];
	struct json_object *object;

	snprintf(plain, sizeof(plain), "%s", text);
	plain_text(plain);
	object = json_object_new_string(plain);
	fputs(object ? jsonl_string(object) : "\"\"", out);
	json_object_put(object);
}

/* A column that has the same everywhere. */
static void same_put(FILE *out, const char *name, const char *value, size_t count)
{
	size_t i;

	fprintf(out, "\"%s\":[", name);
	for (i = 0; i < count; i++)
		fprintf(out, "%s%s", i ? "," : "", value);
	fputs("],", out);
}

static void index_put(FILE *out, const char *name, size_t count)
{
	size_t i;

	fprintf(out, "\"%s\":[", name);
	for (i = 0; i < count; i++)
		fprintf(out, "%s%zu", i ? "," : "", i);
	fputs("],", out);
}

static void head_put(FILE *out)
{
	fputs("{\"meta\":{\"interval\":0.001,\"startTime\":0,\"processType\":0,\"product\":\"kipt\","
	      "\"stackwalk\":0,\"debug\":false,\"version\":30,\"preprocessedProfileVersion\":60,"
	      "\"symbolicated\":true,\"categories\":["
	      "{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},"
	      "{\"name\":\"User\",\"color\":\"blue\",\"subcategories\":[\"Other\"]},"
	      "{\"name\":\"Kernel\",\"color\":\"orange\",\"subcategories\":[\"Other\"]},"
	      "{\"name\":\"Not traced\",\"color\":\"transparent\",\"subcategories\":[\"Other\"]}],"
	      "\"markerSchema\":[{\"name\":\"Lost\",\"display\":[\"marker-chart\",\"marker-table\","
	      "\"timeline-overview\"],\"chartLabel\":\"{marker.data.why}\","
	      "\"fields\":[{\"key\":\"why\",\"label\":\"Why\",\"format\":\"string\"}]}]},"
	      "\"libs\":[],", out);
}

static void strings_put(FILE *out, const struct profile *profile)
{
	char text[TEXT_BYTES];
	u32 i;

	fputs("\"stringArray\":[", out);
	for (i = 0; i < profile->symbol_count; i++) {
		text_put(out, totals_text(&profile->symbols[i], text, sizeof(text)));
		fputc(',', out);
	}
	fputs("\"[not traced]\",\"[lost]\",\"Lost\"],", out);
}

static void functions_put(FILE *out, u32 count)
{
	fputs("\"funcTable\":{", out);
	index_put(out, "name", count);
	same_put(out, "isJS", "false", count);
	same_put(out, "relevantForJS", "false", count);
	same_put(out, "resource", "-1", count);
	same_put(out, "source", "null", count);
	same_put(out, "lineNumber", "null", count);
	same_put(out, "columnNumber", "null", count);
	fprintf(out, "\"length\":%u},", count);
}

static void frames_put(FILE *out, const struct profile *profile, u32 count)
{
	u32 i;

	fputs("\"frameTable\":{", out);
	index_put(out, "func", count);
	fputs("\"category\":[", out);
	for (i = 0; i < profile->symbol_count; i++)
		fprintf(out, "%d,", profile->symbols[i].space ? CATEGORY_USER : CATEGORY_KERNEL);
	fprintf(out, "%d,%d],", CATEGORY_AWAY, CATEGORY_OTHER);
	same_put(out, "subcategory", "0", count);
	same_put(out, "address", "-1", count);
	same_put(out, "inlineDepth", "0", count);
	same_put(out, "nativeSymbol", "null", count);
	same_put(out, "innerWindowID", "null", count);
	same_put(out, "line", "null", count);
	same_put(out, "column", "null", count);
	fprintf(out, "\"length\":%u},", count);
}

/* Processes, which are children of the root, are no stacks of their own. */
static bool is_stack(const struct folded_node *node)
{
	return node->parent != FOLDED_ROOT;
}

/* The number of each stack in the file. NULL without memory. */
static u32 *stacks_number(const struct folded *folded, u32 *count)
{
	u32 *numbers = calloc(folded->count, sizeof(*numbers));
	u32 i;

	*count = 0;
	for (i = 1; numbers && i < folded->count; i++)
		numbers[i] = is_stack(&folded->nodes[i]) ? (*count)++ : 0;
	return numbers;
}

static u32 frame_of(const struct profile *profile, u32 symbol)
{
	return symbol == FIREFOX_AWAY ? profile->symbol_count :
	       symbol == FIREFOX_LOST ? profile->symbol_count + 1 : symbol;
}

static void stacks_put(FILE *out, const struct profile_feed *feed, const u32 *numbers, u32 count)
{
	const struct folded_node *nodes = feed->folded->nodes;
	u32 i, parent;

	fputs("\"stackTable\":{\"frame\":[", out);
	for (i = 1; i < feed->folded->count; i++) {
		if (is_stack(&nodes[i]))
			fprintf(out, "%s%u", numbers[i] ? "," : "",
				frame_of(feed->profile, nodes[i].symbol));
	}
	fputs("],\"prefix\":[", out);
	for (i = 1; i < feed->folded->count; i++) {
		parent = nodes[i].parent;
		if (!is_stack(&nodes[i]))
			continue;
		fputs(numbers[i] ? "," : "", out);
		if (is_stack(&nodes[parent]))
			fprintf(out, "%u", numbers[parent]);
		else
			fputs("null", out);
	}
	fprintf(out, "],\"length\":%u},", count);
}

static void shared_put(FILE *out, const struct profile_feed *feed, const u32 *numbers,
		       u32 stacks)
{
	u32 count = feed->profile->symbol_count + 2;

	fputs("\"shared\":{", out);
	strings_put(out, feed->profile);
	functions_put(out, count);
	frames_put(out, feed->profile, count);
	stacks_put(out, feed, numbers, stacks);
	fputs("\"resourceTable\":{\"lib\":[],\"name\":[],\"host\":[],\"type\":[],\"length\":0},"
	      "\"nativeSymbols\":{\"libIndex\":[],\"address\":[],\"name\":[],\"functionSize\":[],"
	      "\"length\":0},"
	      "\"sources\":{\"id\":[],\"filename\":[],\"length\":0}},", out);
}

/* Milliseconds. */
static void time_put(FILE *out, u64 nanoseconds)
{
	fprintf(out, "%llu.%06llu", (unsigned long long)nanoseconds / 1000000,
		(unsigned long long)nanoseconds % 1000000);
}

enum column {
	COLUMN_STACK,
	COLUMN_TIME,
	COLUMN_WEIGHT,
};

/* What one thread has of a list. */
struct part {
	const struct profile_feed *feed;
	const u32 *numbers;
	const struct firefox_sample *samples;
	size_t count;
};

/* The next one of a list, from @at on. */
static void part_find(struct part *part, const struct firefox_list *list, size_t *at, u32 thread)
{
	part->samples = list->samples + *at;
	for (part->count = 0; *at < list->count && list->samples[*at].thread == thread; ++*at)
		part->count++;
}

/* What follows does not begin where the sample ends: there is no stack from there on. */
static bool is_last(const struct part *part, size_t i)
{
	return i + 1 == part->count || part->samples[i + 1].from > part->samples[i].to;
}

static void sample_put(FILE *out, const struct part *part, enum column column, size_t i)
{
	const struct firefox_sample *sample = &part->samples[i];
	u64 from = view_nanoseconds(part->feed->view, sample->from);
	u64 to = view_nanoseconds(part->feed->view, sample->to);

	fputs(i ? "," : "", out);
	if (column == COLUMN_STACK)
		fprintf(out, "%u", part->numbers[sample->node]);
	else
		time_put(out, column == COLUMN_TIME ? from : to - from);
	if (!is_last(part, i))
		return;
	if (column == COLUMN_TIME) {
		fputc(',', out);
		time_put(out, to);
	} else {
		fputs(column == COLUMN_STACK ? ",null" : ",0", out);
	}
}

static void samples_put(FILE *out, const struct part *part)
{
	static const char *const names[] = {
		[COLUMN_STACK] = "stack",
		[COLUMN_TIME] = "time",
		[COLUMN_WEIGHT] = "weight",
	};
	size_t i, length = part->count;
	u32 column;

	fputs("\"samples\":{", out);
	for (column = 0; column <= COLUMN_WEIGHT; column++) {
		fprintf(out, "\"%s\":[", names[column]);
		for (i = 0; i < part->count; i++)
			sample_put(out, part, column, i);
		fputs("],", out);
	}
	for (i = 0; i < part->count; i++)
		length += is_last(part, i);
	fprintf(out, "\"weightType\":\"tracing-ms\",\"length\":%zu},", length);
}

static void lost_put(FILE *out, const struct part *part)
{
	const struct firefox_sample *samples = part->samples;
	u32 text = part->feed->profile->symbol_count + 2;
	char name[16];
	size_t i;

	snprintf(name, sizeof(name), "%u", text);
	fputs("\"markers\":{\"data\":[", out);
	for (i = 0; i < part->count; i++) {
		fprintf(out, "%s{\"type\":\"Lost\",\"why\":", i ? "," : "");
		text_put(out, words_gap(samples[i].node));
		fputc('}', out);
	}
	fputs("],\"startTime\":[", out);
	for (i = 0; i < part->count; i++) {
		fputs(i ? "," : "", out);
		time_put(out, view_nanoseconds(part->feed->view, samples[i].from));
	}
	fputs("],\"endTime\":[", out);
	for (i = 0; i < part->count; i++) {
		fputs(i ? "," : "", out);
		time_put(out, view_nanoseconds(part->feed->view, samples[i].to));
	}
	fputs("],", out);
	same_put(out, "name", name, part->count);
	same_put(out, "phase", "1", part->count);
	same_put(out, "category", "0", part->count);
	fprintf(out, "\"length\":%zu}}", part->count);
}

static void name_put(FILE *out, const struct profile_feed *feed,
		     const struct firefox_thread *thread)
{
	const char *comm = thread->tid ?
			   names_comm(feed->view->names, thread->tid, thread->pid) : "";
	char text[64], cpu[32];

	if (thread->tid)
		snprintf(text, sizeof(text), "task %u", thread->tid);
	else
		snprintf(text, sizeof(text), "idle or unknown on CPU %s",
			 view_cpu(thread->cpu, cpu, sizeof(cpu)));
	text_put(out, *comm ? comm : text);
}

/* Tasks of which nobody knows the process are each one of their own. */
static void thread_put(FILE *out, const struct part *ran, const struct part *lost, u32 number)
{
	const struct firefox_thread *thread = &ran->feed->firefox->threads[number];
	u32 pid = thread->pid ? thread->pid : thread->tid;

	fputs("{\"processType\":\"default\",\"processStartupTime\":0,"
	      "\"processShutdownTime\":null,\"registerTime\":0,\"unregisterTime\":null,"
	      "\"pausedRanges\":[],\"name\":", out);
	name_put(out, ran->feed, thread);
	fprintf(out, ",\"isMainThread\":%s,\"pid\":\"%u\",\"tid\":%u,",
		thread->tid && thread->tid == pid ? "true" : "false", pid, thread->tid);
	samples_put(out, ran);
	lost_put(out, lost);
}

static void all_put(const struct profile_feed *feed, const u32 *numbers, u32 stacks)
{
	struct part ran = { .feed = feed, .numbers = numbers }, lost = { .feed = feed };
	struct firefox *firefox = feed->firefox;
	FILE *out = firefox->file.out;
	size_t ran_at = 0, lost_at = 0;
	u32 i;

	head_put(out);
	shared_put(out, feed, numbers, stacks);
	fputs("\"threads\":[", out);
	for (i = 0; i < firefox->thread_count; i++) {
		part_find(&ran, &firefox->ran, &ran_at, i);
		part_find(&lost, &firefox->lost, &lost_at, i);
		fputs(i ? "," : "", out);
		thread_put(out, &ran, &lost, i);
	}
	fputs("]}\n", out);
	if (output_flush(out))
		fresh_failed(&firefox->file);
}

void firefox_write(const struct profile_feed *feed)
{
	struct firefox *firefox = feed->firefox;
	u32 stacks, *numbers = stacks_number(feed->folded, &stacks);

	if (!numbers) {
		errno = ENOMEM;
		fresh_failed(&firefox->file);
		return;
	}
	if (fresh_begin(&firefox->file))
		all_put(feed, numbers, stacks);
	free(numbers);
}
