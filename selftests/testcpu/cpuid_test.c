// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPUID on the test CPU: leaf by leaf, what is QEMU's and what is the model's.
 * User space, nothing else.
 */
#include <string.h>

#include "../../kmod/hw/rtit_regs.h"
#include "../../tools/testcpu/cpuid_model.h"
#include "ktap.h"

static struct testcpu_options options;
static struct cpuid_query query;
static struct cpuid_regs regs;

/* Whose answer it is on the CPU that the options describe; @regs has the model's. */
static enum cpuid_source ask(uint32_t leaf, uint32_t subleaf)
{
	query.options = &options;
	query.caps = &options.caps;
	query.leaf = leaf;
	query.subleaf = subleaf;
	memset(&regs, 0x5a, sizeof(regs));
	return cpuid_answer(&query, &regs);
}

static void amend(uint32_t leaf, struct cpuid_regs of_qemu)
{
	query.leaf = leaf;
	regs = of_qemu;
	cpuid_amend(&query, &regs);
}

static bool regs_are(uint32_t eax, uint32_t ebx, uint32_t ecx, uint32_t edx)
{
	return regs.eax == eax && regs.ebx == ebx && regs.ecx == ecx &&
	       regs.edx == edx;
}

static bool set_options(const char *first, const char *second)
{
	char why[1024];
	bool good;

	memset(&query, 0, sizeof(query));
	testcpu_options_init(&options);
	good = testcpu_options_parse(&options, first, why, sizeof(why)) &&
	       (!second ||
		testcpu_options_parse(&options, second, why, sizeof(why)));
	testcpu_options_settle(&options);
	return good;
}

static void test_pt_leaf(void)
{
	ktap_case(set_options("caps=skylake", NULL) &&
		  ask(RTIT_CPUID_LEAF, 0) == CPUID_FROM_MODEL &&
		  regs_are(1, 0xf, 7, 0), "cpuid_14h_subleaf_0");
	ktap_case(ask(RTIT_CPUID_LEAF, 1) == CPUID_FROM_MODEL &&
		  regs_are(options.caps.leaf_eax1, options.caps.leaf_ebx1, 0, 0) &&
		  regs.eax && regs.ebx, "cpuid_14h_subleaf_1");
	ktap_case(ask(RTIT_CPUID_LEAF, 2) == CPUID_FROM_MODEL &&
		  regs_are(0, 0, 0, 0), "cpuid_14h_subleaf_2_is_empty");
	options.caps.max_subleaf = 0;
	ktap_case(ask(RTIT_CPUID_LEAF, 1) == CPUID_FROM_MODEL &&
		  regs_are(0, 0, 0, 0), "cpuid_14h_subleaf_1_not_enumerated");
	options.caps.leaf_eax1 = options.caps.eax1 + 1;
	options.caps.max_subleaf = 1;
	ktap_case(ask(RTIT_CPUID_LEAF, 1) == CPUID_FROM_MODEL &&
		  regs.eax == options.caps.eax1 + 1,
		  "cpuid_14h_tells_what_the_cpu_tells");
}

static void test_tsc_leaf(void)
{
	set_options("caps=skylake", NULL);
	options.caps.tsc_den = 2;
	options.caps.tsc_num = 168;
	options.caps.leaf_crystal = 24000000;
	ktap_case(ask(RTIT_CPUID_TSC_LEAF, 0) == CPUID_FROM_MODEL &&
		  regs_are(2, 168, 0, 0), "cpuid_15h_keeps_crystal_back");
	query.show_crystal = true;
	ktap_case(ask(RTIT_CPUID_TSC_LEAF, 0) == CPUID_FROM_MODEL &&
		  regs_are(2, 168, 24000000, 0), "cpuid_15h_tells_crystal");
}

static void test_highest_leaf(void)
{
	set_options("caps=skylake", NULL);
	options.caps.tsc_den = 2;
	ktap_case(ask(0, 0) == CPUID_AMENDED, "cpuid_0_is_amended");
	amend(0, (struct cpuid_regs){ 0xd, 1, 2, 3 });
	ktap_case(regs_are(0x15, 1, 2, 3), "cpuid_0_reaches_15h");
	amend(0, (struct cpuid_regs){ 0x1f, 1, 2, 3 });
	ktap_case(regs_are(0x1f, 1, 2, 3), "cpuid_0_is_not_lowered");
	options.caps.tsc_den = 0;
	amend(0, (struct cpuid_regs){ 0xd, 1, 2, 3 });
	ktap_case(regs_are(0x14, 1, 2, 3), "cpuid_0_without_15h_reaches_14h");
}

