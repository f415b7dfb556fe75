// SPDX-License-Identifier: GPL-2.0-only
/*
 * Answers of CPUID, see cpuid_model.h.
 */
#include "cpuid_model.h"

#include "../../kmod/hw/rtit_regs.h"

#define CPUID_7_EDX_HYBRID	(1u << 15)

/* Leaf 5, "MONITOR/MWAIT": sub-states of C1, C2 and C3. */
#define CPUID_5_EDX_SUBSTATES	0x1120

static uint32_t max_leaf(const struct testcpu_options *options)
{
	if (testcpu_options_hybrid(options))
		return RTIT_CPUID_CORE_LEAF;
	return options->caps.tsc_den ? RTIT_CPUID_TSC_LEAF : RTIT_CPUID_LEAF;
}

static struct cpuid_regs pt_leaf(const struct testcpu_caps *caps,
				 uint32_t subleaf)
{
	if (subleaf == 0)
		return (struct cpuid_regs){
			.eax = caps->max_subleaf,
			.ebx = caps->ebx,
			.ecx = caps->ecx,
		};
	if (subleaf == 1 && caps->max_subleaf >= 1)
		return (struct cpuid_regs){
			.eax = caps->leaf_eax1,
			.ebx = caps->leaf_ebx1,
		};
	return (struct cpuid_regs){ 0 };
}

enum cpuid_source cpuid_answer(const struct cpuid_query *query,
			       struct cpuid_regs *regs)
{
	const struct testcpu_caps *caps = query->caps;

	switch (query->leaf) {
	case 0:
		return CPUID_AMENDED;
	case 1:
		return caps->signature ? CPUID_AMENDED : CPUID_FROM_QEMU;
	case 5:
		return query->options->mwait ? CPUID_AMENDED : CPUID_FROM_QEMU;
	case 7:
		return query->subleaf ? CPUID_FROM_QEMU : CPUID_AMENDED;
	case RTIT_CPUID_LEAF:
		*regs = pt_leaf(caps, query->subleaf);
		return CPUID_FROM_MODEL;
	case RTIT_CPUID_TSC_LEAF:
		*regs = (struct cpuid_regs){
			.eax = caps->tsc_den,
			.ebx = caps->tsc_num,
			.ecx = query->show_crystal ? caps->leaf_crystal : 0,
		};
		return CPUID_FROM_MODEL;
	case RTIT_CPUID_TSC_LEAF + 1 ... RTIT_CPUID_CORE_LEAF:
		/* Leaves up to that of the core type, of which QEMU knows none. */
		if (!testcpu_options_hybrid(query->options))
			return CPUID_FROM_QEMU;
		*regs = (struct cpuid_regs){ 0 };
		if (query->leaf == RTIT_CPUID_CORE_LEAF)
			regs->eax = (uint32_t)caps->core_type << 24;
		return CPUID_FROM_MODEL;
	case CPUID_INSN_COUNT_LEAF:
		if (!query->options->insn_count)
			return CPUID_FROM_QEMU;
		*regs = (struct cpuid_regs){
			.eax = (uint32_t)query->insns,
			.edx = (uint32_t)(query->insns >> 32),
		};
		return CPUID_FROM_MODEL;
	}
	return CPUID_FROM_QEMU;
}

void cpuid_amend(const struct cpuid_query *query, struct cpuid_regs *regs)
{
	uint32_t highest = max_leaf(query->options);

	switch (query->leaf) {
	case 0:
		if (regs->eax < highest)
			regs->eax = highest;
		return;
	case 1:
		regs->eax = query->caps->signature;
		return;
	case 5:
		regs->edx = CPUID_5_EDX_SUBSTATES;
		return;
	case 7:
		regs->ebx |= RTIT_CPUID_PRESENT_EBX;
		if (testcpu_options_hybrid(query->options))
			regs->edx |= CPUID_7_EDX_HYBRID;
		return;
	}
}
