// SPDX-License-Identifier: GPL-2.0-only
/*
 * Output of the test CPU: positions, ends of regions and operational errors of
 * ToPA and single range, against a little physical memory. User space.
 */
#include <string.h>

#include "../../tools/testcpu/topa_model.h"
#include "ktap.h"

#define MEMORY	(1u << 20)

static uint8_t memory[MEMORY];
static struct testcpu_caps caps;
static struct pt_msrs msrs;
static struct pt_output out;

static bool mem_read(void *ctx, uint64_t pa, void *buf, size_t len)
{
	(void)ctx;
	if (pa > MEMORY || len > MEMORY - pa)
		return false;
	memcpy(buf, memory + pa, len);
	return true;
}

static bool mem_write(void *ctx, uint64_t pa, const void *buf, size_t len)
{
	(void)ctx;
	if (pa > MEMORY || len > MEMORY - pa)
		return false;
	memcpy(memory + pa, buf, len);
	return true;
}

/* Registers for output at @table, tables to be filled by the test. */
static void setup(const char *model, uint64_t base, uint64_t mask_ptrs,
		  bool topa)
{
	char why[256];

	memset(memory, 0, sizeof(memory));
	testcpu_caps_parse(&caps, model, why, sizeof(why));
	pt_msrs_cold_reset(&msrs, &caps);
	msrs.output_base = base;
	msrs.mask_ptrs = mask_ptrs | 0x7f;
	msrs.ctl = RTIT_CTL_TRACEEN | (topa ? RTIT_CTL_TOPA : 0);
	memset(&out, 0, sizeof(out));
	out.mem.read = mem_read;
	out.mem.write = mem_write;
	out.caps = &caps;
}

static void entry(uint64_t table, unsigned int index, uint64_t value)
{
	memcpy(memory + table + 8 * index, &value, 8);
}

/* Write @n bytes that count up from 1. */
static unsigned int fill(size_t n)
{
	unsigned int what = 0;
	uint8_t b = 1;

	while (n--) {
		what |= pt_output_write(&out, &b, 1);
		b = b == 255 ? 1 : b + 1;
	}
	return what;
}

static uint64_t pointers(uint64_t index, uint64_t offset)
{
	return offset << 32 | index << 7 | 0x7f;
}

static bool saved(uint64_t base, uint64_t index, uint64_t offset)
{
	pt_output_save(&out, &msrs);
	return msrs.output_base == base &&
	       msrs.mask_ptrs == pointers(index, offset);
}

/* Table at 1000H: regions 2000H and 4000H (8 KiB), END to itself. */
static void two_regions(uint64_t flags0, uint64_t flags1)
{
	setup("skylake", 0x1000, pointers(0, 0), true);
	entry(0x1000, 0, 0x2000 | flags0);
	entry(0x1000, 1, 0x4000 | 1 << TOPA_SIZE_SHIFT | flags1);
	entry(0x1000, 2, 0x1000 | TOPA_END);
}

static void test_regions(void)
{
	two_regions(0, 0);
	ktap_case(pt_output_start(&out, &msrs) == 0 && fill(10) == 0 &&
		  saved(0x1000, 0, 10), "topa_position_in_region");
	ktap_case(memory[0x2000] == 1 && memory[0x2009] == 10,
		  "topa_bytes_in_region");
	ktap_case(pt_output_room(&out) == 4096 - 10, "topa_room");
	fill(4096 - 10);
	ktap_case(saved(0x1000, 1, 0), "topa_next_region_when_full");
	fill(8192);
	ktap_case(saved(0x1000, 0, 0), "topa_end_followed_at_once");
	two_regions(0, 0);
	msrs.mask_ptrs = pointers(2, 0);
	ktap_case(pt_output_start(&out, &msrs) == 0 && saved(0x1000, 0, 0),
		  "topa_start_at_end_entry");
	msrs.mask_ptrs = pointers(1, 100);
	ktap_case(pt_output_start(&out, &msrs) == 0 && fill(1) == 0 &&
		  memory[0x4000 + 100] == 1, "topa_start_in_the_middle");
	two_regions(0, 0);
	pt_output_start(&out, &msrs);
	for (int i = 0; i < 4096; i++)
		memory[0x3000 + i] = (uint8_t)i;
	pt_output_write(&out, memory + 0x3000, 4095);
	pt_output_write(&out, memory + 0x3000, 300);
	ktap_case(memory[0x2fff] == 0 && memory[0x4000] == 1 &&
		  saved(0x1000, 1, 299), "topa_packet_straddles_regions");
}

