/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The CPU's stack of return addresses, kept the way the CPU keeps it: 64
 * deep, the oldest falls off, every near RET pops (Intel SDM Vol. 3C,
 * "Indirect Transfer Compression for Returns (RET)"). Any context.
 */
#ifndef KIPT_DECODE_RETURN_STACK_H
#define KIPT_DECODE_RETURN_STACK_H

#include "port.h"

#define KIPT_RETURN_STACK_SIZE	64
/* Twice as large: slots above the top are free to be written. */
#define KIPT_RETURN_STACK_RING	128

/**
 * struct kipt_return_stack - addresses behind the youngest near CALLs
 * @top: index of the next push, modulo the ring's size
 * @depth: entries, 0..64
 * @ip: the ring
 */
struct kipt_return_stack {
	u32 top;
	u32 depth;
	u64 ip[KIPT_RETURN_STACK_RING];
};

/**
 * kipt_return_stack_clear() - forget all calls
 * @stack: the stack
 */
static inline void kipt_return_stack_clear(struct kipt_return_stack *stack)
{
	stack->depth = 0;
}

/**
 * kipt_return_stack_push() - a near CALL was executed
 * @stack: the stack
 * @ip: address behind the CALL
 */
static inline void kipt_return_stack_push(struct kipt_return_stack *stack,
					  u64 ip)
{
	stack->ip[stack->top++ % KIPT_RETURN_STACK_RING] = ip;
	if (stack->depth < KIPT_RETURN_STACK_SIZE)
		stack->depth++;
}

/**
 * kipt_return_stack_pop() - a near RET was executed
 * @stack: the stack
 * @ip: the youngest address; unchanged if there is none
 *
 * Return: false if the stack is empty.
 */
static inline bool kipt_return_stack_pop(struct kipt_return_stack *stack,
					 u64 *ip)
{
	if (!stack->depth)
		return false;
	stack->depth--;
	*ip = stack->ip[--stack->top % KIPT_RETURN_STACK_RING];
	return true;
}

/**
 * kipt_return_stack_at() - the slot of an address
 * @stack: the stack
 * @below: how many are younger
 *
 * Return: the slot; it holds nothing of worth if @below is not less than @depth.
 */
static inline const u64 *
kipt_return_stack_at(const struct kipt_return_stack *stack, u32 below)
{
	return &stack->ip[(stack->top - 1 - below) % KIPT_RETURN_STACK_RING];
}

/**
 * kipt_return_stack_peek() - look at an address without taking it
 * @stack: the stack
 * @below: how many are younger
 * @ip: the address; unchanged if there is none
 *
 * Return: false if the stack is not that deep.
 */
static inline bool kipt_return_stack_peek(const struct kipt_return_stack *stack,
					  u32 below, u64 *ip)
{
	if (stack->depth <= below)
		return false;
	*ip = *kipt_return_stack_at(stack, below);
	return true;
}

#endif /* KIPT_DECODE_RETURN_STACK_H */
