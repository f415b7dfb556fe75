/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the system keeps in memory for the CPU: segment descriptors, gates of the
 * IDT, page tables. Knows no QEMU; pure functions over memory that the caller
 * reads, any thread.
 */
#ifndef TESTCPU_SYSTEM_TABLES_H
#define TESTCPU_SYSTEM_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** typedef table_read - reads memory of the machine; false if it is not there */
typedef bool (*table_read)(void *ctx, uint64_t address, void *buf, size_t len);

/** descriptor_base() - base address of a code or data segment */
uint32_t descriptor_base(uint64_t descriptor);

/**
 * struct code_segment - how code of a segment executes
 * @lma: in 64-bit mode (CS.L in IA-32e mode)
 * @csd: with 32-bit operands and addresses (CS.D); false for 64-bit code
 * @base: of the segment; 0 for 64-bit code, and outside IA-32e mode
 */
struct code_segment {
	bool lma;
	bool csd;
	uint32_t base;
};

/**
 * descriptor_code() - how code of a segment executes
 * @descriptor: of the code segment
 * @ia32e: the CPU is in IA-32e mode (IA32_EFER.LMA)
 */
struct code_segment descriptor_code(uint64_t descriptor, bool ia32e);

/** gate_target() - where a 64-bit gate of the IDT leads */
uint64_t gate_target(const uint64_t gate[2]);

/**
 * gate_find() - the vector whose gate leads to a handler
 * @read: reads linear addresses
 * @ctx: for @read
 * @idt: base of the IDT
 * @handler: where it leads
 *
 * Return: the lowest such vector, or -1 for none or memory that is not there.
 */
int gate_find(table_read read, void *ctx, uint64_t idt, uint64_t handler);

/** address_is_canonical() - whether all bits above the highest of 48, or 57, equal it */
static inline bool address_is_canonical(uint64_t va, bool la57)
{
	unsigned int above = la57 ? 64 - 57 : 64 - 48;

	return (uint64_t)((int64_t)(va << above) >> above) == va;
}

#define PAGE_FAULT_PRESENT	(1u << 0)
#define PAGE_FAULT_USER		(1u << 2)

/**
 * paging_may_load() - whether a load is allowed, by the tables of IA-32e paging
 * @read: reads physical addresses
 * @ctx: for @read
 * @cr3: CR3
 * @la57: 5 levels instead of 4
 * @va: linear address
 * @user: the load is a user-mode access
 * @code: error code of the page fault, where it is not allowed
 *
 * SMAP and protection keys are not looked at, nor whether @va is canonical.
 */
bool paging_may_load(table_read read, void *ctx, uint64_t cr3, bool la57,
		     uint64_t va, bool user, uint32_t *code);

#endif /* TESTCPU_SYSTEM_TABLES_H */
