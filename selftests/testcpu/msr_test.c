// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every reset value and every #GP rule of the Intel PT registers, for CPU
 * models that have a feature and for models that lack it. User space.
 */
#include <string.h>

#include "../../tools/testcpu/msr_model.h"
#include "ktap.h"

#define BROADWELL	"broadwell"
#define SKYLAKE		"skylake"
#define NEWEST		"newest"
/* ToPA and single range, nothing optional. */
#define BARE		"0:5"
/* No output to memory at all. */
#define FABRIC_ONLY	"0:8"
#define TOPA_ONLY	"0:1"

#define ON	RTIT_CTL_TRACEEN
#define CYC(n)	((uint64_t)(n) << RTIT_CTL_CYCTHRESH_SHIFT)
#define PSB(n)	((uint64_t)(n) << RTIT_CTL_PSBFREQ_SHIFT)
#define MTC(n)	((uint64_t)(n) << RTIT_CTL_MTCFREQ_SHIFT)
#define ADDR(n, cfg) ((uint64_t)(cfg) << RTIT_CTL_ADDR_CFG_SHIFT(n))

static struct pt_msrs registers(const char *model)
{
	static struct testcpu_caps caps[8];
	static unsigned int used;
	struct testcpu_caps *c = &caps[used++ % 8];
	struct pt_msrs m;
	char why[256];

	if (!testcpu_caps_parse(c, model, why, sizeof(why)))
		printf("# %s\n", why);
	pt_msrs_cold_reset(&m, c);
	return m;
}

struct rule {
	const char *name;
	const char *model;
	uint32_t msr;
	uint64_t value;
	enum pt_msr_result result;
};

