// SPDX-License-Identifier: GPL-2.0-only
/*
 * The call view: which frame a branch enters or leaves. Stacks are matched by
 * return address, so that what the trace does not show (a gap, a stack
 * switch, longjmp) is found again at the next return that is known. Each
 * task has a stack of its own.
 */
#include <stdlib.h>
#include <string.h>

#include "call_stack.h"
#include "view.h"
#include "words.h"

/* A call within one function, of a thunk, is that short. */
#define LOCAL_CALL_MAX	64
/* Frames looked at for the one that a return belongs to. */
#define SEARCH_MAX	512
/* After a trap or system call execution may go on that far behind. */
#define INSN_MAX	15

struct calls {
	struct call_lines *lines;
	struct call_stack *stacks;
	struct call_stack *stack;
	/* Each line that repeats nothing has a hash of its own. */
	u64 unique;
	u32 mode;
	u64 space;
	bool task_known;
	/* Something is missing and it is not known yet where it ends. */
	bool gap;
	/* Where tracing ended, to see whether it goes on there. */
	u64 left;
	const char *object;
};

static u64 unique_hash(struct calls *calls)
{
	return ++calls->unique * 0x2545f4914f6cdd1dULL;
}

static void line_make(struct view *view, enum call_line_kind kind,
		      u64 address, struct call_line *line)
{
	memset(line, 0, sizeof(*line));
	line->kind = kind;
	line->count = 1;
	line->address = address;
	line->pid = view->state.pid;
	line->tsc = view->state.tsc;
	line->tsc_first = view->state.tsc_first;
}

/* What functions that only pass control on are called. */
static bool is_thunk(const struct place *place)
{
	const char *name = place->symbol;
	size_t len = name ? strlen(name) : 0;

	return len && (strstr(name, "__x86_indirect_") ||
		       (len > 4 && !strcmp(name + len - 4, "@plt")));
}

/* A jump there is on its way to return ("retpolines" and what came after). */
static bool is_return_thunk(const struct place *place)
{
	return place->symbol && strstr(place->symbol, "return_thunk");
}

static u64 function_of(struct view *view, u64 address)
{
	struct place place;

	names_find(view->names, view->state.pid, address, &place);
	return place.start;
}

static void base_push(struct view *view, u64 address)
{
	struct calls *calls = view->self;
	struct call_line line;

	line_make(view, LINE_BASE, address, &line);
	call_stack_push(calls->stack, FRAME_BASE, function_of(view, address),
			0, &line);
}

/* Index of the frame below which everything is what was interrupted. */
static u32 entry_index(const struct call_stack *stack)
{
	u32 i = stack->count - 1;

	while (i && stack->frames[i].kind != FRAME_ENTRY)
		i--;
	return i;
}

/* Execution is at an address that no known return leads to. */
static void resume_at(struct view *view, u64 address)
{
	struct call_stack *stack = ((struct calls *)view->self)->stack;
	u64 function = function_of(view, address);
	u32 i, entry = entry_index(stack);

	for (i = stack->count - 1; i > entry; i--) {
		if (stack->frames[i].function == function) {
			call_stack_pop(stack, i + 1);
			return;
		}
	}
	call_stack_pop(stack, entry + 1);
	base_push(view, address);
}

/* Control passes from the function on top to another, which will return to
 * the caller of the first.
 */
static void jump_to(struct view *view, u64 address)
{
	struct calls *calls = view->self;
	struct call_stack *stack = calls->stack;
	struct frame *top = call_stack_top(stack);
	struct call_line line, *shown;
	struct place place;
	u64 ret = top->ret;

	names_find(view->names, view->state.pid, top->function, &place);
	shown = top->kind == FRAME_ROOT ? NULL :
					  call_lines_at(calls->lines,
							top->line);
	if (shown && shown->kind == LINE_CALL && is_thunk(&place)) {
		top->function = address;
		shown->address = address;
		return;
	}
	if (top->kind == FRAME_TAIL)
		call_stack_pop(stack, stack->count - 1);
	line_make(view, LINE_CALL, address, &line);
	call_stack_push(stack, FRAME_TAIL, address, ret, &line);
}

static void call_take(struct view *view, const struct kipt_record *r)
{
	struct calls *calls = view->self;
	u64 distance = r->value - r->ip;
	struct call_line line;

	if (calls->stack->count == 1)
		base_push(view, r->ip);
	if (distance + LOCAL_CALL_MAX < 2 * LOCAL_CALL_MAX) {
		u64 function = function_of(view, r->value);

		if (function != r->value &&
		    function == function_of(view, r->ip)) {
			call_stack_push(calls->stack, FRAME_LOCAL, function,
					0, NULL);
			return;
		}
	}
	line_make(view, LINE_CALL, r->value, &line);
	/* The call's length is not known: its own address stands for where it
	 * returns to, see returns_to().
	 */
	call_stack_push(calls->stack, FRAME_CALL, r->value, r->ip, &line);
}

