// SPDX-License-Identifier: GPL-2.0-only
/*
 * Segment descriptors, gates and page tables as the test CPU reads them, in a
 * memory of some pages. User space, nothing else.
 */
#include <string.h>

#include "../../tools/testcpu/system_tables.h"
#include "ktap.h"

#define MEMORY_WORDS	(8 * 512)

/* Physical memory from 0 on, in words of 8 bytes. */
static uint64_t memory[MEMORY_WORDS];

static bool read_memory(void *ctx, uint64_t address, void *buf, size_t len)
{
	(void)ctx;
	if (address > sizeof(memory) || len > sizeof(memory) - address)
		return false;
	memcpy(buf, (uint8_t *)memory + address, len);
	return true;
}

static bool code_is(struct code_segment code, bool lma, bool csd, uint32_t base)
{
	return code.lma == lma && code.csd == csd && code.base == base;
}

static void test_descriptors(void)
{
	/* Figure "Segment Descriptor": base 0xa5b4c3d2, limit 0xfffff. */
	uint64_t based = 0xa5cffbb4c3d2ffffULL;
	uint64_t flat64 = 0x00af9b000000ffffULL;
	uint64_t flat16 = 0x008f9b000000ffffULL;

	ktap_case(descriptor_base(based) == 0xa5b4c3d2, "descriptor_base");
	ktap_case(code_is(descriptor_code(based, true), false, true, 0xa5b4c3d2),
		  "descriptor_32_bit_code_with_base");
	ktap_case(code_is(descriptor_code(based, false), false, true, 0),
		  "descriptor_outside_ia32e_has_no_base");
	ktap_case(code_is(descriptor_code(flat64, true), true, false, 0),
		  "descriptor_64_bit_code");
	ktap_case(code_is(descriptor_code(flat64 | 0xa5b4c3ULL << 16, true), true,
			  false, 0), "descriptor_64_bit_code_ignores_base");
	ktap_case(code_is(descriptor_code(flat64, false), false, false, 0),
		  "descriptor_l_means_nothing_outside_ia32e");
	ktap_case(code_is(descriptor_code(flat16, true), false, false, 0),
		  "descriptor_16_bit_code");
}

/* A 64-bit interrupt gate at selector 0x10. */
static void put_gate(uint64_t *gate, uint64_t target)
{
	gate[0] = (target & 0xffff) | 0x10 << 16 | 0x8e00ULL << 32 |
		  (target >> 16 & 0xffff) << 48;
	gate[1] = target >> 32;
}

static void test_gates(void)
{
	uint64_t handler = 0xffffffff81a0b2c0ULL;
	uint64_t gate[2];

	put_gate(gate, handler);
	ktap_case(gate_target(gate) == handler, "gate_target");
	gate[1] |= 0xdead00000000ULL << 16;
	ktap_case(gate_target(gate) == handler, "gate_target_ignores_reserved");

	for (unsigned int n = 0; n < 256; n++)
		put_gate(memory + 2 * n, handler + 16 * n);
	ktap_case(gate_find(read_memory, NULL, 0, handler) == 0 &&
		  gate_find(read_memory, NULL, 0, handler + 16 * 14) == 14 &&
		  gate_find(read_memory, NULL, 0, handler + 16 * 255) == 255,
		  "gate_find");
	ktap_case(gate_find(read_memory, NULL, 0, handler + 16 * 256) == -1,
		  "gate_find_nothing");
	put_gate(memory + 2 * 9, handler + 16 * 3);
	ktap_case(gate_find(read_memory, NULL, 0, handler + 16 * 3) == 3,
		  "gate_find_lowest");
	ktap_case(gate_find(read_memory, NULL, sizeof(memory) - 2048,
			    handler) == -1, "gate_find_cut_table");
}

#define P	1
#define U	4
#define PS	0x80

/* Tables of 5 levels at 0x1000 to 0x5000; a page of each size at known slots. */
static void put_tables(void)
{
	memset(memory, 0, sizeof(memory));
	memory[0x1000 / 8 + 1] = 0x2000 | P | U;
	memory[0x2000 / 8 + 2] = 0x3000 | P | U;
	memory[0x3000 / 8 + 3] = 0x4000 | P | U;
	memory[0x3000 / 8 + 4] = 0x40000000 | P | PS;
	memory[0x4000 / 8 + 5] = 0x5000 | P | U;
	memory[0x4000 / 8 + 6] = 0x200000 | P | U | PS;
	memory[0x5000 / 8 + 7] = 0x6000 | P | U;
	memory[0x5000 / 8 + 8] = 0x6000 | P;
	memory[0x5000 / 8 + 300] = 0x6000 | P | U;
	memory[0x5000 / 8 + 9] = 0x6000 | U;
	/* Bit 7 of an entry that maps a 4 KiB page is PAT. */
	memory[0x5000 / 8 + 10] = 0x6000 | P | U | PS;
	/* Physical address that is not there, and bits that are no address. */
	memory[0x4000 / 8 + 11] = 0x7ff000 | P | U;
	memory[0x4000 / 8 + 12] = 0x5000 | P | U | 1ULL << 63 | 0x7ffULL << 52;
}