static const struct rule rules[] = {
	/* Rule 1: registers that are not enumerated. */
	{ "base_absent", FABRIC_ONLY, 0x560, 0, PT_MSR_GP },
	{ "mask_absent", FABRIC_ONLY, 0x561, 0, PT_MSR_GP },
	{ "base_present", TOPA_ONLY, 0x560, 0x1000, PT_MSR_OK },
	{ "cr3_match_absent", BARE, 0x572, 0, PT_MSR_GP },
	{ "cr3_match_present", BROADWELL, 0x572, 0x1000, PT_MSR_OK },
	{ "addr0_absent", BROADWELL, 0x580, 0, PT_MSR_GP },
	{ "addr1_present", SKYLAKE, 0x583, 0, PT_MSR_OK },
	{ "addr2_absent", SKYLAKE, 0x584, 0, PT_MSR_GP },
	{ "addr3_present", NEWEST, 0x587, 0, PT_MSR_OK },
	{ "not_ours_562", NEWEST, 0x562, 0, PT_MSR_NOT_OURS },
	{ "not_ours_573", NEWEST, 0x573, 0, PT_MSR_NOT_OURS },
	{ "not_ours_588", NEWEST, 0x588, 0, PT_MSR_NOT_OURS },

	/* Rule 4: reserved bits and fields whose feature is missing. */
	{ "ctl_bit_18", NEWEST, 0x570, 1ULL << 18, PT_MSR_GP },
	{ "ctl_bit_23", NEWEST, 0x570, 1ULL << 23, PT_MSR_GP },
	{ "ctl_bit_28", NEWEST, 0x570, 1ULL << 28, PT_MSR_GP },
	{ "ctl_bit_30", NEWEST, 0x570, 1ULL << 30, PT_MSR_GP },
	{ "ctl_bit_48", NEWEST, 0x570, 1ULL << 48, PT_MSR_GP },
	{ "ctl_bit_54", NEWEST, 0x570, 1ULL << 54, PT_MSR_GP },
	{ "ctl_bit_57", NEWEST, 0x570, 1ULL << 57, PT_MSR_GP },
	{ "ctl_bit_63", NEWEST, 0x570, 1ULL << 63, PT_MSR_GP },
	{ "cycen_absent", BROADWELL, 0x570, RTIT_CTL_CYCEN, PT_MSR_GP },
	{ "cycen_present", SKYLAKE, 0x570, RTIT_CTL_CYCEN, PT_MSR_OK },
	{ "cycthresh_absent", BROADWELL, 0x570, CYC(1), PT_MSR_GP },
	{ "psbfreq_absent", BROADWELL, 0x570, PSB(1), PT_MSR_GP },
	{ "mtcen_absent", BROADWELL, 0x570, RTIT_CTL_MTCEN, PT_MSR_GP },
	{ "mtcfreq_absent", BROADWELL, 0x570, MTC(3), PT_MSR_GP },
	{ "mtcen_present", SKYLAKE, 0x570, RTIT_CTL_MTCEN, PT_MSR_OK },
	{ "pwrevten_absent", SKYLAKE, 0x570, RTIT_CTL_PWREVTEN, PT_MSR_GP },
	{ "pwrevten_present", NEWEST, 0x570, RTIT_CTL_PWREVTEN, PT_MSR_OK },
	{ "fuponptw_absent", SKYLAKE, 0x570, RTIT_CTL_FUPONPTW, PT_MSR_GP },
	{ "ptwen_absent", SKYLAKE, 0x570, RTIT_CTL_PTWEN, PT_MSR_GP },
	{ "ptwen_present", NEWEST, 0x570,
	  RTIT_CTL_PTWEN | RTIT_CTL_FUPONPTW, PT_MSR_OK },
	{ "fabricen_absent", NEWEST, 0x570, RTIT_CTL_FABRICEN, PT_MSR_GP },
	{ "fabricen_present", FABRIC_ONLY, 0x570, RTIT_CTL_FABRICEN,
	  PT_MSR_OK },
	{ "cr3filter_absent", BARE, 0x570, RTIT_CTL_CR3FILTER, PT_MSR_GP },
	{ "cr3filter_present", BROADWELL, 0x570, RTIT_CTL_CR3FILTER,
	  PT_MSR_OK },
	{ "eventen_absent", SKYLAKE, 0x570, RTIT_CTL_EVENTEN, PT_MSR_GP },
	{ "eventen_present", NEWEST, 0x570, RTIT_CTL_EVENTEN, PT_MSR_OK },
	{ "distnt_absent", SKYLAKE, 0x570, RTIT_CTL_DISTNT, PT_MSR_GP },
	{ "distnt_present", NEWEST, 0x570, RTIT_CTL_DISTNT, PT_MSR_OK },
	{ "inject_absent", SKYLAKE, 0x570, RTIT_CTL_INJECTPSBPMI, PT_MSR_GP },
	{ "inject_present", NEWEST, 0x570, RTIT_CTL_INJECTPSBPMI, PT_MSR_OK },
	{ "always_there", BARE, 0x570,
	  RTIT_CTL_OS | RTIT_CTL_USER | RTIT_CTL_TSCEN | RTIT_CTL_DISRETC |
	  RTIT_CTL_BRANCHEN, PT_MSR_OK },

	/* Rule 5: encodings outside their bitmap, enable bit set or not. */
	{ "mtcfreq_3", SKYLAKE, 0x570, MTC(3), PT_MSR_OK },
	{ "mtcfreq_4", SKYLAKE, 0x570, MTC(4), PT_MSR_GP },
	{ "mtcfreq_4_enabled", SKYLAKE, 0x570, RTIT_CTL_MTCEN | MTC(4),
	  PT_MSR_GP },
	{ "cycthresh_13", SKYLAKE, 0x570, CYC(13), PT_MSR_OK },
	{ "cycthresh_14", SKYLAKE, 0x570, CYC(14), PT_MSR_GP },
	{ "psbfreq_5", SKYLAKE, 0x570, PSB(5), PT_MSR_OK },
	{ "psbfreq_6", SKYLAKE, 0x570, PSB(6), PT_MSR_GP },
	{ "mtcfreq_0_not_in_bitmap", "8:7:00080000:0", 0x570, 0, PT_MSR_GP },

	/* Rule 6: address range configurations. */
	{ "addr0_cfg_1", SKYLAKE, 0x570, ADDR(0, 1), PT_MSR_OK },
	{ "addr1_cfg_2", SKYLAKE, 0x570, ADDR(1, 2), PT_MSR_OK },
	{ "addr0_cfg_3", SKYLAKE, 0x570, ADDR(0, 3), PT_MSR_GP },
	{ "addr0_cfg_15", SKYLAKE, 0x570, ADDR(0, 15), PT_MSR_GP },
	{ "addr2_cfg_beyond", SKYLAKE, 0x570, ADDR(2, 1), PT_MSR_GP },
	{ "addr3_cfg_last", NEWEST, 0x570, ADDR(3, 2), PT_MSR_OK },
	{ "addr0_cfg_no_filtering", BROADWELL, 0x570, ADDR(0, 1), PT_MSR_GP },

	/* Rule 7: output schemes. */
	{ "topa_absent", "0:4", 0x570, RTIT_CTL_TOPA, PT_MSR_GP },
	{ "topa_present", TOPA_ONLY, 0x570, RTIT_CTL_TOPA | ON, PT_MSR_OK },
	{ "single_absent", TOPA_ONLY, 0x570, ON, PT_MSR_GP },
	{ "single_absent_off", TOPA_ONLY, 0x570, RTIT_CTL_OS, PT_MSR_OK },
	{ "single_present", BARE, 0x570, ON, PT_MSR_OK },
	{ "fabric_is_output", FABRIC_ONLY, 0x570, RTIT_CTL_FABRICEN | ON,
	  PT_MSR_OK },

	/* Rule 9: the other registers. */
	{ "base_bit_6", NEWEST, 0x560, 1 << 6, PT_MSR_GP },
	{ "base_bit_7", NEWEST, 0x560, 1 << 7, PT_MSR_OK },
	{ "base_bit_39", NEWEST, 0x560, 1ULL << 39, PT_MSR_OK },
	{ "base_bit_40", NEWEST, 0x560, 1ULL << 40, PT_MSR_GP },
	{ "mask_anything", NEWEST, 0x561, ~0ULL, PT_MSR_OK },
	{ "cr3_match_bit_4", NEWEST, 0x572, 1 << 4, PT_MSR_GP },
	{ "cr3_match_bit_5", NEWEST, 0x572, 1 << 5, PT_MSR_OK },
	{ "addr_canonical_low", NEWEST, 0x580, 0x7fffffffffff, PT_MSR_OK },
	{ "addr_not_canonical", NEWEST, 0x580, 0x800000000000, PT_MSR_GP },
	{ "addr_canonical_high", NEWEST, 0x581, 0xffff800000000000,
	  PT_MSR_OK },
	{ "status_bit_3", NEWEST, 0x571, 1 << 3, PT_MSR_GP },
	{ "status_error", NEWEST, 0x571, RTIT_STATUS_ERROR, PT_MSR_OK },
	{ "status_stopped", NEWEST, 0x571, RTIT_STATUS_STOPPED, PT_MSR_OK },
	{ "status_read_only", NEWEST, 0x571, 7, PT_MSR_OK },
	{ "status_pend_psb_absent", SKYLAKE, 0x571, RTIT_STATUS_PENDPSB,
	  PT_MSR_GP },
	{ "status_pend_pmi_absent", SKYLAKE, 0x571, RTIT_STATUS_PENDTOPAPMI,
	  PT_MSR_GP },
	{ "status_pend_present", NEWEST, 0x571,
	  RTIT_STATUS_PENDPSB | RTIT_STATUS_PENDTOPAPMI, PT_MSR_OK },
	{ "status_bit_8", NEWEST, 0x571, 1 << 8, PT_MSR_GP },
	{ "status_bit_31", NEWEST, 0x571, 1ULL << 31, PT_MSR_GP },
	{ "status_count", SKYLAKE, 0x571, RTIT_STATUS_BYTECNT, PT_MSR_OK },
	{ "status_count_absent", BROADWELL, 0x571, 1ULL << 32, PT_MSR_GP },
	{ "status_bit_49", NEWEST, 0x571, 1ULL << 49, PT_MSR_GP },

	/* Rule 10: Broadwell. */
	{ "branchen_needed", BROADWELL, 0x570, RTIT_CTL_TOPA | ON, PT_MSR_GP },
	{ "branchen_given", BROADWELL, 0x570,
	  RTIT_CTL_TOPA | RTIT_CTL_BRANCHEN | ON, PT_MSR_OK },
};

