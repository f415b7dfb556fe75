/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory in which much is looked up, or which is filled once and read: large pages save
 * most of the TLB misses and of the page faults.
 */
#ifndef KIPT_LARGE_MEMORY_H
#define KIPT_LARGE_MEMORY_H

#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>

#define LARGE_PAGE	((size_t)2 << 20)

/**
 * large_alloc() - memory in large pages, where it is large and the kernel has them
 * @size: bytes
 *
 * Return: the caller's until free(), with anything in it; NULL without memory.
 */
static inline void *large_alloc(size_t size)
{
	bool large = size >= LARGE_PAGE;
	void *memory;

	if (posix_memalign(&memory, large ? LARGE_PAGE : 64, size ? size : 1))
		return NULL;
	if (large)
		madvise(memory, size & ~(LARGE_PAGE - 1), MADV_HUGEPAGE);
	return memory;
}

#endif /* KIPT_LARGE_MEMORY_H */
