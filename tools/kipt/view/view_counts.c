// SPDX-License-Identifier: GPL-2.0-only
/*
 * How often each branch went from where to where, the most frequent first, in
 * each process. Takes BRANCH records, which it counts, and EDGE records, which
 * were. A hash knows no processes: not all who count can name them.
 */
#include <errno.h>
#include <json-c/json.h>

#include "../cli/json_lines.h"
#include "../cli/messages.h"
#include "../records/edge_counts.h"
#include "../records/record_words.h"
#include "view.h"

static void edge_add(struct view *view, const struct kipt_record *r,
		     u64 count)
{
	struct edge edge = {
		.from = r->ip,
		.to = r->value,
		.count = count,
		.kind = r->kind,
	};

	u32 pid = view_pid(view, r);

	if (!view->options->hash) {
		edge.guest = pid == NAMES_GUEST;
		edge.pid = edge.guest ? 0 : pid;
		edge.cr3 = r->type == KIPT_RECORD_EDGE ? view->state.edge_cr3 :
							 view->state.cr3;
	}
	if (!view->failed && !edges_add(view->self, &edge)) {
		say_errno(ENOMEM, "cannot count the branches");
		view->failed = true;
	}
}

static void record_print(struct view *view, const struct kipt_record *r)
{
	if (r->type == KIPT_RECORD_BRANCH)
		edge_add(view, r, 1);
	else if (r->type == KIPT_RECORD_EDGE)
		edge_add(view, r, r->aux);
}

static u32 edge_pid(const struct edge *edge)
{
	return edge->guest ? NAMES_GUEST : edge->pid;
}

static u32 from_pid(const struct view *view, const struct edge *edge)
{
	return view_end_pid(view, edge->kind, KIPT_BRANCH_VMEXIT, edge_pid(edge), edge->pid);
}

static u32 to_pid(const struct view *view, const struct edge *edge)
{
	return view_end_pid(view, edge->kind, KIPT_BRANCH_VMENTRY, edge_pid(edge), edge->pid);
}

static void edge_print(struct view *view, const struct edge *edge, bool whose)
{
	char from[256], to[256];

	names_text(view->names, from_pid(view, edge), edge->from, from, sizeof(from));
	names_text(view->names, to_pid(view, edge), edge->to, to, sizeof(to));
	fprintf(view->out, "%12llu %16llx %s -> %llx %s  %s",
		(unsigned long long)edge->count,
		(unsigned long long)edge->from, from,
		(unsigned long long)edge->to, to,
		words_kind(KIPT_RECORD_BRANCH, edge->kind));
	if (edge->guest || (whose && !edge_in_kernel(edge)))
		view_process(view, edge_pid(edge), edge->cr3);
	fputc('\n', view->out);
}

static void symbol_add(struct view *view, struct json_object *line,
		       const char *key, u32 pid, u64 address)
{
	char text[256];

	names_text(view->names, pid, address, text, sizeof(text));
	if (text[0] != '0')
		jsonl_text(line, key, text);
}

static void edge_print_json(struct view *view, const struct edge *edge)
{
	struct json_object *line = json_object_new_object();

	jsonl_text(line, "type", "edge");
	jsonl_text(line, "kind", words_kind(KIPT_RECORD_BRANCH, edge->kind));
	if (edge->guest)
		jsonl_flag(line, "guest", true);
	else if (edge->pid)
		jsonl_number(line, "pid", edge->pid);
	if (edge->cr3)
		jsonl_hex(line, "cr3", edge->cr3);
	jsonl_hex(line, "ip", edge->from);
	symbol_add(view, line, "ip_symbol", from_pid(view, edge), edge->from);
	jsonl_hex(line, "to", edge->to);
	symbol_add(view, line, "to_symbol", to_pid(view, edge), edge->to);
	jsonl_number(line, "count", edge->count);
	jsonl_print(line, view->out);
}

/* Is there more than one process to distinguish? */
static bool several_spaces(const struct edge *list, size_t count)
{
	const struct edge *first = NULL;
	size_t i;

	for (i = 0; i < count; i++) {
		if (edge_in_kernel(&list[i]))
			continue;
		if (!first)
			first = &list[i];
		else if (!edge_same_space(first, &list[i]))
			return true;
	}
	return false;
}

static void edges_print(struct view *view, struct edges *edges)
{
	const struct view_options *options = view->options;
	const struct edge *list = edges_sort(edges);
	size_t i, count = edges_count(edges), top = view_top(options, count);
	bool whose = several_spaces(list, count);

	for (i = 0; i < top; i++) {
		if (options->json)
			edge_print_json(view, &list[i]);
		else
			edge_print(view, &list[i], whose);
	}
	view->tally.rows_left = count - i;
	if (i < count && !options->json)
		fprintf(view->out, "%12s %zu more (--top 0 shows all)\n", "",
			count - i);
}

static void counts_finish(struct view *view)
{
	struct edges *edges = view->self;

	if (view->options->hash) {
		view->tally.hashed = edges_sum(edges);
		view->tally.hash = edges_hash(edges);
	} else {
		edges_print(view, edges);
	}
	edges_destroy(edges);
	view->self = NULL;
}

bool view_counts_init(struct view *view)
{
	view->self = edges_create();
	view->print = record_print;
	view->finish = counts_finish;
	return view->self;
}
