// SPDX-License-Identifier: GPL-2.0-only
/*
 * The call view: calls by the rules of call_track.h, and what else the trace
 * says between them.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "../records/record_state.h"
#include "../records/record_words.h"
#include "../records/tool_records.h"
#include "../symbols/page_tables.h"
#include "call_track.h"
#include "inlined_lines.h"
#include "view.h"
#include "view_totals.h"

#define LINE_MAX	4096

struct calls {
	struct call_track track;
	struct inlined_lines inlined;
	/* Each line that repeats nothing has a hash of its own. */
	u64 unique;
	u32 mode;
	u64 space;
	/* With --time: code runs, and is traced; cycles came, and no branch after them. */
	bool running, timed;
	const char *object;
};

static u64 unique_hash(struct calls *calls)
{
	return ++calls->unique * 0x2545f4914f6cdd1dULL;
}

/* What is too deep to be shown is not looked for. */
static const struct inlined *inlined_at(void *ctx, u64 site)
{
	struct view *view = ctx;
	const struct view_options *options = view->options;
	const struct calls *calls = view->self;

	if (!options->inlined ||
	    (options->max_depth &&
	     call_stack_top(calls->track.stack)->depth + 1 >= options->max_depth))
		return NULL;
	return names_inlined(view->names, view_code_pid(&view->state), site, options->source);
}

/* GCC clears so many bytes with REP STOS, which is slower than to copy this. */
static const struct call_line unused;

static void line_make(void *ctx, enum call_line_kind kind, u64 address,
		      struct call_line *line)
{
	struct view *view = ctx;

	memcpy(line, &unused, sizeof(*line));
	line->kind = kind;
	line->count = 1;
	line->instances = 1;
	line->address = address;
	line->pid = view_code_pid(&view->state);
	line->version = names_version_of(view->names);
	line->tsc = view->state.tsc;
	line->tsc_first = view->state.tsc_first;
}

static void place_find(void *ctx, u64 address, struct place *place)
{
	struct view *view = ctx;

	names_find(view->names, view_code_pid(&view->state), address, place);
}

/* Cycles and instructions of its task are those of the last time. */
static void frame_enter(void *ctx, struct call_stack *stack, struct frame *frame)
{
	const struct view *view = ctx;

	frame->begun = view->state.tsc;
	frame->cycles = stack->cycles;
	frame->insns = stack->insns_seen;
}

static void frame_leave(void *ctx, struct call_stack *stack, struct frame *frame, bool returned)
{
	const struct view *view = ctx;
	struct call_line *line;

	if (!returned || !frame->begun || frame->kind == FRAME_BASE ||
	    frame->kind == FRAME_LOCAL)
		return;
	line = call_lines_at(stack->lines, frame->line);
	if (!line || view->state.tsc < frame->begun)
		return;
	line->measured = 1;
	line->ticks = view->state.tsc - frame->begun;
	line->cycles = stack->cycles - frame->cycles;
	line->insns = stack->insns_seen - frame->insns;
}

static const struct call_watch watch = {
	.enter = frame_enter,
	.leave = frame_leave,
};

static const struct call_track_ops track_ops = {
	.find = place_find,
	.line = line_make,
	.inlined = inlined_at,
};

static const struct call_track_ops timed_ops = {
	.find = place_find,
	.line = line_make,
	.inlined = inlined_at,
	.watch = &watch,
};

static void note_add(struct view *view, const struct kipt_record *r)
{
	struct calls *calls = view->self;
	struct call_line *line;
	char text[512];
	u64 hash = 0;
	const char *c;

	view_sentence(view, r, text, sizeof(text));
	for (c = text; *c; c++)
		hash = (hash ^ (u8)*c) * TALLY_HASH_PRIME;
	if (r->type == KIPT_RECORD_GAP)
		hash = unique_hash(calls);
	line = call_lines_add(calls->track.lines);
	line_make(view, LINE_NOTE, r->ip, line);
	line->text = strdup(text);
	call_stack_note(calls->track.stack, line, hash);
}

static void head_add(struct view *view, const char *text)
{
	struct calls *calls = view->self;
	struct call_line *line = call_lines_add(calls->track.lines);

	line_make(view, LINE_HEAD, 0, line);
	line->text = strdup(text);
	call_stack_note(calls->track.stack, line, unique_hash(calls));
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
	char text[48], cpu[32];

	calls->mode = KIPT_EXEC_64;
	calls->space = 0;
	if (!call_track_begin(&calls->track))
		return;
	snprintf(text, sizeof(text), "== CPU %s", view_cpu(r->aux, cpu, sizeof(cpu)));
	head_add(view, text);
}

/* Where tasks are known they say more. */
static void context_take(struct view *view, const struct kipt_record *r)
{
	struct calls *calls = view->self;

	if (!calls->track.task_known && !page_tables_same(calls->space, r->value))
		note_add(view, r);
	calls->space = r->value;
}

