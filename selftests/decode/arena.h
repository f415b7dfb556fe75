/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory for the flows of tests. A flow gets what the last flow of the same size gave back,
 * with whatever that left in it: kipt_flow_init() must not need zeroes. Under
 * AddressSanitizer, which poisons new memory, tests are several times as fast for it.
 */
#ifndef KIPT_SELFTESTS_DECODE_ARENA_H
#define KIPT_SELFTESTS_DECODE_ARENA_H

#include <stdlib.h>

#include "../../kmod/decode/flow.h"

/* Before an arena. Its size is the alignment of a flow. */
struct arena_head {
	size_t size;
} __attribute__((aligned(64)));

/* The one that was given back last, or NULL. */
static struct arena_head *arena_spare;

/**
 * arena_take - memory for a flow
 * @config: the flow's
 * @size: set to its bytes
 *
 * Return: memory at a multiple of 64, for arena_give(), or NULL if there is none.
 */
static inline void *arena_take(const struct kipt_flow_config *config, size_t *size)
{
	struct arena_head *head = arena_spare;

	*size = (kipt_flow_size(config) + 63) & ~(size_t)63;
	if (head && head->size == *size) {
		arena_spare = NULL;
		return head + 1;
	}
	head = aligned_alloc(64, sizeof(*head) + *size);
	if (!head)
		return NULL;
	head->size = *size;
	return head + 1;
}

/**
 * arena_give - the memory of a flow that is no longer used
 * @arena: from arena_take()
 */
static inline void arena_give(void *arena)
{
	free(arena_spare);
	arena_spare = (struct arena_head *)arena - 1;
}

#endif
