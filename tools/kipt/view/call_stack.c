// SPDX-License-Identifier: GPL-2.0-only
/*
 * Frames and folding, see call_stack.h. What moves control from frame to
 * frame is decided in call_track.c.
 */
#include <stdlib.h>
#include <string.h>

#include "call_stack.h"

#define FRAMES_MAX	4096
/* Longest sequence of siblings whose repetition is seen. */
#define GROUP_MAX	(SIBLINGS / 2)

struct call_stack *call_stack_create(u32 tid, struct call_lines *lines,
				     bool fold)
{
	struct call_stack *stack = calloc(1, sizeof(*stack));

	if (!stack)
		return NULL;
	stack->tid = tid;
	stack->lines = lines;
	stack->fold = fold;
	stack->room = 32;
	stack->count = 1;
	stack->frames = calloc(stack->room, sizeof(*stack->frames));
	if (stack->frames)
		return stack;
	free(stack);
	return NULL;
}

void call_stack_destroy(struct call_stack *stack)
{
	if (!stack)
		return;
	while (stack->watch && stack->count > 1) {
		stack->watch->leave(stack->ctx, stack, call_stack_top(stack),
				    false);
		stack->count--;
	}
	lookup_free(&stack->active);
	free(stack->kept);
	free(stack->frames);
	free(stack);
}

static void frames_forget(struct call_stack *stack)
{
	u32 i, gone = (stack->count - 1) / 2;

	for (i = 1; stack->watch && i <= gone; i++)
		stack->watch->leave(stack->ctx, stack, &stack->frames[i],
				    false);
	memmove(&stack->frames[1], &stack->frames[1 + gone],
		(stack->count - 1 - gone) * sizeof(*stack->frames));
	stack->count -= gone;
}

static void room_make(struct call_stack *stack)
{
	struct frame *frames;

	if (stack->count < stack->room)
		return;
	frames = stack->room < FRAMES_MAX ?
		 realloc(stack->frames, 2 * stack->room * sizeof(*frames)) :
		 NULL;
	if (!frames) {
		frames_forget(stack);
		return;
	}
	stack->frames = frames;
	stack->room *= 2;
}

/* GCC clears so many bytes with REP STOS, which is slower than to copy this. */
static const struct frame unused;

void call_stack_push(struct call_stack *stack, enum frame_kind kind,
		     u64 function, u64 ret, const struct inlined *inlined,
		     struct call_line *line)
{
	struct frame *below, *frame;

	room_make(stack);
	below = call_stack_top(stack);
	frame = &stack->frames[stack->count++];
	memcpy(frame, &unused, offsetof(struct frame, siblings));
	frame->kind = kind;
	frame->function = function;
	frame->ret = ret;
	frame->inlined = inlined;
	frame->depth = below->kind == FRAME_ROOT ? 0 : below->depth + !!line;
	if (line) {
		line->depth = frame->depth;
		line->inlined = inlined;
		frame->line = call_lines_last(stack->lines);
	}
	if (stack->watch)
		stack->watch->enter(stack->ctx, stack, frame);
}

void call_stack_rename(struct call_stack *stack, u64 function)
{
	struct frame *frame = call_stack_top(stack);

	frame->function = function;
	frame->size = 0;
	if (stack->watch && stack->watch->rename)
		stack->watch->rename(stack->ctx, stack, frame);
}

static bool siblings_repeat(const struct frame *frame, u32 period)
{
	u32 i, last = frame->sibling_count - period;

	if (frame->sibling_count < 2 * period)
		return false;
	for (i = last; i < frame->sibling_count; i++) {
		const struct sibling *a = &frame->siblings[i - period];
		const struct sibling *b = &frame->siblings[i];

		if (a->hash != b->hash || a->count != b->count)
			return false;
	}
	return true;
}

/* The last @period siblings did what the @period before them had done. */
static bool group_fold(struct call_stack *stack, struct frame *frame,
		       u32 period)
{
	u32 first = frame->sibling_count - 2 * period;
	struct call_line *line;

	line = call_lines_at(stack->lines, frame->siblings[first].line);
	if (!line || (line->group_count && line->group != period))
		return false;
	call_lines_fold(stack->lines, frame->siblings[first].line,
			frame->siblings[first + period].line);
	line->group = period;
	line->group_count = line->group_count ? line->group_count + 1 : 2;
	frame->sibling_count -= period;
	return true;
}

static bool single_fold(struct call_stack *stack, struct frame *frame,
			u64 hash, u64 number)
{
	struct call_line *line;
	struct sibling *last;

	if (!frame->sibling_count)
		return false;
	last = &frame->siblings[frame->sibling_count - 1];
	if (last->hash != hash)
		return false;
	line = call_lines_at(stack->lines, last->line);
	if (!line || line->group_count)
		return false;
	call_lines_fold(stack->lines, last->line, number);
	line->count++;
	last->count++;
	return true;
}

static void sibling_add(struct call_stack *stack, struct frame *frame,
			u64 hash, u64 line)
{
	u32 period;

	if (stack->fold && single_fold(stack, frame, hash, line))
		return;
	if (frame->sibling_count == SIBLINGS) {
		memmove(frame->siblings, frame->siblings + 1,
			(SIBLINGS - 1) * sizeof(*frame->siblings));
		frame->sibling_count--;
	}
	frame->siblings[frame->sibling_count++] = (struct sibling){
		.hash = hash, .line = line, .count = 1,
	};
	for (period = 2; stack->fold && period <= GROUP_MAX; period++) {
		if (siblings_repeat(frame, period) &&
		    group_fold(stack, frame, period))
			break;
	}
}

static void frame_end(struct call_stack *stack, bool returned)
{
	struct frame *frame = call_stack_top(stack), *below = frame - 1;
	u64 hash = lookup_mix(lookup_mix(frame->hash, frame->function),
			      frame->kind);
	u64 line = frame->line;

	/* What inlined code called at one place is not repeated at another. */
	if (frame->inlined)
		hash = lookup_mix(hash, (size_t)frame->inlined);
	if (stack->watch)
		stack->watch->leave(stack->ctx, stack, frame, returned);
	stack->count--;
	if (!stack->lines)
		return;
	below->hash = lookup_mix(below->hash, hash);
	if (frame->kind != FRAME_LOCAL)
		sibling_add(stack, below, hash, line);
}

void call_stack_return(struct call_stack *stack)
{
	frame_end(stack, true);
}

void call_stack_drop(struct call_stack *stack, u32 count)
{
	while (stack->count > count)
		frame_end(stack, false);
}

void call_stack_note(struct call_stack *stack, struct call_line *line,
		     u64 hash)
{
	struct frame *frame = call_stack_top(stack);

	line->depth = frame->kind == FRAME_ROOT ? 0 : frame->depth + 1;
	frame->hash = lookup_mix(frame->hash, hash);
	sibling_add(stack, frame, hash, call_lines_last(stack->lines));
}
