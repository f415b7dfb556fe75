// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which frame a branch enters or leaves, see call_track.h. Stacks are matched
 * by return address, so that what the trace does not show (a gap, a stack
 * switch, longjmp) is found again at the next return that is known. Each
 * task has a stack of its own.
 */
#include <string.h>

#include "../symbols/page_tables.h"
#include "../records/record_state.h"
#include "call_track.h"

/* A call within one function, of a thunk, is that short. */
#define LOCAL_CALL_MAX	64
/* Frames looked at for the one that a return belongs to. */
#define SEARCH_MAX	512
/* After a trap or system call execution may go on that much further. */
#define INSN_MAX	15
/* Where setjmp() returns, or an exception is caught, is farther from a function's start. */
#define ENTRY_MAX	32
/* So many signals at one instruction are not nested. */
#define SAME_MAX	8
/* Tasks whose calls are remembered; the one that ran longest ago is forgotten. */
#define STACKS_MAX	4096

/* A frame on top, entered from @site of the one that was there, 0: that is not known;
 * with its line if there are any.
 */
static void frame_push(struct call_track *track, enum frame_kind kind, u64 site,
		       u64 function, u64 ret, enum call_line_kind shown,
		       u64 address)
{
	const struct inlined *inlined = NULL;
	struct call_line *line = NULL;

	if (track->ops->inlined && site)
		inlined = track->ops->inlined(track->ctx, site);
	if (track->ops->line) {
		line = call_lines_add(track->lines);
		track->ops->line(track->ctx, shown, address, line);
	}
	call_stack_push(track->stack, kind, function, ret, inlined, line);
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

static u64 function_of(struct call_track *track, u64 address)
{
	struct place place;

	track->ops->find(track->ctx, address, &place);
	return place.start;
}

static void base_push(struct call_track *track, u64 address)
{
	frame_push(track, FRAME_BASE, 0, function_of(track, address), 0,
		   LINE_BASE, address);
}

/* Index of the frame below which everything is what was interrupted. */
static u32 entry_index(const struct call_stack *stack)
{
	u32 i = stack->count - 1;

	while (i && stack->frames[i].kind != FRAME_ENTRY)
		i--;
	return i;
}

static bool is_kernel(u64 address)
{
	return address >> 63;
}

/* A signal's handler, which may be left like any function. The kernel is left by its returns. */
static bool is_signal(const struct frame *frame)
{
	return frame->kind == FRAME_ENTRY && !is_kernel(frame->function);
}

/* Index of the entry into the kernel below which nothing goes on before that is left. */
static u32 kernel_index(const struct call_stack *stack)
{
	u32 i = stack->count - 1;

	while (i && (stack->frames[i].kind != FRAME_ENTRY || is_signal(&stack->frames[i])))
		i--;
	return i;
}

/* The index that a search from the top down to @least ends at, if that is not too far. */
static u32 search_end(const struct call_stack *stack, u32 least)
{
	return stack->count - 1 > least + SEARCH_MAX ? stack->count - 1 - SEARCH_MAX : least;
}

/* Drops what is above the topmost frame of a function, if there is one above index @least. */
static bool drop_to(struct call_stack *stack, u64 function, u32 least)
{
	u32 i;

	for (i = stack->count - 1; i > least; i--) {
		if (stack->frames[i].function == function) {
			call_stack_drop(stack, i + 1);
			return true;
		}
	}
	return false;
}

/* Execution is at an address that no known return leads to. If no frame is of its function, all
 * above frame @base has ended.
 */
static void resume_above(struct call_track *track, u64 address, u32 base)
{
	struct call_stack *stack = track->stack;

	if (drop_to(stack, function_of(track, address), kernel_index(stack)))
		return;
	call_stack_drop(stack, base + 1);
	base_push(track, address);
}

static void resume_at(struct call_track *track, u64 address)
{
	resume_above(track, address, entry_index(track->stack));
}

/* A thunk gives its frame, and its line if that can still be changed, to where
 * it leads.
 */
static bool thunk_pass(struct call_track *track, struct frame *top,
		       u64 address)
{
	struct call_line *shown = NULL;
	struct place place;

	if (top->kind != FRAME_CALL && top->kind != FRAME_TAIL)
		return false;
	if (track->lines) {
		shown = call_lines_at(track->lines, top->line);
		if (!shown)
			return false;
	}
	track->ops->find(track->ctx, top->function, &place);
	if (!is_thunk(&place))
		return false;
	if (shown)
		shown->address = address;
	call_stack_rename(track->stack, address);
	return true;
}

/* Control passes from the function on top to another, which will return to
 * the caller of the first.
 */
static void jump_to(struct call_track *track, u64 site, u64 address)
{
	struct call_stack *stack = track->stack;
	struct frame *top = call_stack_top(stack);
	u64 ret = top->ret;

	if (thunk_pass(track, top, address))
		return;
	/* The site is not of the frame that is on top then. */
	if (top->kind == FRAME_TAIL) {
		call_stack_drop(stack, stack->count - 1);
		site = 0;
	}
	frame_push(track, FRAME_TAIL, site, address, ret, LINE_CALL, address);
}

static void call_take(struct call_track *track, const struct kipt_record *r)
{
	u64 distance = r->value - r->ip;

	if (track->stack->count == 1)
		base_push(track, r->ip);
	if (distance + LOCAL_CALL_MAX < 2 * LOCAL_CALL_MAX) {
		u64 function = function_of(track, r->value);

		if (function != r->value &&
		    function == function_of(track, r->ip)) {
			call_stack_push(track->stack, FRAME_LOCAL, function,
					0, NULL, NULL);
			return;
		}
	}
	/* The call's length is not known: its own address is taken for where it
	 * returns to, see returns_to().
	 */
	frame_push(track, FRAME_CALL, r->ip, r->value, r->ip, LINE_CALL, r->value);
}

/* A near call has 2 to 15 bytes; nothing else ends there. */
static bool returns_to(const struct frame *frame, u64 address)
{
	return frame->ret && address - frame->ret - 2 <= INSN_MAX - 2;
}

static void ret_take(struct call_track *track, const struct kipt_record *r)
{
	struct call_stack *stack = track->stack;
	u32 i, least = stack->count > SEARCH_MAX ? stack->count - SEARCH_MAX :
						   1;
	struct frame *top = call_stack_top(stack);
	struct place place;
	u64 ret;
	bool tail;

	for (i = stack->count - 1; i >= least; i--) {
		if (is_signal(&stack->frames[i]))
			continue;
		if (stack->frames[i].kind == FRAME_ENTRY)
			break;
		if (!returns_to(&stack->frames[i], r->value))
			continue;
		ret = stack->frames[i].ret;
		tail = stack->frames[i].kind == FRAME_TAIL;
		call_stack_drop(stack, i + 1);
		call_stack_return(stack);
		top = call_stack_top(stack);
		if (tail && top->kind == FRAME_CALL && top->ret == ret)
			call_stack_return(stack);
		return;
	}
	track->ops->find(track->ctx, top->function, &place);
	if (top->kind == FRAME_LOCAL && !is_return_thunk(&place)) {
		call_stack_drop(stack, stack->count - 1);
		jump_to(track, r->ip, r->value);
	} else {
		resume_at(track, r->value);
	}
}

/* The page tables in use; 0: unknown, as after a gap, in which they may have changed. */
static u64 cr3_now(const struct call_track *track)
{
	return track->cr3_gaps == track->gaps ? track->cr3 : 0;
}

static void entry_take(struct call_track *track, const struct kipt_record *r)
{
	if (track->stack->count == 1)
		base_push(track, r->ip);
	if (!is_kernel(r->ip))
		track->stack->cr3 = cr3_now(track);
	frame_push(track, FRAME_ENTRY, r->ip, r->value, r->ip,
		   r->kind == KIPT_BRANCH_EVENT ? LINE_EVENT : LINE_SYSCALL,
		   r->value);
}

/* The entry that interrupted what goes on at an address; 0: none did. */
static u32 entry_at(const struct call_stack *stack, u64 address)
{
	u32 i;

	for (i = stack->count - 1; i; i--) {
		const struct frame *frame = &stack->frames[i];

		if (frame->kind == FRAME_ENTRY &&
		    address - frame->ret <= INSN_MAX)
			return i;
	}
	return 0;
}

/* The entry that a return from the kernel, or from an interrupt, ends. */
static u32 entry_find(const struct call_stack *stack, u64 address)
{
	u32 i = entry_at(stack, address);

	if (i)
		return i;
	for (i = stack->count - 1; i; i--) {
		const struct frame *frame = &stack->frames[i];

		if (frame->kind == FRAME_ENTRY &&
		    is_kernel(frame->ret) == is_kernel(address))
			return i;
	}
	return 0;
}

/* May the kernel have entered a signal's handler there? It begins new programs, too. */
static bool is_handler(struct call_track *track, u64 address)
{
	struct place place;

	track->ops->find(track->ctx, address, &place);
	return !is_kernel(address) && place.symbol && !place.offset && strcmp(place.symbol, "_start") &&
	       strcmp(place.symbol, "_dlstart") && strncmp(place.symbol, "_rt0_", 5);
}

/* A handler returns to a few instructions that enter the kernel, here at @at, to end it. If
 * another signal is pending, its handler begins then. Return: where that goes back to: where the
 * handler that ended had interrupted, otherwise @at.
 */
static u64 handler_next(struct call_stack *stack, u64 at)
{
	const struct frame *top = call_stack_top(stack);
	u64 ret;

	if (stack->count < 3 || top->kind != FRAME_BASE || at - top->function > INSN_MAX ||
	    !is_signal(top - 1))
		return at;
	ret = top[-1].ret;
	call_stack_drop(stack, stack->count - 1);
	call_stack_return(stack);
	return ret;
}

/* A signal's handler begins. Where many did at the same instruction, longjmp() left each of
 * them for a function that has no frame.
 */
static void handler_push(struct call_track *track, u64 address, u64 at)
{
	struct call_stack *stack = track->stack;
	u32 i, same = 0, least;

	at = handler_next(stack, at);
	least = search_end(stack, kernel_index(stack));
	for (i = stack->count - 1; i > least; i--) {
		if (is_signal(&stack->frames[i]) && stack->frames[i].function == address &&
		    stack->frames[i].ret == at && ++same == SAME_MAX) {
			call_stack_drop(stack, i);
			break;
		}
	}
	frame_push(track, FRAME_ENTRY, 0, address, at, LINE_BASE, address);
}

/* The kernel returned to where it had not come from: a signal's handler, the
 * end of one, or a new program.
 */
static void elsewhere_at(struct call_track *track, u64 address, u64 function, u64 at)
{
	struct call_stack *stack = track->stack;

	/* At its start a function begins anew: one more signal. */
	if (drop_to(stack, function,
		    address == function ? entry_index(stack) : kernel_index(stack)))
		return;
	/* Its end goes back to where it came from. */
	if (is_handler(track, address)) {
		handler_push(track, address, at);
	} else {
		if (handler_next(stack, at) != at && call_stack_top(stack)->kind == FRAME_BASE)
			call_stack_drop(stack, stack->count - 1);
		base_push(track, address);
	}
}

/* Has the task executed another program since it entered the kernel? Page tables of another
 * task say that this one runs no more, which is known only later where times are rare.
 */
static bool is_new_program(const struct call_track *track, u64 address)
{
	u64 before = track->stack->cr3, now = cr3_now(track);
	const struct call_stack *stack;

	if (!track->task_known || is_kernel(address) || !before || !now ||
	    page_tables_same(before, now))
		return false;
	for (stack = track->stacks; stack; stack = stack->next) {
		if (stack->cr3 && page_tables_same(stack->cr3, now))
			return false;
	}
	return true;
}

static void leave_take(struct call_track *track, const struct kipt_record *r)
{
	struct call_stack *stack = track->stack;
	u64 function = function_of(track, r->value), at;
	u32 entry;

	/* IRET to the next instruction only serialises. */
	if (r->value - r->ip <= LOCAL_CALL_MAX &&
	    function == function_of(track, r->ip))
		return;
	entry = entry_find(stack, r->value);
	if (!entry || is_new_program(track, r->value)) {
		call_stack_drop(stack, 1);
		base_push(track, r->value);
		return;
	}
	at = stack->frames[entry].ret;
	call_stack_drop(stack, entry + 1);
	if (r->value - at <= INSN_MAX) {
		call_stack_return(stack);
		return;
	}
	call_stack_drop(stack, entry);
	elsewhere_at(track, r->value, function, at);
}

/* Is what is on top longjmp(), or called by it? */
static bool in_longjmp(struct call_track *track)
{
	const struct call_stack *stack = track->stack;
	struct place place;
	u32 i;

	for (i = stack->count - 1; i && i + 3 > stack->count; i--) {
		track->ops->find(track->ctx, stack->frames[i].function, &place);
		if (place.symbol && strstr(place.symbol, "longjmp"))
			return true;
	}
	return false;
}

/* longjmp() and exceptions jump into the middle of a function that was waiting for
 * a call to return: what it had called has ended.
 */
static void landing_take(struct call_track *track, u64 address, u64 function)
{
	struct call_stack *stack = track->stack;

	/* Hooks and adapters of JITs skip a function's first instructions to call it. */
	if (address - function > ENTRY_MAX || in_longjmp(track))
		drop_to(stack, function, search_end(stack, kernel_index(stack)));
}

static void jump_take(struct call_track *track, const struct kipt_record *r)
{
	struct frame *top = call_stack_top(track->stack);
	struct place place;

	if (top->kind == FRAME_ROOT || top->function == r->value ||
	    (top->changes == track->changes && r->value - top->first < top->size))
		return;
	track->ops->find(track->ctx, r->value, &place);
	if (place.symbol && place.start == top->function) {
		top->changes = track->changes;
		top->first = place.first;
		top->size = place.end - place.first;
	}
	if (place.symbol && !place.offset && !is_return_thunk(&place))
		jump_to(track, r->ip, r->value);
	else if (place.offset && r->kind == KIPT_BRANCH_JUMP_IND)
		landing_take(track, r->value, place.start);
}

static void branch_take(struct call_track *track, const struct kipt_record *r)
{
	switch (r->kind) {
	case KIPT_BRANCH_CALL:
	case KIPT_BRANCH_CALL_IND:
		call_take(track, r);
		break;
	case KIPT_BRANCH_RET:
		ret_take(track, r);
		break;
	case KIPT_BRANCH_JUMP:
	case KIPT_BRANCH_JUMP_IND:
		jump_take(track, r);
		break;
	case KIPT_BRANCH_SYSCALL:
	case KIPT_BRANCH_EVENT:
		entry_take(track, r);
		break;
	case KIPT_BRANCH_SYSRET:
	case KIPT_BRANCH_IRET:
		leave_take(track, r);
		break;
	case KIPT_BRANCH_COND:
		break;
	default:
		resume_at(track, r->value);
	}
}

u32 call_track_branches(struct call_track *track, const struct kipt_record *records, u32 count)
{
	u32 n;

	for (n = 0; n < count && records[n].type == KIPT_RECORD_BRANCH &&
		    !record_crosses_vm(&records[n]); n++)
		branch_take(track, &records[n]);
	return n;
}

static void stack_unlink(struct call_track *track, struct call_stack *stack)
{
	*(stack->prev ? &stack->prev->next : &track->stacks) = stack->next;
	*(stack->next ? &stack->next->prev : &track->last) = stack->prev;
	stack->prev = NULL;
	stack->next = NULL;
}

/* It becomes the first. */
static void stack_link(struct call_track *track, struct call_stack *stack)
{
	stack->next = track->stacks;
	*(stack->next ? &stack->next->prev : &track->last) = stack;
	track->stacks = stack;
}

static bool stack_index(struct call_track *track, struct call_stack *stack)
{
	return lookup_add(&track->stack_of, stack->tid, (size_t)stack);
}

/* Tasks that are gone are in the index until they are too many. */
static bool index_clean(struct call_track *track)
{
	struct call_stack *stack;

	if (track->stack_of.count < 4 * STACKS_MAX)
		return true;
	lookup_free(&track->stack_of);
	for (stack = track->stacks; stack; stack = stack->next) {
		if (!stack_index(track, stack))
			return false;
	}
	return true;
}

/* The last of them ran longest ago. */
static void stack_forget(struct call_track *track)
{
	struct call_stack *last = track->last;
	size_t *indexed = lookup_get(&track->stack_of, last->tid);

	if (indexed)
		*indexed = 0;
	stack_unlink(track, last);
	call_stack_destroy(last);
	track->stack_count--;
}

static struct call_stack *stack_make(struct call_track *track, u32 tid)
{
	struct call_stack *stack = call_stack_create(tid, track->lines,
						     track->fold);

	if (!stack)
		return NULL;
	if (!index_clean(track) || !stack_index(track, stack)) {
		call_stack_destroy(stack);
		return NULL;
	}
	if (track->stack_count == STACKS_MAX)
		stack_forget(track);
	stack->watch = track->ops->watch;
	stack->ctx = track->ctx;
	stack->gaps = track->gaps;
	track->stack_count++;
	return stack;
}

static struct call_stack *stack_get(struct call_track *track, u32 tid)
{
	size_t *indexed = lookup_get(&track->stack_of, tid);
	struct call_stack *stack = NULL;

	if (indexed && *indexed) {
		stack = (struct call_stack *)*indexed;
		stack_unlink(track, stack);
	} else {
		stack = stack_make(track, tid);
	}
	if (stack)
		stack_link(track, stack);
	return stack;
}

/* What ran is this task's, as somebody says now. */
static void stack_name(struct call_track *track, u32 tid)
{
	struct call_stack *stack = track->stack;
	size_t *indexed = lookup_get(&track->stack_of, stack->tid);

	if (stack->tid == tid)
		return;
	if (indexed)
		*indexed = 0;
	stack->tid = tid;
	stack_index(track, stack);
}

void call_track_end(struct call_track *track)
{
	struct call_stack *stack;

	while ((stack = track->stacks)) {
		stack_unlink(track, stack);
		call_stack_destroy(stack);
	}
	lookup_free(&track->stack_of);
	track->stack = NULL;
	track->stack_count = 0;
}

bool call_track_begin(struct call_track *track)
{
	call_track_end(track);
	track->stack = stack_get(track, 0);
	track->task_known = false;
	track->cr3 = 0;
	return track->stack;
}

bool call_track_task(struct call_track *track, u32 tid)
{
	struct call_stack *stack;

	if (track->task_known && track->stack->tid == tid)
		return false;
	if (track->task_known) {
		stack = stack_get(track, tid);
		if (stack)
			track->stack = stack;
	}
	stack_name(track, tid);
	track->task_known = true;
	return true;
}

void call_track_context(struct call_track *track, u64 cr3)
{
	track->cr3 = cr3;
	track->cr3_gaps = track->gaps;
}

/* A signal's handler ends, and what it had interrupted goes on. */
static bool handler_end(struct call_track *track, u64 address)
{
	u32 entry = entry_at(track->stack, address);

	if (!entry)
		return false;
	call_stack_drop(track->stack, entry + 1);
	call_stack_return(track->stack);
	return true;
}

/* Where only user code is traced: a signal's handler begins. */
static bool handler_begin(struct call_track *track, u64 address)
{
	struct call_stack *stack = track->stack;

	if (!stack->left || !stack->left_user || stack->gaps != track->gaps ||
	    !is_handler(track, address))
		return false;
	handler_push(track, address, stack->left);
	return true;
}

/* A handler may end elsewhere than where it had interrupted; a new program may begin in it. */
static void resume_after(struct call_track *track, u64 address)
{
	struct call_stack *stack = track->stack;
	u32 count = stack->count;

	handler_next(stack, stack->left);
	if (stack->count == count)
		resume_above(track, address, kernel_index(stack));
	else
		resume_above(track, address, stack->count - 1 -
			     (call_stack_top(stack)->kind == FRAME_BASE));
}

static void enable_take(struct call_track *track, const struct kipt_record *r)
{
	struct call_stack *stack = track->stack;

	/* Its task goes on where it was. */
	if (r->flags & KIPT_RF_NO_IP)
		return;
	if (stack->count == 1)
		base_push(track, r->ip);
	else if ((!stack->left || r->ip - stack->left > INSN_MAX) &&
		 !handler_end(track, r->ip) && !handler_begin(track, r->ip))
		resume_after(track, r->ip);
	stack->gaps = track->gaps;
	stack->left = 0;
}

/* A PSB has where execution is: news at the start and after a gap. */
static void sync_take(struct call_track *track, const struct kipt_record *r)
{
	struct call_stack *stack = track->stack;

	if (stack->gaps != track->gaps || stack->count == 1)
		enable_take(track, r);
}

static void disable_take(struct call_track *track, const struct kipt_record *r)
{
	if (r->kind == KIPT_DISABLE_OTHERS)
		return;
	track->stack->left = r->flags & KIPT_RF_NO_IP ? 0 : r->ip;
	/* Of a branch that leaves an address range the target is known. */
	track->stack->left_user = r->flags & KIPT_RF_NO_VALUE;
}

void call_track_take(struct call_track *track, const struct kipt_record *r)
{
	switch (r->type) {
	case KIPT_RECORD_BRANCH:
		branch_take(track, r);
		break;
	case KIPT_RECORD_ENABLE:
		enable_take(track, r);
		break;
	case KIPT_RECORD_SYNC:
		sync_take(track, r);
		break;
	case KIPT_RECORD_DISABLE:
		disable_take(track, r);
		break;
	case KIPT_RECORD_GAP:
		track->gaps++;
	}
}

static u64 stack_open(const struct call_stack *stack)
{
	u64 open = 0;
	u32 i;

	for (i = 0; i < stack->count; i++) {
		u8 kind = stack->frames[i].kind;

		open += kind == FRAME_CALL || kind == FRAME_TAIL || kind == FRAME_ENTRY;
	}
	return open;
}

u64 call_track_open(const struct call_track *track)
{
	const struct call_stack *stack;
	u64 open = 0;

	for (stack = track->stacks; stack; stack = stack->next)
		open += stack_open(stack);
	return open;
}
