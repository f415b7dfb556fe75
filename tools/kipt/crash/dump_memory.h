/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Virtual memory of the machine that died, through its own page tables.
 */
#ifndef KIPT_DUMP_MEMORY_H
#define KIPT_DUMP_MEMORY_H

#include "crash_pages.h"

struct crash_memory;

/**
 * crash_memory_create() - memory that is seen through page tables
 * @source: physical memory; copied
 * @levels: of the page tables, 4 or 5
 *
 * Return: to be freed with free(); NULL without memory.
 */
struct crash_memory *crash_memory_create(const struct crash_source *source,
					 u32 levels);

/**
 * crash_memory_kernel() - by which table the kernel's addresses are found
 * @memory: the memory
 * @cr3: physical address of a page table; bits 0 to 11 do not count
 * @probe: an address of the kernel that must be there
 *
 * Return: true, and it is used from now on, if @probe is in it.
 */
bool crash_memory_kernel(struct crash_memory *memory, u64 cr3, u64 probe);

/**
 * crash_memory_kernel_only() - user addresses are not found from now on
 * @memory: the memory, of which no user address was read yet
 */
void crash_memory_kernel_only(struct crash_memory *memory);

/**
 * crash_memory_has_kernel() - did crash_memory_kernel() ever succeed
 * @memory: the memory
 *
 * Return: true if so.
 */
bool crash_memory_has_kernel(const struct crash_memory *memory);

/**
 * crash_memory_read() - copy bytes
 * @memory: the memory
 * @cr3: page table of user addresses; kernel addresses are in the kernel's
 * @address: virtual
 * @bytes: filled
 * @size: how many are wanted
 *
 * Return: how many were copied; less than @size where something is missing.
 */
u32 crash_memory_read(struct crash_memory *memory, u64 cr3, u64 address,
		      void *bytes, u32 size);

/**
 * crash_memory_get() - copy all of something of the kernel
 * @memory: the memory
 * @address: virtual
 * @bytes: filled
 * @size: how many
 *
 * Return: true if all are there.
 */
static inline bool crash_memory_get(struct crash_memory *memory, u64 address,
				    void *bytes, u32 size)
{
	return crash_memory_read(memory, 0, address, bytes, size) == size;
}

#endif /* KIPT_DUMP_MEMORY_H */
