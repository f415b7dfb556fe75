// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPU models for the test CPU: named presets and free-form CPUID words
 * (Intel SDM Vol. 3C, "Enumeration of Intel PT"). Owns the tables; what a
 * capability permits is msr_model's business. No state.
 */
#include "caps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../kmod/rtit_regs.h"

struct preset {
	const char *name;
	struct testcpu_caps caps;
};

static const struct preset presets[] = {
	{ "broadwell", {
		.max_subleaf = 0,
		.ebx = RTIT_CAP_CR3_FILTER,
		.ecx = RTIT_CAP_TOPA,
		.maxphyaddr = 40,
		.branch_en_needed = true,
	} },
	{ "skylake", {
		.max_subleaf = 1,
		.ebx = RTIT_CAP_CR3_FILTER | RTIT_CAP_PSB_CYC |
		       RTIT_CAP_IP_FILTER | RTIT_CAP_MTC,
		.ecx = RTIT_CAP_TOPA | RTIT_CAP_TOPA_MULTI |
		       RTIT_CAP_SINGLE_RANGE,
		.eax1 = 0x02490002,
		.ebx1 = 0x003f3fff,
		.maxphyaddr = 40,
	} },
	{ "newest", {
		.max_subleaf = 1,
		.ebx = RTIT_CAP_CR3_FILTER | RTIT_CAP_PSB_CYC |
		       RTIT_CAP_IP_FILTER | RTIT_CAP_MTC | RTIT_CAP_PTWRITE |
		       RTIT_CAP_PWR_EVT | RTIT_CAP_PSB_PMI_PRESERVE |
		       RTIT_CAP_EVENT_TRACE | RTIT_CAP_TNT_DISABLE,
		.ecx = RTIT_CAP_TOPA | RTIT_CAP_TOPA_MULTI |
		       RTIT_CAP_SINGLE_RANGE | RTIT_CAP_LIP,
		.eax1 = 0x02490004,
		.ebx1 = 0x003f3fff,
		.maxphyaddr = 40,
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
		.eax1 = word[2],
		.ebx1 = word[3],
		.maxphyaddr = 40,
	};
	return true;
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
	snprintf(why, size, "caps=%s is not a CPU model; allowed: broadwell, skylake, newest, or CPUID 14H words in hexadecimal as EBX:ECX or EBX:ECX:EAX1:EBX1",
		 text);
	return false;
}

unsigned int testcpu_caps_ranges(const struct testcpu_caps *caps)
{
	unsigned int n = caps->eax1 & RTIT_CAP1_RANGES;

	if (!(caps->ebx & RTIT_CAP_IP_FILTER) || caps->max_subleaf < 1)
		return 0;
	return n > RTIT_ADDR_RANGES_MAX ? RTIT_ADDR_RANGES_MAX : n;
}
