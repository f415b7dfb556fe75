/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the modelled CPU can do: the words of CPUID leaf 14H and the few facts
 * beside them. Filled once from the options, read only afterwards, any
 * thread.
 */
#ifndef TESTCPU_CAPS_H
#define TESTCPU_CAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct testcpu_caps - one CPU model
 * @max_subleaf: CPUID.(14H,0):EAX
 * @ebx: CPUID.(14H,0):EBX, RTIT_CAP_*
 * @ecx: CPUID.(14H,0):ECX, RTIT_CAP_*
 * @eax1: CPUID.(14H,1):EAX, ranges and MTC periods
 * @ebx1: CPUID.(14H,1):EBX, cycle thresholds and PSB periods
 * @maxphyaddr: width of a physical address
 * @branch_en_needed: TraceEn without BranchEn faults (Broadwell, BDM106)
 */
struct testcpu_caps {
	uint32_t max_subleaf;
	uint32_t ebx;
	uint32_t ecx;
	uint32_t eax1;
	uint32_t ebx1;
	unsigned int maxphyaddr;
	bool branch_en_needed;
};

/**
 * testcpu_caps_parse - a preset name, or the words in hexadecimal
 * @caps: filled on success only
 * @text: broadwell, skylake, newest, or EBX:ECX[:EAX1:EBX1]
 * @why: receives a sentence when the text is refused
 * @size: of @why
 *
 * Return: true, or false with @why filled.
 */
bool testcpu_caps_parse(struct testcpu_caps *caps, const char *text,
			char *why, size_t size);

/** testcpu_caps_ranges - number of ADDRn ranges the CPU has, 0 to 4 */
unsigned int testcpu_caps_ranges(const struct testcpu_caps *caps);

#endif /* TESTCPU_CAPS_H */
