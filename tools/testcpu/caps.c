// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPU models for the test CPU: a preset for each generation of CPUs with
 * Intel PT, and free-form CPUID words (Intel SDM Vol. 3C, "Enumeration of
 * Intel PT"). Owns the tables; what a capability permits is msr_model's
 * business. No state.
 */
#include "caps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../kmod/hw/rtit_regs.h"

struct preset {
	const char *name;
	const char *about;
	struct testcpu_caps caps;
};

/* CPUID.(14H,0):EBX as generations have added to it. */
#define EBX_SKYLAKE	(RTIT_CAP_CR3_FILTER | RTIT_CAP_PSB_CYC | \
			 RTIT_CAP_IP_FILTER | RTIT_CAP_MTC)
#define EBX_TIGERLAKE	(EBX_SKYLAKE | RTIT_CAP_PSB_PMI_PRESERVE)
#define EBX_ALDERLAKE	(EBX_TIGERLAKE | RTIT_CAP_PTWRITE)
#define EBX_LUNARLAKE	(EBX_ALDERLAKE | RTIT_CAP_TNT_DISABLE)
#define EBX_GOLDMONT_P	(EBX_SKYLAKE | RTIT_CAP_PTWRITE | RTIT_CAP_PWR_EVT)
#define EBX_ELKHARTLAKE	(EBX_GOLDMONT_P | RTIT_CAP_PSB_PMI_PRESERVE)
#define EBX_ALDERLAKE_N	(EBX_ELKHARTLAKE | RTIT_CAP_EVENT_TRACE | \
			 RTIT_CAP_TNT_DISABLE)

/* CPUID.(14H,0):ECX: output, and LIP on Atoms. */
#define ECX_MULTI	(RTIT_CAP_TOPA | RTIT_CAP_TOPA_MULTI)
#define ECX_CORE	(ECX_MULTI | RTIT_CAP_SINGLE_RANGE)
#define ECX_ATOM	(ECX_CORE | RTIT_CAP_LIP)

/* CPUID.(14H,1): 2 ranges, MTCFreq 0, 3, 6, 9; PSBFreq 0 to 5, CycThresh. */
#define EAX1_ALL	0x02490002
#define EBX1_SKYLAKE	0x003f3fff
#define EBX1_ICELAKE	0x003f1fff
#define EBX1_ALDERLAKE	0x003f003f
#define EBX1_ATOM	0x003fffff

/* Encoding 0 of each field and nothing else. */
#define EAX1_ZERO	(1u << RTIT_CAP1_MTC_SHIFT)
#define EBX1_ZERO	(1u << RTIT_CAP1_PSB_SHIFT | 1u)

#define CRYSTAL_ATOM	19200000u
#define CRYSTAL_CLIENT	38400000u
#define CRYSTAL_SERVER	25000000u
#define CRYSTAL_24	24000000u

/* EAX1 and EBX1 that a CPU both has and shows. */
#define LEAF1(_eax1, _ebx1)						\
	.max_subleaf = 1, .eax1 = _eax1, .leaf_eax1 = _eax1,		\
	.ebx1 = _ebx1, .leaf_ebx1 = _ebx1

#define CLOCK(_den, _num, _leaf_crystal, _crystal)			\
	.tsc_den = _den, .tsc_num = _num, .leaf_crystal = _leaf_crystal,	\
	.tsc_hz = (uint64_t)(_crystal) * (_num) / (_den)

#define CORE(_signature)						\
	.signature = _signature, .core_type = TESTCPU_CORE_CORE,	\
	.maxphyaddr = 40
#define ATOM(_signature)						\
	.signature = _signature, .core_type = TESTCPU_CORE_ATOM,	\
	.maxphyaddr = 40

