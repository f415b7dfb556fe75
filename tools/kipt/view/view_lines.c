// SPDX-License-Identifier: GPL-2.0-only
/*
 * One line for each branch or instruction, for people; sentences for what
 * lies between.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "../../../kmod/decode/code/insn.h"
#include "../records/record_words.h"
#include "../symbols/disasm.h"
#include "../symbols/source_cache.h"
#include "view.h"
#include "view_totals.h"

/* Two names of up to 255 bytes, two addresses or an instruction, and what is
 * between.
 */
#define LINE_MAX	800
/* Records from the one whose line is found to the one whose line is fetched from memory. */
#define AHEAD		8
/* Of lines of branches that follow each other, so many bytes are written at once. */
#define LINES_ROOM	(1 << 14)

/* @text: lines that are not written yet, of @used bytes. */
struct lines {
	struct line_cache *cache;
	u32 used;
	char text[LINES_ROOM];
};

static u32 branch_text(struct view *view, const struct kipt_record *r,
		       char *text)
{
	char from[256] = "?", to[256] = "?";

	if (!(r->flags & KIPT_RF_NO_IP))
		view_place(view, view_from_pid(view, r), r->ip, from, sizeof(from));
	if (!(r->flags & KIPT_RF_NO_VALUE))
		view_place(view, view_to_pid(view, r), r->value, to, sizeof(to));
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
	names_text(view->names, view_code_pid(&view->state), insn->target, name,
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

	view_place(view, view_code_pid(&view->state), r->ip, name, sizeof(name));
	if (view->options->disasm)
		return disasm_text(view, r, name, text);
	return snprintf(text, LINE_MAX, "%16llx %s\n",
			(unsigned long long)r->ip, name);
}

static void lines_flush(struct view *view)
{
	struct lines *lines = view->self;

	fwrite_unlocked(lines->text, lines->used, 1, view->out);
	lines->used = 0;
}

static void lines_add(struct view *view, const char *text, u32 length)
{
	struct lines *lines = view->self;

	if (lines->used + length > sizeof(lines->text))
		lines_flush(view);
	memcpy(lines->text + lines->used, text, length);
	lines->used += length;
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
	lines_add(view, text, length);
}

/* Names that are found for a line may change what other lines depend on. */
static void line_add(struct view *view, const struct kipt_record *r, struct line_scope *scope)
{
	struct lines *lines = view->self;
	struct cached_line *line = line_cache_find(lines->cache, r, scope);

	if (line->length) {
		lines_add(view, line->text, line->length);
		return;
	}
	line_make(view, r, line);
	*scope = view_line_scope(view, r);
}

static void branches_add(struct view *view, const struct kipt_record *records, u32 count)
{
	struct line_scope scope = view_line_scope(view, records);
	const struct lines *lines = view->self;
	char time[32];
	u32 n, length;

	length = strlen(view_time(view, time));
	for (n = 0; n < count; n++) {
		if (n + AHEAD < count)
			line_cache_prefetch(lines->cache, &records[n + AHEAD]);
		if (n && view_in_kernel(&records[n]) != view_in_kernel(&records[n - 1]))
			scope = view_line_scope(view, &records[n]);
		if (length)
			lines_add(view, time, length);
		line_add(view, &records[n], &scope);
	}
	lines_flush(view);
}

/* Between branches no time passes. */
static u32 records_skim(struct view *view, const struct kipt_record *records, u32 count)
{
	u32 n = 0;

	while (n < count && records[n].type == KIPT_RECORD_BRANCH)
		n++;
	if (n && view->options->mode != VIEW_INSNS)
		branches_add(view, records, n);
	return n;
}

static void insn_print(struct view *view, const struct kipt_record *r)
{
	struct line_scope scope = view_line_scope(view, r);
	char time[32];

	view_time(view, time);
	lines_add(view, time, strlen(time));
	line_add(view, r, &scope);
	lines_flush(view);
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
	char cpu[32];

	switch (r->type) {
	case KIPT_RECORD_INSN:
		insn_print(view, r);
		break;
	case KIPT_RECORD_CPU:
		fprintf(view->out, "== CPU %s\n", view_cpu(r->aux, cpu, sizeof(cpu)));
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
	struct lines *lines = view->self;

	line_cache_destroy(lines->cache);
	free(lines);
	view->self = NULL;
}

bool view_lines_init(struct view *view)
{
	struct lines *lines = malloc(sizeof(*lines));

	if (!lines)
		return false;
	lines->used = 0;
	lines->cache = line_cache_create();
	if (!lines->cache) {
		free(lines);
		return false;
	}
	view->self = lines;
	view->print = record_print;
	view->skim = records_skim;
	view->finish = lines_finish;
	return true;
}
