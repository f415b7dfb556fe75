/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finding a path and taking it: inline, since it is all that is done for most
 * packets. Any context.
 */
#ifndef KIPT_DECODE_PATH_TAKE_H
#define KIPT_DECODE_PATH_TAKE_H

#include "flow_state.h"

static inline bool kipt_path_guards_hold(const struct kipt_return_stack *stack,
					 const struct kipt_stack_effect *more)
{
	u32 i;

	if (stack->depth < more->guards)
		return false;
	for (i = 0; i < more->guards; i++) {
		if (*kipt_return_stack_at(stack, i) != more->ips[more->pushes + i])
			return false;
	}
	return true;
}

static inline void kipt_path_apply_more(struct kipt_return_stack *stack,
					const struct kipt_stack_effect *more)
{
	s32 depth = (s32)stack->depth + more->net;
	u32 top = stack->top + (u32)(s32)more->net, i;

	stack->top = top;
	for (i = 0; i < more->pushes; i++)
		stack->ip[(top - 1 - i) % KIPT_RETURN_STACK_RING] = more->ips[i];
	depth = depth < more->low ? more->low : depth;
	stack->depth = (u32)(depth > more->high ? more->high : depth);
}

/* The proof, and then the effect on the stack. Returns false if the proof does not hold:
 * nothing was done.
 */
static inline bool kipt_path_take_more(struct kipt_flow *flow, u32 effect)
{
	struct kipt_return_stack *stack = &flow->stack;
	u32 argument = effect & KIPT_STACK_ARGUMENT;
	const struct kipt_stack_effect *more;
	u64 ip;

	switch (effect >> KIPT_STACK_SHIFT) {
	case KIPT_STACK_SAME:
		if (stack->depth + argument > KIPT_RETURN_STACK_SIZE)
			stack->depth = KIPT_RETURN_STACK_SIZE - argument;
		return true;
	case KIPT_STACK_PUSH:
		stack->ip[stack->top++ % KIPT_RETURN_STACK_RING] =
			flow->blocks.ips[argument];
		stack->depth += stack->depth < KIPT_RETURN_STACK_SIZE;
		return true;
	case KIPT_STACK_RET:
		ip = stack->ip[(stack->top - 1) % KIPT_RETURN_STACK_RING];
		if (unlikely(ip != flow->blocks.ips[argument] || !stack->depth))
			return false;
		stack->top--;
		stack->depth--;
		return true;
	case KIPT_STACK_DROP:
		stack->top -= stack->depth > 0;
		stack->depth -= stack->depth > 0;
		return true;
	case KIPT_STACK_CLEAR:
		stack->depth = 0;
		return true;
	case KIPT_STACK_MORE:
		more = kipt_path_more(&flow->paths, effect);
		if (!kipt_path_guards_hold(stack, more))
			return false;
		kipt_path_apply_more(stack, more);
		return true;
	default:
		return false;
	}
}

/* The same. What most outcomes do, nothing, a CALL or a RET, is one step without a branch on
 * which: that follows no pattern.
 */
static inline bool kipt_path_take_stack(struct kipt_flow *flow, u32 effect)
{
	struct kipt_return_stack *stack = &flow->stack;
	u32 kind = effect >> KIPT_STACK_SHIFT, argument = effect & KIPT_STACK_ARGUMENT;
	u32 ret = kind >> 1, push = kind & 1, depth = stack->depth;
	u64 *slot, ip;

	if (unlikely(kind > KIPT_STACK_RET))
		return kipt_path_take_more(flow, effect);
	ip = flow->blocks.ips[argument];
	slot = &stack->ip[(stack->top - ret) % KIPT_RETURN_STACK_RING];
	if (unlikely(((*slot ^ ip) & -(u64)ret) | (depth < ret) |
		     (depth + (argument & -(u32)!kind) > KIPT_RETURN_STACK_SIZE)))
		return !kind && kipt_path_take_more(flow, effect);
	*slot = ip;
	stack->top += push - ret;
	depth += push - ret;
	stack->depth = depth < KIPT_RETURN_STACK_SIZE ? depth : KIPT_RETURN_STACK_SIZE;
	return true;
}

#endif
