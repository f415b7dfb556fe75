// SPDX-License-Identifier: GPL-2.0-only
/*
 * A line for each stack of calls, as flame graphs are made of: its frames with
 * semicolons between them, and how long it was the stack.
 */
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "../cli/json_lines.h"
#include "../cli/messages.h"
#include "view_totals.h"

/* Calls of a stack that are shown; of a deeper one those that came first. */
#define DEPTH_MAX	4096U
#define TEXT_BYTES	512

/* What separates frames must not be in one. The kernel's are marked, for colours. */
static void frame_text(const struct profile *profile, u32 symbol, char *text)
{
	const struct profile_symbol *at = &profile->symbols[symbol];
	char *c;

	if (at->name)
		snprintf(text, TEXT_BYTES, "%s%s", at->name,
			 at->space ? "" : "_[k]");
	else
		totals_text(at, text, TEXT_BYTES);
	for (c = text; *c; c++) {
		if (*c == ';')
			*c = ':';
	}
}

static void process_text(struct view *view, u32 pid, char *text)
{
	const char *comm = pid ? names_comm(view->names, pid, pid) : "";

	if (*comm)
		snprintf(text, TEXT_BYTES, "%s", comm);
	else if (pid)
		snprintf(text, TEXT_BYTES, "process %u", pid);
	else
		snprintf(text, TEXT_BYTES, "[unknown]");
}

/* The stacks from the process on to @node. Returns how many there are. */
static u32 path_find(const struct folded *folded, u32 node, u32 *path)
{
	u32 depth = 0, at, i;

	for (at = node; at != FOLDED_ROOT; at = folded->nodes[at].parent)
		depth++;
	for (at = node, i = depth; i-- > 0; at = folded->nodes[at].parent) {
		if (i < DEPTH_MAX)
			path[i] = at;
	}
	return depth < DEPTH_MAX ? depth : DEPTH_MAX;
}

/* Nanoseconds, ticks where the speed of the TSC is not known, branches without times. */
static u64 weight_of(const struct view *view, const struct folded_node *node,
		     bool times)
{
	if (!times)
		return node->branches;
	return view->tsc_khz ? (u64)((double)node->ticks * 1e6 / view->tsc_khz) :
			       node->ticks;
}

static void stack_print(struct view *view, const struct profile_feed *feed,
			const u32 *path, u32 depth, u64 weight)
{
	const struct folded_node *nodes = feed->folded->nodes;
	char text[TEXT_BYTES];
	u32 i;

	for (i = 0; i < depth; i++) {
		if (i)
			frame_text(feed->profile, nodes[path[i]].symbol, text);
		else
			process_text(view, nodes[path[i]].symbol, text);
		fprintf(view->out, "%s%s", i ? ";" : "", text);
	}
	fprintf(view->out, " %llu\n", (unsigned long long)weight);
}

/* Of a stack that is cut @node is below the last of @path. */
static void stack_json(struct view *view, const struct profile_feed *feed,
		       const u32 *path, u32 depth,
		       const struct folded_node *node)
{
	const struct folded_node *nodes = feed->folded->nodes;
	struct json_object *line = json_object_new_object();
	struct json_object *stack = json_object_new_array();
	char text[TEXT_BYTES];
	u32 i;

	jsonl_text(line, "type", "stack");
	if (nodes[path[0]].symbol)
		jsonl_number(line, "pid", nodes[path[0]].symbol);
	for (i = 1; i < depth; i++) {
		frame_text(feed->profile, nodes[path[i]].symbol, text);
		json_object_array_add(stack, json_object_new_string(text));
	}
	json_object_object_add(line, "frames", stack);
	jsonl_number(line, "branches", node->branches);
	jsonl_number(line, "ticks", node->ticks);
	if (view->tsc_khz)
		jsonl_number(line, "tsc_khz", view->tsc_khz);
	jsonl_print(line, view->out);
}

void folded_print(struct view *view, const struct profile_feed *feed)
{
	const struct folded *folded = feed->folded;
	bool times = profile_has_times(feed->profile);
	u32 *path = malloc(DEPTH_MAX * sizeof(*path));
	u32 i, depth;
	u64 weight;

	for (i = 1; path && i < folded->count; i++) {
		weight = weight_of(view, &folded->nodes[i], times);
		if (!weight)
			continue;
		depth = path_find(folded, i, path);
		if (view->options->json)
			stack_json(view, feed, path, depth, &folded->nodes[i]);
		else
			stack_print(view, feed, path, depth, weight);
	}
	free(path);
	view->failed |= !path;
	if (!times)
		say_note("the trace has no times: branches are counted");
	if (folded->full)
		say_note("there are more than %u stacks: those that came later count for their callers",
			 folded->count - 1);
}