static void test_rules(void)
{
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		const struct rule *r = &rules[i];
		struct pt_msrs m = registers(r->model);
		struct pt_msrs before = m;
		uint64_t value = 0;
		enum pt_msr_result got = pt_msr_write(&m, r->msr, r->value);
		bool intact = got == PT_MSR_OK ||
			      memcmp(&m, &before, sizeof(m)) == 0;

		ktap_case(got == r->result && intact, "msr_write_%s", r->name);
		got = pt_msr_read(&m, r->msr, &value);
		if (r->result == PT_MSR_NOT_OURS || strstr(r->name, "absent"))
			continue;
		ktap_case(got == PT_MSR_OK, "msr_read_%s", r->name);
	}
}

static void test_absent_reads(void)
{
	static const struct {
		const char *model;
		uint32_t msr;
	} absent[] = {
		{ FABRIC_ONLY, 0x560 }, { FABRIC_ONLY, 0x561 },
		{ BARE, 0x572 }, { BROADWELL, 0x580 }, { SKYLAKE, 0x584 },
	};
	uint64_t value;

	for (size_t i = 0; i < sizeof(absent) / sizeof(absent[0]); i++) {
		struct pt_msrs m = registers(absent[i].model);

		ktap_case(pt_msr_read(&m, absent[i].msr, &value) == PT_MSR_GP,
			  "msr_read_absent_%x", absent[i].msr);
	}
}