/* A near call has 2 to 15 bytes; nothing else ends there. */
static bool returns_to(const struct frame *frame, u64 address)
{
	return frame->ret && address - frame->ret - 2 <= INSN_MAX - 2;
}

static void ret_take(struct view *view, const struct kipt_record *r)
{
	struct call_stack *stack = ((struct calls *)view->self)->stack;
	u32 i, least = stack->count > SEARCH_MAX ? stack->count - SEARCH_MAX :
						   1;
	struct frame *top = call_stack_top(stack);
	u64 ret;
	bool tail;

	for (i = stack->count - 1; i >= least; i--) {
		if (stack->frames[i].kind == FRAME_ENTRY)
			break;
		if (!returns_to(&stack->frames[i], r->value))
			continue;
		ret = stack->frames[i].ret;
		tail = stack->frames[i].kind == FRAME_TAIL;
		call_stack_pop(stack, i);
		top = call_stack_top(stack);
		if (tail && top->kind == FRAME_CALL && top->ret == ret)
			call_stack_pop(stack, stack->count - 1);
		return;
	}
	if (top->kind == FRAME_LOCAL) {
		call_stack_pop(stack, stack->count - 1);
		jump_to(view, r->value);
	} else {
		resume_at(view, r->value);
	}
}

static void entry_take(struct view *view, const struct kipt_record *r)
{
	struct calls *calls = view->self;
	struct call_line line;

	if (calls->stack->count == 1)
		base_push(view, r->ip);
	line_make(view, r->kind == KIPT_BRANCH_EVENT ? LINE_EVENT :
						       LINE_SYSCALL,
		  r->value, &line);
	call_stack_push(calls->stack, FRAME_ENTRY, r->value, r->ip, &line);
}

/* The entry that a return from the kernel, or from an interrupt, ends. */
static u32 entry_find(const struct call_stack *stack, u64 address)
{
	u32 i;

	for (i = stack->count - 1; i; i--) {
		const struct frame *frame = &stack->frames[i];

		if (frame->kind == FRAME_ENTRY &&
		    address - frame->ret <= INSN_MAX)
			return i;
	}
	for (i = stack->count - 1; i; i--) {
		const struct frame *frame = &stack->frames[i];

		if (frame->kind == FRAME_ENTRY &&
		    frame->ret >> 63 == address >> 63)
			return i;
	}
	return 0;
}

/* The kernel returned to where it had not come from: a signal's handler, the
 * end of one, or a new program.
 */
static void elsewhere_at(struct view *view, u64 address, u64 function)
{
	struct call_stack *stack = ((struct calls *)view->self)->stack;
	u32 i, entry = entry_index(stack);

	for (i = stack->count - 1; i > entry; i--) {
		if (stack->frames[i].function == function) {
			call_stack_pop(stack, i + 1);
			return;
		}
	}
	base_push(view, address);
}

static void leave_take(struct view *view, const struct kipt_record *r)
{
	struct call_stack *stack = ((struct calls *)view->self)->stack;
	u64 function = function_of(view, r->value), at;
	u32 entry;

	/* IRET to the next instruction only serialises. */
	if (r->value - r->ip <= LOCAL_CALL_MAX &&
	    function == function_of(view, r->ip))
		return;
	entry = entry_find(stack, r->value);
	if (!entry) {
		call_stack_pop(stack, 1);
		base_push(view, r->value);
		return;
	}
	at = stack->frames[entry].ret;
	call_stack_pop(stack, entry);
	if (r->value - at > INSN_MAX)
		elsewhere_at(view, r->value, function);
}

static void jump_take(struct view *view, const struct kipt_record *r)
{
	struct calls *calls = view->self;
	struct frame *top = call_stack_top(calls->stack);
	struct place place;

	if (top->kind == FRAME_ROOT || top->function == r->value)
		return;
	names_find(view->names, view->state.pid, r->value, &place);
	if (place.symbol && !place.offset && !is_return_thunk(&place))
		jump_to(view, r->value);
}

static void branch_take(struct view *view, const struct kipt_record *r)
{
	switch (r->kind) {
	case KIPT_BRANCH_CALL:
	case KIPT_BRANCH_CALL_IND:
		call_take(view, r);
		break;
	case KIPT_BRANCH_RET:
		ret_take(view, r);
		break;
	case KIPT_BRANCH_JUMP:
	case KIPT_BRANCH_JUMP_IND:
		jump_take(view, r);
		break;
	case KIPT_BRANCH_SYSCALL:
	case KIPT_BRANCH_EVENT:
		entry_take(view, r);
		break;
	case KIPT_BRANCH_SYSRET:
	case KIPT_BRANCH_IRET:
		leave_take(view, r);
		break;
	case KIPT_BRANCH_COND:
		break;
	default:
		resume_at(view, r->value);
	}
}

