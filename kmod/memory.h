/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The one limit of memory that users can make the module allocate.
 */
#ifndef KIPT_MEMORY_H
#define KIPT_MEMORY_H

#include <linux/types.h>

/**
 * kipt_memory_charge() - take from the limit
 * @bytes: how much
 *
 * Context: any.
 *
 * Return: 0, or -ENOMEM if it is reached.
 */
static inline int kipt_memory_charge(u64 bytes)
{
	return 0;
}

/**
 * kipt_memory_uncharge() - give back
 * @bytes: how much
 */
static inline void kipt_memory_uncharge(u64 bytes)
{
}

#endif /* KIPT_MEMORY_H */