static void test_reset_values(void)
{
	static const uint32_t addresses[] = {
		0x560, 0x561, 0x570, 0x571, 0x572, 0x580, 0x581, 0x582,
		0x583, 0x584, 0x585, 0x586, 0x587,
	};
	struct pt_msrs m = registers(NEWEST);

	for (size_t i = 0; i < sizeof(addresses) / 4; i++) {
		uint64_t expected = addresses[i] == 0x561 ? 0x7f : 0;
		uint64_t value = ~0ULL;

		pt_msr_read(&m, addresses[i], &value);
		ktap_case(value == expected, "msr_reset_%x", addresses[i]);
	}
}

/* Rule 2 and 3: writes while TraceEn is 1. */
static void test_writes_while_on(void)
{
	uint64_t on = RTIT_CTL_OS | ON;
	struct pt_msrs m = registers(NEWEST);
	static const uint32_t frozen[] = {
		0x560, 0x561, 0x571, 0x572, 0x580, 0x587,
	};

	pt_msr_write(&m, 0x570, on);
	for (size_t i = 0; i < sizeof(frozen) / 4; i++) {
		uint64_t same = 0;

		pt_msr_read(&m, frozen[i], &same);
		ktap_case(pt_msr_write(&m, frozen[i], same) == PT_MSR_GP,
			  "msr_frozen_while_on_%x", frozen[i]);
	}
	ktap_case(pt_msr_write(&m, 0x570, on) == PT_MSR_OK,
		  "msr_same_ctl_while_on_is_no_op");
	ktap_case(pt_msr_write(&m, 0x570, on | RTIT_CTL_USER) == PT_MSR_GP,
		  "msr_other_ctl_while_on_faults");
	ktap_case(pt_msr_write(&m, 0x570, RTIT_CTL_USER) == PT_MSR_OK &&
		  m.ctl == RTIT_CTL_USER,
		  "msr_clear_may_change_other_bits");
	pt_msr_write(&m, 0x570, on);
	ktap_case(pt_msr_write(&m, 0x570, 1ULL << 18) == PT_MSR_GP,
		  "msr_clear_checks_reserved_bits");
}

/* Rule 8. */
static void test_vmx(void)
{
	struct pt_msrs m = registers(NEWEST);

	m.vmx_operation = true;
	ktap_case(pt_msr_write(&m, 0x570, ON) == PT_MSR_GP,
		  "msr_enable_in_vmx_faults");
	ktap_case(pt_msr_write(&m, 0x570, RTIT_CTL_OS) == PT_MSR_OK,
		  "msr_ctl_in_vmx_without_traceen");
	m.vmx_pt = true;
	ktap_case(pt_msr_write(&m, 0x570, ON) == PT_MSR_OK,
		  "msr_enable_in_vmx_with_misc_14");
}

