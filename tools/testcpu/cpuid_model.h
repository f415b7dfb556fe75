/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What CPUID says on the test CPU where that differs from QEMU's answer. Knows no
 * QEMU; pure functions, any thread.
 */
#ifndef TESTCPU_CPUID_MODEL_H
#define TESTCPU_CPUID_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "options.h"

/* No CPU has this leaf ("KIPT"): instructions executed, EDX:EAX. */
#define CPUID_INSN_COUNT_LEAF	0x4b495054

/** struct cpuid_regs - the registers that CPUID writes */
struct cpuid_regs {
	uint32_t eax;
	uint32_t ebx;
	uint32_t ecx;
	uint32_t edx;
};

/**
 * struct cpuid_query - one CPUID instruction
 * @options: of the test CPU
 * @caps: model of the vCPU that executes it
 * @leaf: EAX
 * @subleaf: ECX
 * @show_crystal: leaf 15H names the frequency of the crystal, if the model has one
 * @insns: instructions that the vCPU executed
 */
struct cpuid_query {
	const struct testcpu_options *options;
	const struct testcpu_caps *caps;
	uint32_t leaf;
	uint32_t subleaf;
	bool show_crystal;
	uint64_t insns;
};

/**
 * enum cpuid_source - whose answer a CPUID gets
 * @CPUID_FROM_QEMU: QEMU's
 * @CPUID_AMENDED: QEMU's, with what cpuid_amend() changes of it
 * @CPUID_FROM_MODEL: the test CPU's; QEMU must not execute the instruction
 */
enum cpuid_source {
	CPUID_FROM_QEMU,
	CPUID_AMENDED,
	CPUID_FROM_MODEL,
};

/**
 * cpuid_answer() - whose answer it is, and the test CPU's
 * @query: the instruction
 * @regs: filled for CPUID_FROM_MODEL only
 */
enum cpuid_source cpuid_answer(const struct cpuid_query *query,
			       struct cpuid_regs *regs);

/**
 * cpuid_amend() - put the test CPU's part into QEMU's answer
 * @query: the instruction, for which cpuid_answer() returned CPUID_AMENDED
 * @regs: what QEMU answered
 */
void cpuid_amend(const struct cpuid_query *query, struct cpuid_regs *regs);

#endif /* TESTCPU_CPUID_MODEL_H */