#define AT(l3, l2, l1, l0) ((uint64_t)(l3) << 39 | (uint64_t)(l2) << 30 | \
			    (uint64_t)(l1) << 21 | (uint64_t)(l0) << 12)

static bool may(uint64_t va, bool user, uint32_t code)
{
	uint32_t got = 0xff;

	return paging_may_load(read_memory, NULL, 0x2000, false, va, user, &got) &&
	       got == code;
}

static bool may_not(uint64_t va, bool user, uint32_t code)
{
	uint32_t got = 0xff;

	return !paging_may_load(read_memory, NULL, 0x2000, false, va, user, &got) &&
	       got == code;
}

static void test_paging(void)
{
	uint64_t top = 1ULL << 48;
	uint32_t code;

	put_tables();
	ktap_case(may(AT(2, 3, 5, 7), true, PAGE_FAULT_USER) &&
		  may(AT(2, 3, 5, 7), false, 0) &&
		  may(AT(2, 3, 5, 300), true, PAGE_FAULT_USER) &&
		  may_not(AT(2, 3, 5, 300 - 256), true, PAGE_FAULT_USER),
		  "paging_4_kib");
	ktap_case(may(AT(2, 3, 6, 511), true, PAGE_FAULT_USER), "paging_2_mib");
	ktap_case(may(AT(2, 4, 511, 511), false, 0), "paging_1_gib");
	ktap_case(may_not(AT(2, 4, 0, 0), true, PAGE_FAULT_USER | PAGE_FAULT_PRESENT),
		  "paging_supervisor_1_gib");
	ktap_case(may_not(AT(2, 3, 5, 8), true,
			  PAGE_FAULT_USER | PAGE_FAULT_PRESENT) &&
		  may(AT(2, 3, 5, 8), false, 0), "paging_supervisor_page");
	ktap_case(may_not(AT(2, 3, 5, 9), true, PAGE_FAULT_USER) &&
		  may_not(AT(2, 3, 5, 9), false, 0), "paging_page_not_present");
	ktap_case(may(AT(2, 3, 5, 10), true, PAGE_FAULT_USER), "paging_pat_is_not_ps");
	ktap_case(may_not(AT(3, 3, 5, 7), true, PAGE_FAULT_USER) &&
		  may_not(AT(2, 5, 5, 7), true, PAGE_FAULT_USER) &&
		  may_not(AT(2, 3, 7, 7), true, PAGE_FAULT_USER),
		  "paging_table_not_present");
	ktap_case(may_not(AT(2, 3, 11, 0), false, 0), "paging_table_not_in_memory");
	ktap_case(may(AT(2, 3, 12, 7), true, PAGE_FAULT_USER), "paging_ignored_bits");
	ktap_case(paging_may_load(read_memory, NULL, 0x1000, true,
				  top + AT(2, 3, 5, 7), true, &code) &&
		  !paging_may_load(read_memory, NULL, 0x1000, true,
				   AT(2, 3, 5, 7), true, &code),
		  "paging_5_levels");
	ktap_case(paging_may_load(read_memory, NULL, 0x2fff, false,
				  AT(2, 3, 5, 7), true, &code),
		  "paging_cr3_flags_and_pcid");
}

static void test_canonical(void)
{
	uint64_t half4 = 1ULL << 47, half5 = 1ULL << 56;

	ktap_case(address_is_canonical(0, false) &&
		  address_is_canonical(half4 - 1, false) &&
		  !address_is_canonical(half4, false) &&
		  !address_is_canonical(-half4 - 1, false) &&
		  address_is_canonical(-half4, false) &&
		  address_is_canonical(-1ULL, false), "canonical_48_bits");
	ktap_case(address_is_canonical(half4, true) &&
		  address_is_canonical(half5 - 1, true) &&
		  !address_is_canonical(half5, true) &&
		  !address_is_canonical(-half5 - 1, true) &&
		  address_is_canonical(-half5, true), "canonical_57_bits");
}

int main(void)
{
	test_canonical();
	test_descriptors();
	test_gates();
	test_paging();
	return ktap_finish();
}