static void test_interrupt_and_stop(void)
{
	two_regions(TOPA_INT, 0);
	pt_output_start(&out, &msrs);
	ktap_case(fill(4095) == 0, "topa_no_pmi_before_full");
	ktap_case(fill(1) == PT_OUT_PMI, "topa_pmi_at_the_byte_that_fills");
	ktap_case(fill(8192) == 0, "topa_no_pmi_without_int");
	ktap_case(fill(4096) == PT_OUT_PMI, "topa_pmi_again_next_time");
	two_regions(0, TOPA_STOP);
	pt_output_start(&out, &msrs);
	ktap_case(fill(4096) == 0, "topa_no_stop_in_first_region");
	ktap_case(fill(8192) == PT_OUT_STOPPED && saved(0x1000, 1, 8192),
		  "topa_stop_keeps_entry_and_offset_is_size");
	memory[0x2000] = 0x77;
	fill(10);
	ktap_case(memory[0x2000] == 0x77 && saved(0x1000, 1, 8192),
		  "topa_bytes_behind_stop_are_lost");
	two_regions(TOPA_STOP, 0);
	out.stop_short = 1;
	pt_output_start(&out, &msrs);
	fill(4096);
	ktap_case(saved(0x1000, 0, 4095), "topa_stop_offset_option");
	two_regions(TOPA_STOP | TOPA_INT, 0);
	pt_output_start(&out, &msrs);
	ktap_case(fill(4096) == (PT_OUT_STOPPED | PT_OUT_PMI),
		  "topa_stop_and_int");
}

static void test_chain(void)
{
	setup("skylake", 0x1000, pointers(0, 0), true);
	entry(0x1000, 0, 0x10000);
	entry(0x1000, 1, 0x3000 | TOPA_END);
	entry(0x3000, 0, 0x20000);
	entry(0x3000, 1, 0x1000 | TOPA_END);
	pt_output_start(&out, &msrs);
	fill(4096);
	ktap_case(saved(0x3000, 0, 0), "topa_chain_to_second_table");
	fill(4096);
	ktap_case(memory[0x20000] == 1 && saved(0x1000, 0, 0),
		  "topa_chain_back");
}

struct error {
	const char *name;
	uint64_t base;
	uint64_t mask_ptrs;
	uint64_t entry0;
	uint64_t entry1;
};

/* Operational errors that are found when TraceEn is set. */
static const struct error errors[] = {
	{ "1_reserved_bit_1", 0x1000, 0x7f, 0x2002, 0x1001 },
	{ "1_reserved_bit_3", 0x1000, 0x7f, 0x2008, 0x1001 },
	{ "1_reserved_bit_5", 0x1000, 0x7f, 0x2020, 0x1001 },
	{ "1_reserved_bit_10", 0x1000, 0x7f, 0x2400, 0x1001 },
	{ "2a_table_not_aligned", 0x1080, 0x7f, 0x2000, 0x1001 },
	{ "2b_region_not_aligned", 0x1000, 0x7f, 0x2000 | 2 << 6, 0x1001 },
	{ "2c_base_beyond_maxphyaddr", 0x1000, 0x7f, 1ULL << 40, 0x1001 },
	{ "3_offset_beyond_region", 0x1000, 0x10000000007f, 0x2000, 0x1001 },
	{ "4b_end_in_entry_0", 0x1000, 0x7f, 0x1001, 0x1001 },
	{ "4a_end_with_int", 0x1000, 0xff, 0x2000, 0x1005 },
	{ "4a_end_with_stop", 0x1000, 0xff, 0x2000, 0x1011 },
};