static void mode_take(struct view *view, const struct kipt_record *r)
{
	struct calls *calls = view->self;

	if (calls->mode != r->kind)
		note_add(view, r);
	calls->mode = r->kind;
}

/* The CPU counts cycles while nothing is traced, too. */
static void cycles_take(struct calls *calls, const struct kipt_record *r)
{
	if (calls->running)
		calls->track.stack->cycles += r->ip;
	calls->timed |= r->ip != 0;
}

/* The CPU writes cycles before the packet of the branch that ended them, so the instructions
 * up to that branch belong to them.
 */
static void insns_take(struct calls *calls, u32 insns)
{
	struct call_stack *stack = calls->track.stack;

	stack->insns += insns;
	if (calls->timed)
		stack->insns_seen = stack->insns;
	calls->timed = false;
}

/* What times, cycles and instructions of calls need to know of a record. */
static void flow_follow(struct calls *calls, const struct kipt_record *r)
{
	if (r->type == KIPT_RECORD_TIME)
		cycles_take(calls, r);
	if (r->type == KIPT_RECORD_BRANCH || r->type == KIPT_RECORD_DISABLE ||
	    r->type == KIPT_RECORD_SYNC)
		insns_take(calls, r->aux);
	if (r->type == KIPT_RECORD_GAP && record_gap_loses_time(r->kind))
		calls->running = false;
	record_runs(r, &calls->running);
}

