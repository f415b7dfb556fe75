/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The calls a task is in, as its trace shows them, and the recognition of
 * calls that repeat what their sibling just did. Lines are made and taken
 * back in struct call_lines.
 */
#ifndef KIPT_CALL_STACK_H
#define KIPT_CALL_STACK_H

#include "../cli/lookup.h"
#include "call_lines.h"

/**
 * enum frame_kind - how a frame came to be
 * @FRAME_ROOT: the bottom of each stack, no call
 * @FRAME_BASE: execution was in it when it came into view
 * @FRAME_CALL: by a call
 * @FRAME_TAIL: by a jump from the frame below, to whose caller it returns
 * @FRAME_LOCAL: a call within a function, as thunks make; has no line
 * @FRAME_ENTRY: by a system call, interrupt or exception
 */
enum frame_kind {
	FRAME_ROOT = 0,
	FRAME_BASE,
	FRAME_CALL,
	FRAME_TAIL,
	FRAME_LOCAL,
	FRAME_ENTRY,
};

#define SIBLINGS	8

/**
 * struct sibling - a call that returned
 * @hash: of it and all below it
 * @line: its line
 * @count: how often it came in a row
 */
struct sibling {
	u64 hash;
	u64 line;
	u32 count;
};

/**
 * struct frame - one call
 * @kind: enum frame_kind
 * @depth: of its line
 * @function: address of its function
 * @first, @size: addresses that are in its function too, as long as the track's changes are
 *	@changes
 * @ret: address of the call or of what was interrupted, which it returns
 *	after or to; 0 if not known
 * @line: its line, unless it is local
 * @inlined: the innermost inlined function whose code made the call; NULL: none
 * @hash: of what was called so far
 * @sibling_count: how many of @siblings are valid
 * @symbol, @node, @begun, @outer_begun, @gaps, @outer, @shown, @within, @within_end, @level,
 *	@source, @number, @branches, @cycles, @insns: the watcher's
 * @siblings: the last calls it made that returned
 */
struct frame {
	u8 kind;
	u32 depth;
	u64 function;
	u64 first, size, changes;
	u64 ret;
	u64 line;
	const struct inlined *inlined;
	u64 hash;
	u32 sibling_count;
	u32 symbol;
	u32 node;
	u64 begun, outer_begun;
	u64 gaps;
	bool outer;
	bool shown;
	const struct inlined *within;
	u64 within_end;
	u32 level;
	u32 source;
	u64 number;
	u64 branches;
	u64 cycles, insns;
	struct sibling siblings[SIBLINGS];
};

struct call_stack;

/**
 * struct call_watch - is called for frames
 * @enter: a frame is on top now
 * @leave: it is going; @returned: its return was seen, otherwise nobody knows
 *	when its call ended, or whether
 * @rename: the frame on top is another function's from here on; may be NULL
 */
struct call_watch {
	void (*enter)(void *ctx, struct call_stack *stack, struct frame *frame);
	void (*leave)(void *ctx, struct call_stack *stack, struct frame *frame,
		      bool returned);
	void (*rename)(void *ctx, struct call_stack *stack,
		       struct frame *frame);
};

/**
 * struct call_stack - the frames of one task on one CPU
 * @tid: the task
 * @frames: [0] is the root
 * @count: frames, at least 1
 * @room: frames there is memory for
 * @lines: where lines go; NULL: there are none
 * @fold: repeated calls are folded
 * @watch: called for its frames, or NULL
 * @ctx: first argument of its functions
 * @gaps: how many its CPU had when execution was known for the last time
 * @left: where tracing of the task ended, to see whether it goes on there; 0: nowhere
 * @left_user: it ended as the kernel was entered
 * @cr3: the page tables when the kernel was entered from user code; 0: unknown
 * @active, @seen, @wanted, @branches, @cycles, @insns, @insns_seen, @lane, @open, @sampled,
 *	@lost: the watcher's; empty when the stack is made
 * @kept: the watcher's, too; freed with the stack
 * @next, @prev: the stacks whose tasks ran before it and after it
 */
struct call_stack {
	u32 tid;
	struct frame *frames;
	u32 count;
	u32 room;
	struct call_lines *lines;
	bool fold;
	const struct call_watch *watch;
	void *ctx;
	u64 gaps;
	u64 left;
	bool left_user;
	u64 cr3;
	struct lookup active;
	u64 seen;
	u32 wanted;
	u64 branches;
	u64 cycles, insns, insns_seen;
	u32 lane;
	u32 open;
	u64 sampled;
	bool lost;
	void *kept;
	struct call_stack *next, *prev;
};

/**
 * call_stack_create() - a stack that holds the root
 * @tid: whose
 * @lines: must live as long, or NULL
 * @fold: fold repeated calls
 *
 * Return: the caller's until call_stack_destroy(); NULL without memory.
 */
struct call_stack *call_stack_create(u32 tid, struct call_lines *lines,
				     bool fold);

/**
 * call_stack_destroy() - free it
 * @stack: may be NULL
 */
void call_stack_destroy(struct call_stack *stack);

/**
 * call_stack_top() - the frame that executes
 * @stack: stack
 *
 * Return: the frame, valid until the next push.
 */
static inline struct frame *call_stack_top(struct call_stack *stack)
{
	return &stack->frames[stack->count - 1];
}

/**
 * call_stack_push() - a new frame
 * @stack: stack
 * @kind: not FRAME_ROOT
 * @function: its address
 * @ret: as in struct frame
 * @inlined: as in struct frame
 * @line: of call_lines_add(), just now; its depth and inlined function are set here;
 *	NULL: nothing is shown
 *
 * A stack has a bound: at its end the oldest half is forgotten.
 */
void call_stack_push(struct call_stack *stack, enum frame_kind kind,
		     u64 function, u64 ret, const struct inlined *inlined,
		     struct call_line *line);

/**
 * call_stack_rename() - the frame on top is another function's
 * @stack: stack, not at its root
 * @function: its address
 */
void call_stack_rename(struct call_stack *stack, u64 function);

/**
 * call_stack_return() - the return of the frame on top was seen
 * @stack: stack, not at its root
 */
void call_stack_return(struct call_stack *stack);

/**
 * call_stack_drop() - frames are gone, and nobody saw them return
 * @stack: stack
 * @count: so many are left, at least 1
 */
void call_stack_drop(struct call_stack *stack, u32 count);

/**
 * call_stack_note() - a line that belongs to the frame that executes
 * @stack: stack
 * @line: of call_lines_add(), just now; its depth is set here
 * @hash: lines with the same hash say the same
 */
void call_stack_note(struct call_stack *stack, struct call_line *line,
		     u64 hash);

#endif /* KIPT_CALL_STACK_H */
