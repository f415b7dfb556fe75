// SPDX-License-Identifier: GPL-2.0-only
/*
 * Descriptors, gates and page tables, see system_tables.h.
 */
#include "system_tables.h"

#define DESCRIPTOR_L	(1ULL << 53)
#define DESCRIPTOR_D	(1ULL << 54)

#define VECTORS		256

#define PTE_PRESENT	(1ULL << 0)
#define PTE_USER	(1ULL << 2)
#define PTE_LARGE	(1ULL << 7)
#define PTE_ADDRESS	0x000ffffffffff000ULL

/* Levels of the tables above the one that maps 4 KiB pages; those with PS. */
#define LEVEL_TOP_4	3
#define LEVEL_TOP_5	4
#define LEVEL_LARGE_MAX	2

uint32_t descriptor_base(uint64_t descriptor)
{
	return (descriptor >> 16 & 0xffffff) | (descriptor >> 32 & 0xff000000);
}

struct code_segment descriptor_code(uint64_t descriptor, bool ia32e)
{
	struct code_segment code = { .lma = ia32e && (descriptor & DESCRIPTOR_L) };

	if (code.lma)
		return code;
	code.csd = descriptor & DESCRIPTOR_D;
	if (ia32e)
		code.base = descriptor_base(descriptor);
	return code;
}

uint64_t gate_target(const uint64_t gate[2])
{
	return (gate[0] & 0xffff) | (gate[0] >> 32 & 0xffff0000) |
	       gate[1] << 32;
}

int gate_find(table_read read, void *ctx, uint64_t idt, uint64_t handler)
{
	uint64_t gate[2];

	for (unsigned int n = 0; n < VECTORS; n++) {
		if (!read(ctx, idt + sizeof(gate) * n, gate, sizeof(gate)))
			return -1;
		if (gate_target(gate) == handler)
			return (int)n;
	}
	return -1;
}

bool paging_may_load(table_read read, void *ctx, uint64_t cr3, bool la57,
		     uint64_t va, bool user, uint32_t *code)
{
	uint64_t entry = cr3;

	*code = user ? PAGE_FAULT_USER : 0;
	for (int level = la57 ? LEVEL_TOP_5 : LEVEL_TOP_4; level >= 0; level--) {
		uint64_t slot = va >> (12 + 9 * level) & 0x1ff;

		if (!read(ctx, (entry & PTE_ADDRESS) + 8 * slot, &entry,
			  sizeof(entry)) || !(entry & PTE_PRESENT))
			return false;
		if (user && !(entry & PTE_USER)) {
			*code |= PAGE_FAULT_PRESENT;
			return false;
		}
		if (level <= LEVEL_LARGE_MAX && (entry & PTE_LARGE))
			return true;
	}
	return true;
}
