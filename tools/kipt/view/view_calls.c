// SPDX-License-Identifier: GPL-2.0-only
/*
 * The call view: calls by the rules of call_track.h, and what else the trace
 * says between them.
 */
#include <stdlib.h>
#include <string.h>

#include "../records/record_words.h"
#include "../records/sample_record.h"
#include "call_track.h"
#include "view.h"

struct calls {
	struct call_track track;
	/* Each line that repeats nothing has a hash of its own. */
	u64 unique;
	u32 mode;
	u64 space;
	const char *object;
};

static u64 unique_hash(struct calls *calls)
{
	return ++calls->unique * 0x2545f4914f6cdd1dULL;
}

static void line_make(void *ctx, enum call_line_kind kind, u64 address,
		      struct call_line *line)
{
	struct view *view = ctx;

	memset(line, 0, sizeof(*line));
	line->kind = kind;
	line->count = 1;
	line->address = address;
	line->pid = view->state.pid;
	line->tsc = view->state.tsc;
	line->tsc_first = view->state.tsc_first;
}

static void place_find(void *ctx, u64 address, struct place *place)
{
	struct view *view = ctx;

	names_find(view->names, view->state.pid, address, place);
}

static const struct call_track_ops track_ops = {
	.find = place_find,
	.line = line_make,
};

static void note_add(struct view *view, const struct kipt_record *r)
{
	struct calls *calls = view->self;
	char text[512];
	struct call_line line;
	u64 hash = 0;
	const char *c;

	view_sentence(view, r, text, sizeof(text));
	for (c = text; *c; c++)
		hash = (hash ^ (u8)*c) * TALLY_HASH_PRIME;
	if (r->type == KIPT_RECORD_GAP)
		hash = unique_hash(calls);
	line_make(view, LINE_NOTE, r->ip, &line);
	line.text = strdup(text);
	call_stack_note(calls->track.stack, &line, hash);
}

static void head_add(struct view *view, const char *text)
{
	struct calls *calls = view->self;
	struct call_line line;

	line_make(view, LINE_HEAD, 0, &line);
	line.text = strdup(text);
	call_stack_note(calls->track.stack, &line, unique_hash(calls));
}

static void task_take(struct view *view)
{
	struct calls *calls = view->self;
	u32 tid = view->state.tid;
	const char *comm;
	char text[96];

	if (!call_track_task(&calls->track, tid))
		return;
	comm = names_comm(view->names, tid, view->state.pid);
	snprintf(text, sizeof(text), "-- task %u%s%s", tid, *comm ? " " : "",
		 comm);
	head_add(view, text);
}

static void cpu_take(struct view *view, const struct kipt_record *r)
{
	struct calls *calls = view->self;
	char text[32];

	calls->mode = KIPT_EXEC_64;
	calls->space = 0;
	if (!call_track_begin(&calls->track))
		return;
	snprintf(text, sizeof(text), "== CPU %u", r->aux);
	head_add(view, text);
}

/* Kernel page-table isolation has two tables for a process, which differ in
 * bit 12; where tasks are known they say more.
 */
static void context_take(struct view *view, const struct kipt_record *r)
{
	struct calls *calls = view->self;
	u64 space = r->value & ~0x1fffULL;

	if (!calls->track.task_known && calls->space != space)
		note_add(view, r);
	calls->space = space;
}

static void mode_take(struct view *view, const struct kipt_record *r)
{
	struct calls *calls = view->self;

	if (calls->mode != r->kind)
		note_add(view, r);
	calls->mode = r->kind;
}

static void record_print(struct view *view, const struct kipt_record *r)
{
	struct calls *calls = view->self;
	struct kipt_record first = { .aux = view->state.cpu };

	if (r->type == KIPT_RECORD_CPU || !calls->track.stack)
		cpu_take(view, r->type == KIPT_RECORD_CPU ? r : &first);
	if (!calls->track.stack)
		return;
	switch (r->type) {
	case KIPT_RECORD_BRANCH:
	case KIPT_RECORD_ENABLE:
	case KIPT_RECORD_SYNC:
		call_track_take(&calls->track, r);
		break;
	case KIPT_RECORD_TASK:
		task_take(view);
		break;
	case KIPT_RECORD_DISABLE:
		/* The task that is named before it says as much. */
		if (r->kind != KIPT_DISABLE_OTHERS) {
			note_add(view, r);
			call_track_take(&calls->track, r);
		}
		break;
	case RECORD_SAMPLE:
		note_add(view, r);
		break;
	case KIPT_RECORD_CONTEXT:
		context_take(view, r);
		break;
	case KIPT_RECORD_MODE:
		mode_take(view, r);
		break;
	case KIPT_RECORD_CPU:
	case KIPT_RECORD_TIME:
	case KIPT_RECORD_CBR:
	case KIPT_RECORD_INSN:
	case KIPT_RECORD_EDGE:
	case KIPT_RECORD_SPACE:
		break;
	default:
		note_add(view, r);
		call_track_take(&calls->track, r);
	}
}