static void test_amended(void)
{
	set_options("caps=skylake", NULL);
	options.caps.signature = 0;
	ktap_case(ask(1, 0) == CPUID_FROM_QEMU, "cpuid_1_without_signature");
	options.caps.signature = 0x406e3;
	ktap_case(ask(1, 0) == CPUID_AMENDED, "cpuid_1_is_amended");
	amend(1, (struct cpuid_regs){ 0x60fb1, 1, 2, 3 });
	ktap_case(regs_are(0x406e3, 1, 2, 3), "cpuid_1_has_signature");

	ktap_case(ask(5, 0) == CPUID_FROM_QEMU, "cpuid_5_without_mwait");
	options.mwait = true;
	ktap_case(ask(5, 0) == CPUID_AMENDED, "cpuid_5_is_amended");
	amend(5, (struct cpuid_regs){ 0, 0, 3, 0 });
	ktap_case(regs_are(0, 0, 3, 0x1120), "cpuid_5_has_substates");

	ktap_case(ask(7, 0) == CPUID_AMENDED && ask(7, 1) == CPUID_FROM_QEMU,
		  "cpuid_7_is_amended_in_subleaf_0");
	amend(7, (struct cpuid_regs){ 1, 0x100, 2, 4 });
	ktap_case(regs_are(1, 0x100 | 1u << 25, 2, 4), "cpuid_7_has_pt");
}

static void test_hybrid(void)
{
	ktap_case(set_options("caps=skylake", NULL) &&
		  ask(0x1a, 0) == CPUID_FROM_QEMU && ask(0x16, 0) == CPUID_FROM_QEMU,
		  "cpuid_1ah_is_not_known_to_one_kind");
	ktap_case(set_options("caps=alderlake", "caps.1=alderlake-n") &&
		  testcpu_options_hybrid(&options), "cpuid_hybrid_options");
	query.options = &options;
	query.caps = &options.caps;
	ktap_case(ask(0x1a, 0) == CPUID_FROM_MODEL &&
		  regs_are((uint32_t)TESTCPU_CORE_CORE << 24, 0, 0, 0),
		  "cpuid_1ah_core");
	query.caps = testcpu_options_caps(&options, 1);
	query.leaf = 0x1a;
	ktap_case(cpuid_answer(&query, &regs) == CPUID_FROM_MODEL &&
		  regs_are((uint32_t)TESTCPU_CORE_ATOM << 24, 0, 0, 0),
		  "cpuid_1ah_atom");
	ktap_case(ask(0x16, 0) == CPUID_FROM_MODEL && regs_are(0, 0, 0, 0),
		  "cpuid_between_15h_and_1ah_is_empty");
	amend(0, (struct cpuid_regs){ 0xd, 1, 2, 3 });
	ktap_case(regs_are(0x1a, 1, 2, 3), "cpuid_0_of_hybrid_reaches_1ah");
	amend(7, (struct cpuid_regs){ 0, 0, 0, 4 });
	ktap_case(regs_are(0, 1u << 25, 0, 4 | 1u << 15), "cpuid_7_says_hybrid");
}

static void test_counter(void)
{
	set_options("caps=skylake", NULL);
	query.insns = 0x123456789aULL;
	ktap_case(ask(CPUID_INSN_COUNT_LEAF, 0) == CPUID_FROM_QEMU,
		  "cpuid_counter_off");
	options.insn_count = true;
	ktap_case(ask(CPUID_INSN_COUNT_LEAF, 0) == CPUID_FROM_MODEL &&
		  regs_are(0x3456789a, 0, 0, 0x12), "cpuid_counter");
	ktap_case(ask(2, 0) == CPUID_FROM_QEMU && ask(0x80000008, 0) == CPUID_FROM_QEMU,
		  "cpuid_of_others_is_qemus");
}

int main(void)
{
	test_pt_leaf();
	test_tsc_leaf();
	test_highest_leaf();
	test_amended();
	test_hybrid();
	test_counter();
	return ktap_finish();
}
