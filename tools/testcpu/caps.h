/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the modelled CPU can do: the words of CPUID leaf 14H and the few facts
 * beside them, for each generation of CPUs by name. Filled once from the
 * options, read only afterwards, any thread.
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
 * @eax1: ranges and MTC periods that it has, as in CPUID.(14H,1):EAX
 * @ebx1: cycle thresholds and PSB periods that it has, as in EBX
 * @leaf_eax1: CPUID.(14H,1):EAX; some CPUs hide what they have
 * @leaf_ebx1: CPUID.(14H,1):EBX
 * @tsc_den: CPUID.15H:EAX, 0 not given
 * @tsc_num: CPUID.15H:EBX
 * @leaf_crystal: CPUID.15H:ECX, 0 not given
 * @tsc_hz: frequency of the TSC
 * @signature: CPUID.1:EAX, family, model and stepping; 0: as QEMU has it
 * @core_type: CPUID.1AH:EAX[31:24], given where cores differ
 * @maxphyaddr: width of a physical address
 * @branch_en_needed: TraceEn without BranchEn faults (Broadwell, BDM106)
 */
struct testcpu_caps {
	uint32_t max_subleaf;
	uint32_t ebx;
	uint32_t ecx;
	uint32_t eax1;
	uint32_t ebx1;
	uint32_t leaf_eax1;
	uint32_t leaf_ebx1;
	uint32_t tsc_den;
	uint32_t tsc_num;
	uint32_t leaf_crystal;
	uint64_t tsc_hz;
	uint32_t signature;
	uint8_t core_type;
	unsigned int maxphyaddr;
	bool branch_en_needed;
};

#define TESTCPU_CORE_ATOM	0x20
#define TESTCPU_CORE_CORE	0x40

/**
 * testcpu_caps_parse - a preset name, or the words in hexadecimal
 * @caps: filled on success only
 * @text: the name of a preset, or EBX:ECX[:EAX1:EBX1]. Words that name no
 *	encoding of a field leave it encoding 0.
 * @why: receives a sentence when the text is refused
 * @size: of @why
 *
 * Return: true, or false with @why filled.
 */
bool testcpu_caps_parse(struct testcpu_caps *caps, const char *text,
			char *why, size_t size);

/** testcpu_caps_help - one preset a line: its name, and which CPU it is */
const char *testcpu_caps_help(void);

/** testcpu_caps_ranges - number of ADDRn ranges the CPU has, 0 to 4 */
unsigned int testcpu_caps_ranges(const struct testcpu_caps *caps);

#endif /* TESTCPU_CAPS_H */
