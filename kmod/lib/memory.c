// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts what is allocated for users, against the limit. Owns the count and
 * nothing else. Any context, but for the functions that allocate.
 */
#include <linux/atomic.h>
#include <linux/bug.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "limits.h"
#include "memory.h"
#include "refuse.h"

static atomic64_t used = ATOMIC64_INIT(0);

int kipt_memory_charge(u64 bytes)
{
	u64 limit = kipt_limits()->memory;
	s64 before = atomic64_read(&used);

	do {
		if (bytes > limit || before > (s64)(limit - bytes))
			return -ENOMEM;
	} while (!atomic64_try_cmpxchg(&used, &before, before + bytes));
	return 0;
}

void kipt_memory_uncharge(u64 bytes)
{
	WARN_ON_ONCE(atomic64_sub_return(bytes, &used) < 0);
}

u64 kipt_memory_used(void)
{
	return atomic64_read(&used);
}

void *kipt_memory_alloc_raw(size_t bytes, gfp_t gfp)
{
	void *memory;

	might_sleep();
	if (kipt_memory_charge(bytes))
		return NULL;
	memory = kvmalloc(bytes, gfp);
	if (!memory)
		kipt_memory_uncharge(bytes);
	return memory;
}

void *kipt_memory_grow(void *memory, size_t used, size_t from, size_t to)
{
	void *grown = kipt_memory_alloc(to);

	if (!grown)
		return NULL;
	if (memory)
		memcpy(grown, memory, used);
	kipt_memory_free(memory, from);
	return grown;
}

void kipt_memory_free(void *memory, size_t bytes)
{
	if (!memory)
		return;
	kvfree(memory);
	kipt_memory_uncharge(bytes);
}

int kipt_memory_refuse(struct kipt_refusal *refusal, const char *what,
		       u64 bytes)
{
	u64 limit = kipt_limits()->memory, now = kipt_memory_used();

	if (now + bytes > limit)
		return kipt_refuse(refusal, NULL, -ENOMEM,
				   "%s: %llu KiB would pass the module's limit of %llu MiB (parameter memory_limit), of which %llu KiB are in use; 'kipt status' shows by whom, 'kipt delete' makes room",
				   what, bytes >> 10, limit >> 20, now >> 10);
	return kipt_refuse(refusal, NULL, -ENOMEM,
			   "%s: no memory for %llu KiB", what, bytes >> 10);
}
