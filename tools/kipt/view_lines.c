// SPDX-License-Identifier: GPL-2.0-only
/*
 * One line for each branch or instruction, for people; sentences for what
 * lies between.
 */
#include "view.h"
#include "words.h"

static void branch_print(struct view *view, const struct kipt_record *r)
{
	char from[256], to[256], time[32];

	if (r->flags & KIPT_RF_NO_IP)
		snprintf(from, sizeof(from), "?");
	else
		names_text(view->names, view->state.pid, r->ip, from,
			   sizeof(from));
	if (r->flags & KIPT_RF_NO_VALUE)
		snprintf(to, sizeof(to), "?");
	else
		names_text(view->names, view->state.pid, r->value, to,
			   sizeof(to));
	fprintf(view->out, "%s%16llx %s -> %llx %s  %s\n",
		view_time(view, time), (unsigned long long)r->ip, from,
		(unsigned long long)r->value, to,
		words_kind(KIPT_RECORD_BRANCH, r->kind));
}

static void insn_print(struct view *view, const struct kipt_record *r)
{
	char text[256], time[32];

	names_text(view->names, view->state.pid, r->ip, text, sizeof(text));
	fprintf(view->out, "%s%16llx %s\n", view_time(view, time),
		(unsigned long long)r->ip, text);
}

static void task_print(struct view *view, const struct kipt_record *r)
{
	const struct view_state *state = &view->state;

	(void)r;
	fprintf(view->out, "-- task %u %s\n", state->tid,
		names_comm(view->names, state->tid, state->pid));
}

static void sentence_print(struct view *view, const struct kipt_record *r)
{
	char where[256], text[512], time[32];

	names_text(view->names, view->state.pid, r->ip, where, sizeof(where));
	fprintf(view->out, "%s%16s %s\n", view_time(view, time), "--",
		words_sentence(r, where, text, sizeof(text)));
}

static void record_print(struct view *view, const struct kipt_record *r)
{
	switch (r->type) {
	case KIPT_RECORD_BRANCH:
		if (view->options->mode != VIEW_INSNS)
			branch_print(view, r);
		break;
	case KIPT_RECORD_INSN:
		insn_print(view, r);
		break;
	case KIPT_RECORD_CPU:
		fprintf(view->out, "== CPU %u\n", r->aux);
		break;
	case KIPT_RECORD_TASK:
		task_print(view, r);
		break;
	case KIPT_RECORD_TIME:
	case KIPT_RECORD_SYNC:
	case KIPT_RECORD_EDGE:
		break;
	default:
		sentence_print(view, r);
	}
}

static void nothing_left(struct view *view)
{
	(void)view;
}

bool view_lines_init(struct view *view)
{
	view->print = record_print;
	view->finish = nothing_left;
	return true;
}