static void test_stored_values(void)
{
	struct pt_msrs m = registers(NEWEST);

	pt_msr_write(&m, 0x561, 0x123400000f00);
	ktap_case(m.mask_ptrs == 0x123400000f7f, "msr_mask_low_bits_read_7f");
	pt_msr_write(&m, 0x571, 7 | RTIT_STATUS_ERROR);
	ktap_case(m.status == RTIT_STATUS_ERROR,
		  "msr_status_read_only_bits_ignored");
	m.la57 = true;
	ktap_case(pt_msr_write(&m, 0x580, 0x800000000000) == PT_MSR_OK &&
		  pt_msr_write(&m, 0x580, 1ULL << 56) == PT_MSR_GP,
		  "msr_addr_canonical_57");
}

static void test_warm_reset(void)
{
	struct pt_msrs m = registers(SKYLAKE);

	pt_msr_write(&m, 0x560, 0x1000);
	pt_msr_write(&m, 0x580, 0x4000);
	pt_msr_write(&m, 0x570, RTIT_CTL_USER | ON);
	m.status |= 7;
	pt_msrs_warm_reset(&m);
	ktap_case(m.ctl == RTIT_CTL_USER && m.output_base == 0x1000 &&
		  m.addr[0] == 0x4000 && m.status == 0,
		  "msr_warm_reset_keeps_all_but_traceen");
	m = registers(BROADWELL);
	pt_msr_write(&m, 0x560, 0x1000);
	pt_msr_write(&m, 0x570, RTIT_CTL_USER);
	pt_msrs_warm_reset(&m);
	ktap_case(!m.ctl && !m.output_base && m.mask_ptrs == 0x7f,
		  "msr_warm_reset_clears_all_without_ip_filtering");
}

static void test_caps(void)
{
	struct testcpu_caps caps;
	char why[256];

	ktap_case(!testcpu_caps_parse(&caps, "486", why, sizeof(why)) &&
		  strstr(why, "broadwell"), "caps_unknown_refused_with_list");
	ktap_case(!testcpu_caps_parse(&caps, "1:2:3", why, sizeof(why)),
		  "caps_three_words_refused");
	ktap_case(!testcpu_caps_parse(&caps, "1:100000000", why, sizeof(why)),
		  "caps_too_wide_refused");
	ktap_case(testcpu_caps_parse(&caps, "f:7:2490002:3f3fff", why,
				     sizeof(why)) &&
		  caps.eax1 == 0x2490002 && caps.max_subleaf == 1 &&
		  testcpu_caps_ranges(&caps) == 2, "caps_words");
	ktap_case(testcpu_caps_parse(&caps, "4:7:7:0", why, sizeof(why)) &&
		  testcpu_caps_ranges(&caps) == 4, "caps_at_most_4_ranges");
}

/*
 * What CPUs of leaf 14H.1 without sense have is only encoding 0; a hypervisor
 * that holds even that against the leaf allows nothing.
 */
static void test_leaf_without_sense(void)
{
	static const char * const models[] = {
		"skylake-zero", "alderlake-early", "f:7:0:0",
	};
	struct pt_msrs m;

	for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
		m = registers(models[i]);
		ktap_case(pt_msr_write(&m, 0x570, RTIT_CTL_USER) == PT_MSR_OK &&
			  pt_msr_write(&m, 0x570, RTIT_CTL_MTCEN) ==
				PT_MSR_OK &&
			  pt_msr_write(&m, 0x570, MTC(3)) == PT_MSR_GP &&
			  pt_msr_write(&m, 0x570, PSB(2)) == PT_MSR_GP &&
			  pt_msr_write(&m, 0x570, ADDR(0, 1)) == PT_MSR_GP,
			  "caps_%s_allows_encoding_0_alone", models[i]);
	}
	m = registers("zero-kvm");
	ktap_case(pt_msr_write(&m, 0x570, RTIT_CTL_USER) == PT_MSR_GP,
		  "caps_zero_kvm_allows_nothing");
	m = registers("f:7:2480002:3e3ffe");
	ktap_case(pt_msr_write(&m, 0x570, PSB(1) | CYC(1)) == PT_MSR_GP &&
		  pt_msr_write(&m, 0x570, PSB(1) | CYC(1) | MTC(3)) ==
			PT_MSR_OK,
		  "caps_encoding_0_is_held_against_its_bitmap");
}

int main(void)
{
	test_reset_values();
	test_rules();
	test_absent_reads();
	test_writes_while_on();
	test_vmx();
	test_stored_values();
	test_warm_reset();
	test_caps();
	test_leaf_without_sense();
	return ktap_finish();
}
