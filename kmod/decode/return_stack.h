/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Return addresses of near CALLs, for RET compression (Intel SDM Vol. 3C,
 * "Indirect Transfer Compression for Returns (RET)"). A watch says what was
 * done to them since it began. Pure, any context.
 */
#ifndef KIPT_DECODE_RETURN_STACK_H
#define KIPT_DECODE_RETURN_STACK_H

#include "port.h"

#define KIPT_RETURN_STACK_SIZE	64
/* Twice as large: slots above the top are free to be written. */
#define KIPT_RETURN_STACK_RING	128
/* Addresses a watch keeps. */
#define KIPT_RETURN_STACK_GUARDS	8

/**
 * struct kipt_stack_watch - what was done to the stack since the watch began
 * @net: pushes less pops
 * @below: addresses popped that were there before
 * @low: depth is at least this behind it, whatever it was before
 * @high: and at most this
 * @nr_guards: of @guards
 * @cleared: all that was there before is gone
 * @bad: more happened than this can say
 * @guards: the youngest addresses from before, all of them where RETs went
 *
 * Whatever the depth was before, d: behind it is d + @net, but not less than
 * @low and not more than @high. What is above @below is pushed, @net + @below
 * addresses.
 */
struct kipt_stack_watch {
	s32 net;
	u32 below;
	u32 low;
	u32 high;
	u32 nr_guards;
	bool cleared;
	bool bad;
	u64 guards[KIPT_RETURN_STACK_GUARDS];
};

/**
 * struct kipt_return_stack - the last KIPT_RETURN_STACK_SIZE return addresses
 * @top: slot of the next, modulo the ring
 * @depth: how many there are
 * @watch: what was done lately
 * @ip: the ring
 * @link: of a CALL that the graph followed, to the node behind it, whose address is the
 *	one that counts; 0: @ip is
 */
struct kipt_return_stack {
	u32 top;
	u32 depth;
	struct kipt_stack_watch watch;
	u64 ip[KIPT_RETURN_STACK_RING];
	u32 link[KIPT_RETURN_STACK_RING];
};

/**
 * kipt_return_stack_watch() - begin to watch
 * @stack: the stack
 */
static inline void kipt_return_stack_watch(struct kipt_return_stack *stack)
{
	stack->watch.net = 0;
	stack->watch.below = 0;
	stack->watch.low = 0;
	stack->watch.high = KIPT_RETURN_STACK_SIZE;
	stack->watch.nr_guards = 0;
	stack->watch.cleared = false;
	stack->watch.bad = false;
}

/**
 * kipt_return_stack_clear() - no CALL was seen
 * @stack: the stack
 */
static inline void kipt_return_stack_clear(struct kipt_return_stack *stack)
{
	struct kipt_stack_watch *watch = &stack->watch;

	stack->depth = 0;
	watch->cleared = true;
	watch->bad |= watch->net || watch->below;
	/* Else calls without returns would add up over a whole trace. */
	watch->net = 0;
	watch->below = 0;
}

/**
 * kipt_return_stack_push() - a CALL
 * @stack: the stack; the oldest address goes if it is full
 * @ip: address behind the CALL
 */
static inline void kipt_return_stack_push(struct kipt_return_stack *stack,
					  u64 ip)
{
	struct kipt_stack_watch *watch = &stack->watch;

	stack->link[stack->top % KIPT_RETURN_STACK_RING] = 0;
	stack->ip[stack->top++ % KIPT_RETURN_STACK_RING] = ip;
	if (stack->depth < KIPT_RETURN_STACK_SIZE)
		stack->depth++;
	watch->net++;
	watch->low++;
	watch->high += watch->high < KIPT_RETURN_STACK_SIZE;
	watch->bad |= watch->low > KIPT_RETURN_STACK_SIZE / 2;
}

/* The watch, of an address that goes. */
static inline void kipt_stack_watch_pop(struct kipt_stack_watch *watch, u64 ip,
					bool used)
{
	if (watch->net + (s32)watch->below == 0) {
		if (used && watch->nr_guards == watch->below &&
		    watch->below < KIPT_RETURN_STACK_GUARDS)
			watch->guards[watch->nr_guards++] = ip;
		else
			watch->bad |= used;
		watch->below++;
	}
	watch->net--;
	watch->low -= watch->low > 0;
	watch->high -= watch->high > 0;
}

/**
 * kipt_return_stack_pop() - a RET
 * @stack: the stack
 * @ip: written: the youngest address, only on success
 * @used: that is where the RET went; else it is only dropped
 *
 * Return: false if no CALL is known.
 */
static inline bool kipt_return_stack_pop(struct kipt_return_stack *stack,
					 u64 *ip, bool used)
{
	bool some = stack->depth > 0;

	if (some) {
		stack->depth--;
		*ip = stack->ip[--stack->top % KIPT_RETURN_STACK_RING];
	}
	kipt_stack_watch_pop(&stack->watch, *ip, used);
	return some;
}

/**
 * kipt_return_stack_at() - an address, whether it is there or not
 * @stack: the stack
 * @below: how many are younger
 *
 * Return: where it stands.
 */
static inline const u64 *
kipt_return_stack_at(const struct kipt_return_stack *stack, u32 below)
{
	return &stack->ip[(stack->top - 1 - below) % KIPT_RETURN_STACK_RING];
}

#endif /* KIPT_DECODE_RETURN_STACK_H */