static void note_add(struct view *view, const struct kipt_record *r)
{
	struct calls *calls = view->self;
	char where[256], text[512];
	struct call_line line;
	u64 hash = 0;
	const char *c;

	names_text(view->names, view->state.pid, r->ip, where, sizeof(where));
	words_sentence(r, where, text, sizeof(text));
	for (c = text; *c; c++)
		hash = (hash ^ (u8)*c) * TALLY_HASH_PRIME;
	if (r->type == KIPT_RECORD_GAP) {
		hash = unique_hash(calls);
		calls->gap = true;
	}
	line_make(view, LINE_NOTE, r->ip, &line);
	line.text = strdup(text);
	call_stack_note(calls->stack, &line, hash);
}

static struct call_stack *stack_get(struct calls *calls, u32 tid, bool fold)
{
	struct call_stack *stack;

	for (stack = calls->stacks; stack; stack = stack->next) {
		if (stack->tid == tid)
			return stack;
	}
	stack = call_stack_create(tid, calls->lines, fold);
	if (!stack)
		return NULL;
	stack->next = calls->stacks;
	return calls->stacks = stack;
}

static void head_add(struct view *view, const char *text)
{
	struct calls *calls = view->self;
	struct call_line line;

	line_make(view, LINE_HEAD, 0, &line);
	line.text = strdup(text);
	call_stack_note(calls->stack, &line, unique_hash(calls));
}

/* Before the first task is known, what runs is its. */
static void task_take(struct view *view)
{
	struct calls *calls = view->self;
	u32 tid = view->state.tid;
	struct call_stack *stack;
	const char *comm;
	char text[96];

	if (calls->task_known && calls->stack->tid == tid)
		return;
	if (calls->task_known) {
		stack = stack_get(calls, tid, !view->options->no_fold);
		if (stack)
			calls->stack = stack;
	}
	calls->stack->tid = tid;
	calls->task_known = true;
	comm = names_comm(view->names, tid, view->state.pid);
	snprintf(text, sizeof(text), "-- task %u%s%s", tid, *comm ? " " : "",
		 comm);
	head_add(view, text);
}

static void cpu_take(struct view *view, const struct kipt_record *r)
{
	struct calls *calls = view->self;
	struct call_stack *stack;
	char text[32];

	while ((stack = calls->stacks)) {
		calls->stacks = stack->next;
		call_stack_destroy(stack);
	}
	calls->stack = stack_get(calls, 0, !view->options->no_fold);
	calls->task_known = false;
	calls->mode = KIPT_EXEC_64;
	calls->space = 0;
	if (!calls->stack)
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

	if (!calls->task_known && calls->space != space)
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

static void enable_take(struct view *view, const struct kipt_record *r)
{
	struct calls *calls = view->self;

	calls->gap = false;
	if (calls->stack->count == 1)
		base_push(view, r->ip);
	else if (!calls->left || r->ip - calls->left > INSN_MAX)
		resume_at(view, r->ip);
	calls->left = 0;
}

/* A PSB says where execution is: news at the start and behind a gap. */
static void sync_take(struct view *view, const struct kipt_record *r)
{
	struct calls *calls = view->self;

	if ((calls->gap || calls->stack->count == 1) &&
	    !(r->flags & KIPT_RF_NO_IP))
		enable_take(view, r);
}

static void disable_take(struct view *view, const struct kipt_record *r)
{
	struct calls *calls = view->self;

	note_add(view, r);
	calls->left = r->flags & KIPT_RF_NO_IP ? 0 : r->ip;
}

static void record_print(struct view *view, const struct kipt_record *r)
{
	struct calls *calls = view->self;
	struct kipt_record first = { .aux = view->state.cpu };

	if (r->type == KIPT_RECORD_CPU || !calls->stack)
		cpu_take(view, r->type == KIPT_RECORD_CPU ? r : &first);
	if (!calls->stack)
		return;
	switch (r->type) {
	case KIPT_RECORD_BRANCH:
		branch_take(view, r);
		break;
	case KIPT_RECORD_TASK:
		task_take(view);
		break;
	case KIPT_RECORD_CONTEXT:
		context_take(view, r);
		break;
	case KIPT_RECORD_MODE:
		mode_take(view, r);
		break;
	case KIPT_RECORD_ENABLE:
		enable_take(view, r);
		break;
	case KIPT_RECORD_DISABLE:
		disable_take(view, r);
		break;
	case KIPT_RECORD_SYNC:
		sync_take(view, r);
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
	}
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
	    (place.object != calls->object || !place.symbol))
		fprintf(view->out, " [%s]", place.object);
	calls->object = place.object;
	if (view->options->source && !(line->address >> 63) &&
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
	fprintf(view->out, "%*s", (int)(2 * line->depth), "");
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
	struct call_stack *stack;

	call_lines_destroy(calls->lines);
	while ((stack = calls->stacks)) {
		calls->stacks = stack->next;
		call_stack_destroy(stack);
	}
	free(calls);
	view->self = NULL;
}

bool view_calls_init(struct view *view)
{
	struct calls *calls = calloc(1, sizeof(*calls));

	if (!calls)
		return false;
	calls->lines = call_lines_create(line_print, view);
	if (!calls->lines) {
		free(calls);
		return false;
	}
	view->self = calls;
	view->print = record_print;
	view->finish = calls_finish;
	return true;
}