/* From published CPUID dumps of real CPUs, one row a kind of leaf 14H. */
static const struct preset presets[] = {
	{ "broadwell", "the first with PT, also Broadwell-E and -H", {
		CORE(0x306d4), .ebx = RTIT_CAP_CR3_FILTER,
		.ecx = RTIT_CAP_TOPA, .tsc_hz = 2000000000,
		.branch_en_needed = true,
	} },
	{ "skylake", "also Kaby, Coffee, Comet Lake", {
		CORE(0x406e3), .ebx = EBX_SKYLAKE, .ecx = ECX_CORE,
		LEAF1(EAX1_ALL, EBX1_SKYLAKE), CLOCK(2, 0xd8, 0, CRYSTAL_24),
	} },
	{ "skylake-sp", "also Cascade Lake; a server's crystal", {
		CORE(0x50654), .ebx = EBX_SKYLAKE, .ecx = ECX_CORE,
		LEAF1(EAX1_ALL, EBX1_SKYLAKE),
		CLOCK(2, 0xd8, 0, CRYSTAL_SERVER),
	} },
	{ "skylake-zero", "a Skylake whose leaf 14H.1 is all zero", {
		CORE(0x906e9), .ebx = EBX_SKYLAKE, .ecx = ECX_CORE,
		.max_subleaf = 1, .eax1 = EAX1_ZERO, .ebx1 = EBX1_ZERO,
		CLOCK(2, 0xd8, 0, CRYSTAL_24),
	} },
	{ "cometlake", "a Comet Lake without single-range output", {
		CORE(0xa0655), .ebx = EBX_SKYLAKE, .ecx = ECX_MULTI,
		LEAF1(EAX1_ALL, EBX1_SKYLAKE), CLOCK(2, 0x134, 0, CRYSTAL_24),
	} },
	{ "icelake", "also Cannon, Rocket Lake, Ice Lake-SP", {
		CORE(0x706e5), .ebx = EBX_SKYLAKE, .ecx = ECX_CORE,
		LEAF1(EAX1_ALL, EBX1_ICELAKE),
		CLOCK(2, 0x4e, CRYSTAL_CLIENT, CRYSTAL_CLIENT),
	} },
	{ "tigerlake", "PSB and PMI preservation", {
		CORE(0x806c1), .ebx = EBX_TIGERLAKE, .ecx = ECX_CORE,
		LEAF1(EAX1_ALL, EBX1_ICELAKE),
		CLOCK(2, 0x7e, CRYSTAL_CLIENT, CRYSTAL_CLIENT),
	} },
	{ "alderlake", "PTWRITE; also Raptor and Meteor Lake", {
		CORE(0x906a3), .ebx = EBX_ALDERLAKE, .ecx = ECX_CORE,
		LEAF1(EAX1_ALL, EBX1_ALDERLAKE),
		CLOCK(2, 0x82, CRYSTAL_CLIENT, CRYSTAL_CLIENT),
	} },
	{ "sapphirerapids", "a server; also Emerald and Granite Rapids", {
		CORE(0x806f8), .ebx = EBX_ALDERLAKE, .ecx = ECX_CORE,
		LEAF1(EAX1_ALL, EBX1_ALDERLAKE),
		CLOCK(2, 0xd8, CRYSTAL_24, CRYSTAL_24),
	} },
	{ "alderlake-early", "an Alder Lake whose leaf 14H.1 repeats leaf 14H.0", {
		CORE(0x90675), .ebx = EBX_ALDERLAKE, .ecx = ECX_CORE,
		.max_subleaf = 1, .eax1 = EAX1_ZERO, .ebx1 = EBX1_ZERO,
		.leaf_eax1 = 1, .leaf_ebx1 = EBX_ALDERLAKE,
		CLOCK(2, 0x82, CRYSTAL_CLIENT, CRYSTAL_CLIENT),
	} },
	{ "lunarlake", "TNT disable; also Arrow and Panther Lake", {
		CORE(0xb06d1), .ebx = EBX_LUNARLAKE, .ecx = ECX_CORE,
		LEAF1(EAX1_ALL, EBX1_ALDERLAKE),
		CLOCK(2, 0xac, CRYSTAL_CLIENT, CRYSTAL_CLIENT),
	} },
	{ "goldmont", "an Atom: LIP; also Denverton", {
		ATOM(0x506c9), .ebx = EBX_SKYLAKE, .ecx = ECX_ATOM,
		LEAF1(EAX1_ALL, EBX1_ATOM),
		CLOCK(3, 0xab, CRYSTAL_ATOM, CRYSTAL_ATOM),
	} },
	{ "goldmont-plus", "an Atom with PTWRITE and power events", {
		ATOM(0x706a1), .ebx = EBX_GOLDMONT_P, .ecx = ECX_ATOM,
		LEAF1(EAX1_ALL, EBX1_ATOM),
		CLOCK(3, 0xea, CRYSTAL_ATOM, CRYSTAL_ATOM),
	} },
	{ "elkhartlake", "an Atom with PSB and PMI preservation; also Jasper Lake", {
		ATOM(0x90661), .ebx = EBX_ELKHARTLAKE, .ecx = ECX_ATOM,
		LEAF1(EAX1_ALL, EBX1_ATOM),
		CLOCK(2, 0x68, CRYSTAL_CLIENT, CRYSTAL_CLIENT),
	} },
	{ "alderlake-n", "an Atom with event trace and TNT disable; also Twin Lake", {
		ATOM(0xb06e0), .ebx = EBX_ALDERLAKE_N, .ecx = ECX_ATOM,
		LEAF1(EAX1_ALL, EBX1_ATOM),
		CLOCK(2, 0x58, CRYSTAL_CLIENT, CRYSTAL_CLIENT),
	} },
	{ "lakefield", "what the cores of a Lakefield share", {
		CORE(0x806a1), .ebx = EBX_SKYLAKE, .ecx = ECX_ATOM,
		LEAF1(EAX1_ALL, EBX1_ICELAKE),
		CLOCK(2, 0x48, CRYSTAL_CLIENT, CRYSTAL_CLIENT),
	} },
	{ "newest", "no real CPU: all there is, and four ranges", {
		.ebx = EBX_ALDERLAKE_N, .ecx = ECX_ATOM,
		LEAF1(0x02490004, EBX1_SKYLAKE),
		CLOCK(2, 160, 0, CRYSTAL_SERVER), .maxphyaddr = 40,
	} },
	{ "zero-kvm", "a virtual machine: leaf 14H.1 is zero and no value allowed", {
		.ebx = EBX_SKYLAKE, .ecx = ECX_CORE, .max_subleaf = 1,
		CLOCK(2, 160, 0, CRYSTAL_SERVER), .maxphyaddr = 40,
	} },
};