static void test_errors(void)
{
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		const struct error *e = &errors[i];

		setup("skylake", e->base, e->mask_ptrs, true);
		entry(e->base, 0, e->entry0);
		entry(e->base, 1, e->entry1);
		ktap_case(pt_output_start(&out, &msrs) == PT_OUT_ERROR,
			  "topa_error_%s", e->name);
	}
	setup("skylake", MEMORY, 0x7f, true);
	ktap_case(pt_output_start(&out, &msrs) == PT_OUT_ERROR,
		  "topa_error_table_not_in_memory");
	two_regions(0, 1 << 3);
	ktap_case(pt_output_start(&out, &msrs) == 0 &&
		  fill(4096) == PT_OUT_ERROR,
		  "topa_error_later_when_reached");
}

static void test_single_entry_parts(void)
{
	setup("broadwell", 0x1000, pointers(0, 0), true);
	entry(0x1000, 0, 0x2000 | TOPA_INT);
	entry(0x1000, 1, 0x1000 | TOPA_END);
	out.pmi_skid = 512;
	ktap_case(pt_output_start(&out, &msrs) == 0, "topa_single_entry_ok");
	ktap_case(fill(4096 - 513) == 0 && fill(1) == PT_OUT_PMI,
		  "topa_single_entry_pmi_before_full");
	ktap_case(fill(512) == 0 && saved(0x1000, 0, 0),
		  "topa_single_entry_wraps_with_one_pmi");
	ktap_case(fill(4096) == PT_OUT_PMI, "topa_single_entry_next_pass");
	entry(0x1000, 1, 0x5000 | TOPA_END);
	msrs.mask_ptrs = pointers(0, 0);
	ktap_case(pt_output_start(&out, &msrs) == PT_OUT_ERROR,
		  "topa_error_4c_end_elsewhere");
	entry(0x1000, 1, 0x5000);
	ktap_case(pt_output_start(&out, &msrs) == PT_OUT_ERROR,
		  "topa_error_4c_no_end");
}

static void test_single_range(void)
{
	setup("skylake", 0x8000, 0x3ff, false);
	ktap_case(pt_output_start(&out, &msrs) == 0 && fill(1024) == 0 &&
		  memory[0x83ff] == 4 + 0 && saved(0x8000, 7, 0),
		  "range_wraps_silently");
	fill(3);
	pt_output_save(&out, &msrs);
	ktap_case(msrs.mask_ptrs == (3ULL << 32 | 0x3ff), "range_offset");
	setup("skylake", 0x8000, 0x5ff, false);
	ktap_case(pt_output_start(&out, &msrs) == PT_OUT_ERROR,
		  "range_error_mask_not_contiguous");
	setup("skylake", 0x8200, 0x3ff, false);
	ktap_case(pt_output_start(&out, &msrs) == PT_OUT_ERROR,
		  "range_error_base_not_aligned");
	setup("skylake", 0x8000, 0x400000003ff, false);
	ktap_case(pt_output_start(&out, &msrs) == PT_OUT_ERROR,
		  "range_error_offset_beyond_mask");
	setup("skylake", 0x8000, 0x3ff000003ff, false);
	ktap_case(pt_output_start(&out, &msrs) == 0 && fill(2) == 0 &&
		  memory[0x83ff] == 1 && memory[0x8000] == 2,
		  "range_starts_at_offset");
	setup("skylake", 0x8000, 0xfff, false);
	msrs.ctl |= RTIT_CTL_FABRICEN;
	pt_output_start(&out, &msrs);
	fill(8);
	pt_output_save(&out, &msrs);
	ktap_case(memory[0x8000] == 0 && msrs.mask_ptrs == 0xfff,
		  "fabric_leaves_memory_alone");
}

int main(void)
{
	test_regions();
	test_interrupt_and_stop();
	test_chain();
	test_errors();
	test_single_entry_parts();
	test_single_range();
	return ktap_finish();
}
