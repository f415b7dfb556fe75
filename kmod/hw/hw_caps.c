// SPDX-License-Identifier: GPL-2.0-only
/*
 * Capabilities: reads them on each CPU, and finds what CPUs have in common.
 * Leaves judging by them to hw_check.c. Reading runs on the CPU itself, the
 * rest anywhere.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/percpu.h>
#include <linux/string.h>
#include <asm/cpufeature.h>
#include <asm/msr.h>
#include <asm/processor.h>

#include "../lib/compat.h"
#include "hw.h"
#include "hw_regs.h"

static DEFINE_PER_CPU(struct kipt_caps, cpu_caps);
static DEFINE_PER_CPU(bool, cpu_seen);

int kipt_hw_read_local(u32 msr, u64 *value)
{
	u32 low, high;

	*value = 0;
	if (rdmsr_safe(msr, &low, &high))
		return -EIO;
	*value = (u64)high << 32 | low;
	return 0;
}

static void read_pt_leaves(struct kipt_caps *caps)
{
	u64 misc, platform;
	u32 unused;

	caps->pt = true;
	cpuid_count(RTIT_CPUID_LEAF, 0, &caps->leaf0_eax, &caps->leaf0_ebx,
		    &caps->leaf0_ecx, &unused);
	if (caps->leaf0_eax >= 1)
		cpuid_count(RTIT_CPUID_LEAF, 1, &caps->leaf1_eax,
			    &caps->leaf1_ebx, &unused, &unused);
	caps->values = rtit_values_read((u32 []){ caps->leaf0_eax,
						  caps->leaf0_ebx },
					(u32 []){ caps->leaf1_eax,
						  caps->leaf1_ebx });
	kipt_hw_read_local(RTIT_VMX_MISC, &misc);
	caps->vmx_pt = !!(misc & RTIT_VMX_MISC_PT);
	kipt_hw_read_local(RTIT_PLATFORM_INFO, &platform);
	caps->max_nonturbo_ratio = platform >> 8 & 0xff;
}

static void read_tsc_leaf(struct kipt_caps *caps)
{
	u32 unused;

	cpuid(RTIT_CPUID_TSC_LEAF, &caps->tsc_den, &caps->tsc_num,
	      &caps->crystal_hz, &unused);
}

static void read_model(struct kipt_caps *caps, const struct cpuinfo_x86 *cpu)
{
	caps->family = cpu->x86;
	caps->model = cpu->x86_model;
	caps->stepping = cpu->x86_stepping;
	if (cpu_has(cpu, X86_FEATURE_HYBRID_CPU) &&
	    cpu->cpuid_level >= RTIT_CPUID_CORE_LEAF)
		caps->core_type = cpuid_eax(RTIT_CPUID_CORE_LEAF) >> 24;
}

/* Of the kernel's flag, not of CPUID: clearcpuid= takes it away. */
void kipt_caps_read_local(void)
{
	const struct cpuinfo_x86 *cpu = &cpu_data(smp_processor_id());
	struct kipt_caps caps;

	memset(&caps, 0, sizeof(caps));
	if (cpu_has(cpu, X86_FEATURE_INTEL_PT) &&
	    cpu->cpuid_level >= RTIT_CPUID_LEAF) {
		read_pt_leaves(&caps);
		if (cpu->cpuid_level >= RTIT_CPUID_TSC_LEAF)
			read_tsc_leaf(&caps);
		read_model(&caps, cpu);
	}
	*this_cpu_ptr(&cpu_caps) = caps;
	/* Pairs with smp_load_acquire() in kipt_caps_cpu_seen(). */
	smp_store_release(this_cpu_ptr(&cpu_seen), true);
}

bool kipt_caps_cpu_seen(unsigned int cpu)
{
	/* Pairs with smp_store_release() in kipt_caps_read_local(). */
	return smp_load_acquire(per_cpu_ptr(&cpu_seen, cpu));
}

bool kipt_caps_cpu_has_pt(unsigned int cpu)
{
	return READ_ONCE(per_cpu(cpu_caps, cpu).pt);
}

const struct kipt_caps *kipt_caps_cpu(unsigned int cpu)
{
	return &per_cpu(cpu_caps, cpu);
}

static void keep_if_equal(u32 *all, u32 one)
{
	if (*all != one)
		*all = 0;
}

void kipt_caps_share_clock(struct kipt_caps *all, const struct kipt_caps *one)
{
	keep_if_equal(&all->tsc_den, one->tsc_den);
	keep_if_equal(&all->tsc_num, one->tsc_num);
	keep_if_equal(&all->crystal_hz, one->crystal_hz);
	keep_if_equal(&all->max_nonturbo_ratio, one->max_nonturbo_ratio);
}

static void intersect(struct kipt_caps *all, const struct kipt_caps *one)
{
	all->pt &= one->pt;
	all->vmx_pt &= one->vmx_pt;
	all->leaf0_eax = min(all->leaf0_eax, one->leaf0_eax);
	all->leaf0_ebx &= one->leaf0_ebx;
	all->leaf0_ecx &= one->leaf0_ecx;
	/* The low bits count address ranges, the high half is a bitmap. */
	all->leaf1_eax = (all->leaf1_eax & one->leaf1_eax &
			  ~RTIT_CAP1_RANGES) |
			 min(all->leaf1_eax & RTIT_CAP1_RANGES,
			     one->leaf1_eax & RTIT_CAP1_RANGES);
	all->leaf1_ebx &= one->leaf1_ebx;
	rtit_values_share(&all->values, &one->values);
	kipt_caps_share_clock(all, one);
	keep_if_equal(&all->family, one->family);
	keep_if_equal(&all->model, one->model);
	keep_if_equal(&all->stepping, one->stepping);
	keep_if_equal(&all->core_type, one->core_type);
}

void kipt_caps_of(const struct cpumask *cpus, struct kipt_caps *caps)
{
	bool any = false;
	unsigned int cpu;

	memset(caps, 0, sizeof(*caps));
	for_each_cpu(cpu, cpus) {
		if (!kipt_caps_cpu_seen(cpu))
			continue;
		if (any)
			intersect(caps, &per_cpu(cpu_caps, cpu));
		else
			*caps = per_cpu(cpu_caps, cpu);
		any = true;
	}
	if (!caps->pt)
		memset(caps, 0, sizeof(*caps));
}

/* No padding: kinds are compared byte by byte. */
static_assert(sizeof(struct kipt_caps) == 15 * sizeof(u32) + sizeof(struct rtit_values));
static_assert(sizeof(struct rtit_values) == 5 * sizeof(unsigned int));

bool kipt_caps_take_kind(struct cpumask *cpus, struct cpumask *kind,
			 struct kipt_caps *caps)
{
	unsigned int cpu, first = cpumask_first(cpus);

	if (first >= nr_cpu_ids)
		return false;
	*caps = per_cpu(cpu_caps, first);
	cpumask_clear(kind);
	for_each_cpu(cpu, cpus)
		if (!memcmp(&per_cpu(cpu_caps, cpu), caps, sizeof(*caps)))
			cpumask_set_cpu(cpu, kind);
	cpumask_andnot(cpus, cpus, kind);
	return true;
}