#define NUM_PRESETS (sizeof(presets) / sizeof(presets[0]))

/* Four words at most, separated by colons. Returns how many, or 0. */
static unsigned int parse_words(const char *text, uint32_t word[4])
{
	unsigned int n = 0;

	while (n < 4) {
		char *end;
		unsigned long long v = strtoull(text, &end, 16);

		if (end == text || v > UINT32_MAX)
			return 0;
		word[n++] = (uint32_t)v;
		if (!*end)
			return n;
		if (*end != ':')
			return 0;
		text = end + 1;
	}
	return 0;
}

/* A field of which CPUID shows no encoding still has encoding 0. */
static uint32_t at_least_zero(uint32_t words, uint32_t mask)
{
	return words & mask ? words : words | (mask & -mask);
}

static bool words_to_caps(struct testcpu_caps *caps, const char *text)
{
	uint32_t word[4] = { 0 };
	unsigned int n = parse_words(text, word);

	if (n != 2 && n != 4)
		return false;
	*caps = (struct testcpu_caps) {
		.max_subleaf = n == 4,
		.ebx = word[0],
		.ecx = word[1],
		.leaf_eax1 = word[2],
		.leaf_ebx1 = word[3],
		CLOCK(2, 160, 0, CRYSTAL_SERVER),
		.maxphyaddr = 40,
	};
	caps->eax1 = at_least_zero(word[2], ~0u << RTIT_CAP1_MTC_SHIFT);
	caps->ebx1 = at_least_zero(word[3], RTIT_CAP1_CYC_MASK);
	caps->ebx1 = at_least_zero(caps->ebx1, ~0u << RTIT_CAP1_PSB_SHIFT);
	return true;
}

static void refuse_model(const char *text, char *why, size_t size)
{
	int at = snprintf(why, size, "caps=%s is not a CPU model; allowed:",
			  text);

	for (size_t i = 0; i < NUM_PRESETS && at > 0 && (size_t)at < size; i++)
		at += snprintf(why + at, size - (size_t)at, " %s,",
			       presets[i].name);
	if (at > 0 && (size_t)at < size)
		snprintf(why + at, size - (size_t)at,
			 " or CPUID 14H words in hexadecimal as EBX:ECX or EBX:ECX:EAX1:EBX1");
}

bool testcpu_caps_parse(struct testcpu_caps *caps, const char *text,
			char *why, size_t size)
{
	for (size_t i = 0; i < NUM_PRESETS; i++) {
		if (strcmp(text, presets[i].name) == 0) {
			*caps = presets[i].caps;
			return true;
		}
	}
	if (words_to_caps(caps, text))
		return true;
	refuse_model(text, why, size);
	return false;
}

const char *testcpu_caps_help(void)
{
	static char text[4096];
	size_t at = 0;

	for (size_t i = 0; i < NUM_PRESETS; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at,
				       "    %-16s %s\n", presets[i].name,
				       presets[i].about);
	return text;
}

unsigned int testcpu_caps_ranges(const struct testcpu_caps *caps)
{
	unsigned int n = caps->eax1 & RTIT_CAP1_RANGES;

	if (!(caps->ebx & RTIT_CAP_IP_FILTER) || caps->max_subleaf < 1)
		return 0;
	return n > RTIT_ADDR_RANGES_MAX ? RTIT_ADDR_RANGES_MAX : n;
}
