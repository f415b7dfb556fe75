// SPDX-License-Identifier: GPL-2.0-only
/*
 * One line for each branch or instruction, for people; sentences for what
 * lies between.
 */
#define _GNU_SOURCE
#include <string.h>

#include "../../../kmod/decode/code/insn.h"
#include "../records/record_words.h"
#include "../symbols/disasm.h"
#include "../symbols/source_cache.h"
#include "view.h"

/* Two names of up to 255 bytes, two addresses or an instruction, and what is
 * between.
 */
#define LINE_MAX	800
/* Records from the one whose line is found to the one whose line is fetched from memory. */
#define AHEAD		8

static u32 branch_text(struct view *view, const struct kipt_record *r,
		       char *text)
{
	char from[256] = "?", to[256] = "?";

	if (!(r->flags & KIPT_RF_NO_IP))
		view_place(view, view->state.pid, r->ip, from, sizeof(from));
	if (!(r->flags & KIPT_RF_NO_VALUE))
		view_place(view, view->state.pid, r->value, to, sizeof(to));
	return snprintf(text, LINE_MAX, "%16llx %s -> %llx %s  %s\n",
			(unsigned long long)r->ip, from,
			(unsigned long long)r->value, to,
			words_kind(KIPT_RECORD_BRANCH, r->kind));
}

/* After an instruction: the name of where it goes, the address of what it names. */
static void target_text(struct view *view, const struct disasm *insn,
			char *text, size_t size)
{
	char name[256];

	text[0] = 0;
	if (!insn->has_target)
		return;
	if (!insn->branches) {
		snprintf(text, size, "  # 0x%llx",
			 (unsigned long long)insn->target);
		return;
	}
	names_text(view->names, view->state.pid, insn->target, name,
		   sizeof(name));
	if (name[0] != '0')
		snprintf(text, size, " <%s>", name);
}

static u32 disasm_text(struct view *view, const struct kipt_record *r,
		       const char *name, char *text)
{
	struct disasm insn;
	u8 bytes[KIPT_INSN_MAX_LEN];
	char target[264];

	if (!view_insn(view, r, &insn, bytes))
		return snprintf(text, LINE_MAX, "%16llx %-32s (its code is not known any more)\n",
				(unsigned long long)r->ip, name);
	target_text(view, &insn, target, sizeof(target));
	return snprintf(text, LINE_MAX, "%16llx %-32s %s%s\n",
			(unsigned long long)r->ip, name, insn.text, target);
}

static u32 insn_text(struct view *view, const struct kipt_record *r, char *text)
{
	char name[256];

	view_place(view, view->state.pid, r->ip, name, sizeof(name));
	if (view->options->disasm)
		return disasm_text(view, r, name, text);
	return snprintf(text, LINE_MAX, "%16llx %s\n",
			(unsigned long long)r->ip, name);
}

/* A line is made, and kept if it is not too long. */
static void line_make(struct view *view, const struct kipt_record *r, struct cached_line *line)
{
	char text[LINE_MAX];
	u32 length;

	length = r->type == KIPT_RECORD_BRANCH ? branch_text(view, r, text) :
						 insn_text(view, r, text);
	if (length <= sizeof(line->text)) {
		memcpy(line->text, text, length);
		line->length = length;
	}
	fwrite_unlocked(text, length, 1, view->out);
}

/* Records that come again and again. */
static void often_print(struct view *view, const struct kipt_record *r, const char *time)
{
	struct line_scope scope = view_line_scope(view, r);
	struct cached_line *line = line_cache_find(view->self, r, &scope);

	if (*time)
		fputs_unlocked(time, view->out);
	if (line->length)
		fwrite_unlocked(line->text, line->length, 1, view->out);
	else
		line_make(view, r, line);
}

/* Between branches no time passes. */
static u32 records_skim(struct view *view, const struct kipt_record *records, u32 count)
{
	bool shown = view->options->mode != VIEW_INSNS;
	char time[32];
	u32 n;

	view_time(view, time);
	for (n = 0; n < count && records[n].type == KIPT_RECORD_BRANCH; n++) {
		if (n + AHEAD < count)
			line_cache_prefetch(view->self, &records[n + AHEAD]);
		if (shown)
			often_print(view, &records[n], time);
	}
	return n;
}

static void task_print(struct view *view)
{
	const struct view_state *state = &view->state;

	fprintf(view->out, "-- task %u %s\n", state->tid,
		names_comm(view->names, state->tid, state->pid));
}

static void sentence_print(struct view *view, const struct kipt_record *r)
{
	char text[512], time[32];

	fprintf(view->out, "%s%16s %s\n", view_time(view, time), "--",
		view_sentence(view, r, text, sizeof(text)));
}

static void record_print(struct view *view, const struct kipt_record *r)
{
	char time[32];

	switch (r->type) {
	case KIPT_RECORD_INSN:
		often_print(view, r, view_time(view, time));
		break;
	case KIPT_RECORD_CPU:
		fprintf(view->out, "== CPU %u\n", r->aux);
		break;
	case KIPT_RECORD_TASK:
		task_print(view);
		break;
	case KIPT_RECORD_TIME:
	case KIPT_RECORD_SYNC:
	case KIPT_RECORD_EDGE:
	case KIPT_RECORD_SPACE:
		break;
	default:
		sentence_print(view, r);
	}
}

static void lines_finish(struct view *view)
{
	line_cache_destroy(view->self);
	view->self = NULL;
}

bool view_lines_init(struct view *view)
{
	view->self = line_cache_create();
	view->print = record_print;
	view->skim = records_skim;
	view->finish = lines_finish;
	return view->self;
}
