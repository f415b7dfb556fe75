/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The one bound on what the module's users make it allocate: buffers, tables,
 * logs, kept code, arenas, caches, records. Memory is charged before it is
 * allocated and uncharged after it is freed, whoever holds it in between.
 *
 * Allocations for a user also carry __GFP_ACCOUNT, so that they count against
 * the memory cgroup of who asked for them.
 */
#ifndef KIPT_MEMORY_H
#define KIPT_MEMORY_H

#include <linux/gfp.h>
#include <linux/types.h>

struct kipt_refusal;

/*
 * Of a size that a user chooses. Where there is no memory the request is refused: that
 * is no reason to kill a process, nor to write to the kernel's log.
 */
#define KIPT_MEMORY_GFP	(GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

/**
 * kipt_memory_charge() - count memory that is about to be allocated
 * @bytes: how much
 *
 * Context: any.
 *
 * Return: 0, or -ENOMEM if the limit would be passed; nothing is counted then.
 */
int kipt_memory_charge(u64 bytes);

/**
 * kipt_memory_uncharge() - count memory that was freed
 * @bytes: at most what was charged
 *
 * Context: any.
 */
void kipt_memory_uncharge(u64 bytes);

/**
 * kipt_memory_used() - bytes that are charged
 *
 * Context: any.
 *
 * Return: at most the limit.
 */
u64 kipt_memory_used(void);

/**
 * kipt_memory_alloc_raw() - allocate memory that is charged, zeroed or not
 * @bytes: how much
 * @gfp: KIPT_MEMORY_GFP, perhaps with __GFP_ZERO
 *
 * Context: may sleep. Large ones come from vmalloc.
 *
 * Return: memory for kipt_memory_free(), or NULL.
 */
void *kipt_memory_alloc_raw(size_t bytes, gfp_t gfp);

/**
 * kipt_memory_alloc() - allocate zeroed memory that is charged and accounted
 * @bytes: how much
 *
 * Context: may sleep. Large ones come from vmalloc.
 *
 * Return: memory for kipt_memory_free(), or NULL.
 */
static inline void *kipt_memory_alloc(size_t bytes)
{
	return kipt_memory_alloc_raw(bytes, KIPT_MEMORY_GFP | __GFP_ZERO);
}

/**
 * kipt_memory_grow() - more of what kipt_memory_alloc() gave
 * @memory: from it, or NULL; freed, unless this fails
 * @used: bytes of it that are kept
 * @from: bytes it has
 * @to: bytes that are wanted, at least @used
 *
 * Context: may sleep.
 *
 * Return: @to bytes, zeroed but for those that were kept, or NULL.
 */
void *kipt_memory_grow(void *memory, size_t used, size_t from, size_t to);

/**
 * kipt_memory_free() - free and uncharge
 * @memory: from kipt_memory_alloc(), or NULL
 * @bytes: as it was asked for
 *
 * Context: may sleep.
 */
void kipt_memory_free(void *memory, size_t bytes);

/**
 * kipt_memory_refuse() - say why there is no memory
 * @refusal: where
 * @what: what it was wanted for, such as "the buffer of CPU 3"
 * @bytes: how much was wanted
 *
 * The sentence names the module's limit where that is reached; otherwise the machine or a
 * cgroup has no more memory.
 *
 * Return: -ENOMEM.
 */
int kipt_memory_refuse(struct kipt_refusal *refusal, const char *what,
		       u64 bytes);

#endif /* KIPT_MEMORY_H */