/* Where a conditional branch goes no call begins or ends. */
static u32 records_skim(struct view *view, const struct kipt_record *records,
			u32 count)
{
	const struct calls *calls = view->self;
	u32 n = 0;

	while (calls->track.stack && n < count &&
	       records[n].type == KIPT_RECORD_BRANCH &&
	       records[n].kind == KIPT_BRANCH_COND)
		n++;
	return n;
}

/* "symbol+0x1f", and the object where it is not the line's before. */
static void place_print(struct view *view, const struct call_line *line)
{
	struct calls *calls = view->self;
	struct place place;
	char source[128];

	names_find(view->names, line->pid, line->address, &place);
	if (place.symbol)
		fputs(place.symbol, view->out);
	else
		fprintf(view->out, "0x%llx", (unsigned long long)
			(place.object ? place.offset : line->address));
	if (place.symbol && place.offset)
		fprintf(view->out, "+0x%llx",
			(unsigned long long)place.offset);
	if (place.object &&
	    (place.object != calls->object || !place.symbol)) {
		fputs(" [", view->out);
		fputs(place.object, view->out);
		fputc(']', view->out);
	}
	calls->object = place.object;
	if (view->options->source &&
	    names_source(view->names, line->pid, line->address, source,
			 sizeof(source)))
		fprintf(view->out, " (%s)", source);
}

static void time_print(struct view *view, const struct call_line *line)
{
	struct view_state kept = view->state;
	char time[32];

	view->state.tsc = line->tsc;
	view->state.tsc_first = line->tsc_first;
	fputs(view_time(view, time), view->out);
	view->state = kept;
}

static void repeat_print(struct view *view, const struct call_line *line)
{
	if (line->count > 1)
		fprintf(view->out, "  x%u", line->count);
	if (line->group_count)
		fprintf(view->out, "  (this and the next %u: x%u)",
			line->group - 1, line->group_count);
}

static void indent_print(FILE *out, u32 columns)
{
	static const char blanks[] = "                                        ";
	const u32 most = sizeof(blanks) - 1;

	for (; columns > most; columns -= most)
		fwrite(blanks, 1, most, out);
	fwrite(blanks, 1, columns, out);
}

static void line_print(void *ctx, const struct call_line *line)
{
	static const char *const marks[] = {
		[LINE_SYSCALL] = "syscall: ",
		[LINE_EVENT] = "event: ",
	};
	struct view *view = ctx;
	struct calls *calls = view->self;

	if (line->kind == LINE_HEAD) {
		fprintf(view->out, "%s\n", line->text ? line->text : "");
		calls->object = NULL;
		return;
	}
	if (view->options->max_depth &&
	    line->depth >= view->options->max_depth)
		return;
	time_print(view, line);
	indent_print(view->out, 2 * line->depth);
	if (line->kind == LINE_SYSCALL || line->kind == LINE_EVENT)
		fputs(marks[line->kind], view->out);
	if (line->kind == LINE_NOTE)
		fprintf(view->out, "| %s", line->text ? line->text : "");
	else
		place_print(view, line);
	repeat_print(view, line);
	fputc('\n', view->out);
}

static void calls_finish(struct view *view)
{
	struct calls *calls = view->self;

	call_lines_destroy(calls->track.lines);
	call_track_end(&calls->track);
	free(calls);
	view->self = NULL;
}

bool view_calls_init(struct view *view)
{
	struct calls *calls = calloc(1, sizeof(*calls));

	if (!calls)
		return false;
	calls->track = (struct call_track){
		.ops = &track_ops,
		.ctx = view,
		.lines = call_lines_create(line_print, view),
		.fold = !view->options->no_fold,
	};
	if (!calls->track.lines) {
		free(calls);
		return false;
	}
	view->self = calls;
	view->print = record_print;
	view->skim = records_skim;
	view->finish = calls_finish;
	return true;
}