static void record_print(struct view *view, const struct kipt_record *r)
{
	struct calls *calls = view->self;
	struct kipt_record first = { .aux = view->state.cpu };

	if (r->type == KIPT_RECORD_CPU || !calls->track.stack)
		cpu_take(view, r->type == KIPT_RECORD_CPU ? r : &first);
	if (!calls->track.stack)
		return;
	if (view->options->time)
		flow_follow(calls, r);
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
		call_track_context(&calls->track, view->state.cr3);
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

/* Branches change nothing but calls. */
static u32 records_skim(struct view *view, const struct kipt_record *records,
			u32 count)
{
	struct calls *calls = view->self;
	u32 n;

	if (!calls->track.stack)
		return 0;
	calls->track.changes = names_changes(view->names);
	if (!view->options->time)
		return call_track_branches(&calls->track, records, count);
	for (n = 0; n < count && records[n].type == KIPT_RECORD_BRANCH &&
		    !record_crosses_vm(&records[n]); n++) {
		flow_follow(calls, &records[n]);
		call_track_take(&calls->track, &records[n]);
	}
	return n;
}

/* A line that is being made: it goes out as one piece, unless it is longer than most. */
struct text {
	FILE *out;
	size_t length;
	char bytes[LINE_MAX];
};

static void text_flush(struct text *text)
{
	fwrite_unlocked(text->bytes, text->length, 1, text->out);
	text->length = 0;
}

static void bytes_add(struct text *text, const char *bytes, size_t length)
{
	if (length > sizeof(text->bytes) - text->length)
		text_flush(text);
	if (length > sizeof(text->bytes)) {
		fwrite_unlocked(bytes, length, 1, text->out);
		return;
	}
	memcpy(text->bytes + text->length, bytes, length);
	text->length += length;
}

static void string_add(struct text *text, const char *string)
{
	bytes_add(text, string, strlen(string));
}

static void hex_add(struct text *text, const char *before, u64 number)
{
	char digits[16];
	size_t at = sizeof(digits);

	do {
		digits[--at] = "0123456789abcdef"[number & 15];
		number >>= 4;
	} while (number);
	string_add(text, before);
	bytes_add(text, digits + at, sizeof(digits) - at);
}

/* "symbol+0x1f", and the object where it is not the line's before. */
static void place_add(struct view *view, const struct call_line *line, struct text *text)
{
	/* The process may have other code there by now. */
	u32 version = names_version_of(view->names);
	struct calls *calls = view->self;
	struct place place;
	char source[128];

	names_version(view->names, line->version);
	names_find(view->names, line->pid, line->address, &place);
	/* Without times in between it may not have been mapped yet. */
	if (!place.object) {
		names_version(view->names, version);
		names_find(view->names, line->pid, line->address, &place);
	}
	if (place.symbol)
		string_add(text, place.symbol);
	else
		hex_add(text, "0x", place.object ? place.offset : line->address);
	if (place.symbol && place.offset)
		hex_add(text, "+0x", place.offset);
	if (place.object && (place.object != calls->object || !place.symbol)) {
		string_add(text, " [");
		string_add(text, place.object);
		string_add(text, "]");
	}
	calls->object = place.object;
	if (view->options->source &&
	    names_source(view->names, line->pid, line->address, source, sizeof(source))) {
		string_add(text, " (");
		string_add(text, source);
		string_add(text, ")");
	}
	names_version(view->names, version);
}

static void time_add(struct view *view, const struct call_line *line, struct text *text)
{
	struct view_state kept = view->state;
	char time[32];

	view->state.tsc = line->tsc;
	view->state.tsc_first = line->tsc_first;
	string_add(text, view_time(view, time));
	view->state = kept;
}

static void repeat_add(const struct call_line *line, struct text *text)
{
	char words[64];

	if (line->count > 1) {
		snprintf(words, sizeof(words), "  x%u", line->count);
		string_add(text, words);
	}
	if (line->group_count) {
		snprintf(words, sizeof(words), "  (this and the next %u: x%u)",
			 line->group - 1, line->group_count);
		string_add(text, words);
	}
}

static void ticks_add(struct view *view, u64 ticks, struct text *text)
{
	char words[48];

	if (view->tsc_khz)
		snprintf(words, sizeof(words), "%.3f us", (double)ticks * 1000 / view->tsc_khz);
	else
		snprintf(words, sizeof(words), "%llu ticks", (unsigned long long)ticks);
	string_add(text, words);
}

static void duration_add(struct view *view, const struct call_line *line, struct text *text)
{
	char words[96];

	/* A sum without some of them would be wrong. */
	if (line->measured != line->instances)
		return;
	if (line->ticks || line->cycles)
		string_add(text, "  ");
	if (line->ticks)
		ticks_add(view, line->ticks, text);
	if (line->ticks && line->cycles)
		string_add(text, ", ");
	if (line->cycles) {
		snprintf(words, sizeof(words), "%llu cycles, IPC %.2f",
			 (unsigned long long)line->cycles,
			 (double)line->insns / (double)line->cycles);
		string_add(text, words);
	}
}

static void indent_add(u32 columns, struct text *text)
{
	static const char blanks[] = "                                        ";
	const u32 most = sizeof(blanks) - 1;

	for (; columns > most; columns -= most)
		bytes_add(text, blanks, most);
	bytes_add(text, blanks, columns);
}

/* @indent: lines it is below. */
static void line_add(struct view *view, const struct call_line *line, u32 indent,
		     struct text *text)
{
	if (view->options->time)
		time_add(view, line, text);
	indent_add(2 * indent, text);
	if (line->kind == LINE_SYSCALL)
		string_add(text, "syscall: ");
	else if (line->kind == LINE_EVENT)
		string_add(text, "event: ");
	if (line->kind == LINE_NOTE) {
		string_add(text, "| ");
		string_add(text, line->text ? line->text : "");
	} else {
		place_add(view, line, text);
	}
	repeat_add(line, text);
	if (view->options->time)
		duration_add(view, line, text);
}

/* An inlined function begins and ends nowhere: it has no time. */
static void inlined_print(struct view *view, const struct inlined *inlined, u32 indent,
			  struct text *text)
{
	if (view->options->time)
		time_add(view, &unused, text);
	indent_add(2 * indent, text);
	string_add(text, names_inlined_name(view->names, inlined));
	string_add(text, " (inlined)\n");
	text_flush(text);
}

/* The line, and before it those of the inlined functions that made the call. */
static void lines_print(struct view *view, const struct call_line *line, struct text *text)
{
	struct calls *calls = view->self;
	const struct inlined *inlined = line->inlined;
	u32 shown, indent, levels = inlined ? inlined->level : 0;

	indent = inlined_lines_next(&calls->inlined, line->depth, inlined, &shown);
	for (; shown < levels; shown++)
		inlined_print(view, inlined_outer(inlined, shown + 1), indent + shown, text);
	line_add(view, line, indent + levels, text);
}

static void line_print(void *ctx, const struct call_line *line)
{
	struct view *view = ctx;
	struct calls *calls = view->self;
	struct text text;

	if (line->kind != LINE_HEAD && view->options->max_depth &&
	    line->depth >= view->options->max_depth)
		return;
	text.out = view->out;
	text.length = 0;
	if (line->kind == LINE_HEAD) {
		string_add(&text, line->text ? line->text : "");
		calls->object = NULL;
		inlined_lines_begin(&calls->inlined);
	} else {
		lines_print(view, line, &text);
	}
	bytes_add(&text, "\n", 1);
	text_flush(&text);
}

static void calls_finish(struct view *view)
{
	struct calls *calls = view->self;

	call_lines_destroy(calls->track.lines);
	call_track_end(&calls->track);
	inlined_lines_end(&calls->inlined);
	free(calls);
	view->self = NULL;
}

bool view_calls_init(struct view *view)
{
	struct calls *calls = calloc(1, sizeof(*calls));

	if (!calls)
		return false;
	calls->track = (struct call_track){
		.ops = view->options->time ? &timed_ops : &track_ops,
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
	view->leaves_guests = true;
	view->finish = calls_finish;
	return true;
}
