/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Return addresses of near CALLs, for RET compression (Intel SDM Vol. 3C,
 * "Indirect Transfer Compression for Returns (RET)"). Pure, any context.
 */
#ifndef KIPT_DECODE_RETURN_STACK_H
#define KIPT_DECODE_RETURN_STACK_H

#include "../port.h"

#define KIPT_RETURN_STACK_SIZE	64

/**
 * struct kipt_return_stack - the last KIPT_RETURN_STACK_SIZE return addresses
 * @top: slot of the next, modulo the ring
 * @depth: how many there are
 * @ip: the ring
 * @link: of a CALL that the graph followed, to the node after it, whose address is the
 *	one that counts; 0: @ip is
 */
struct kipt_return_stack {
	u32 top;
	u32 depth;
	u64 ip[KIPT_RETURN_STACK_SIZE];
	u32 link[KIPT_RETURN_STACK_SIZE];
};

/**
 * kipt_return_stack_push() - a CALL
 * @stack: the stack; the oldest address goes if it is full
 * @ip: address after the CALL
 */
static inline void kipt_return_stack_push(struct kipt_return_stack *stack,
					  u64 ip)
{
	stack->link[stack->top % KIPT_RETURN_STACK_SIZE] = 0;
	stack->ip[stack->top++ % KIPT_RETURN_STACK_SIZE] = ip;
	if (stack->depth < KIPT_RETURN_STACK_SIZE)
		stack->depth++;
}

/**
 * kipt_return_stack_pop() - a RET
 * @stack: the stack
 * @ip: written: the youngest address, only on success
 *
 * Return: false if no CALL is known.
 */
static inline bool kipt_return_stack_pop(struct kipt_return_stack *stack, u64 *ip)
{
	if (!stack->depth)
		return false;
	stack->depth--;
	*ip = stack->ip[--stack->top % KIPT_RETURN_STACK_SIZE];
	return true;
}

#endif /* KIPT_DECODE_RETURN_STACK_H */
