/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The hardware: the only way to CPUID and to the MSRs of Intel PT. hw_caps.c
 * says what CPUs can do and judges a configuration, hw_msr.c programs the
 * CPU it runs on. Functions that end in _local act on this CPU: the caller
 * keeps it from changing.
 */
#ifndef KIPT_HW_H
#define KIPT_HW_H

#include <linux/cpumask.h>
#include <linux/types.h>

#include "hw_regs.h"
#include "rtit_features.h"

/**
 * struct kipt_caps - what a CPU, or all of some CPUs, can do
 * @pt: Intel PT is there; all else is 0 if not
 * @vmx_pt: IA32_VMX_MISC[14], tracing may go on in VMX operation
 * @leaf0_eax: CPUID.(EAX=14H,ECX=0):EAX
 * @leaf0_ebx: CPUID.(EAX=14H,ECX=0):EBX
 * @leaf0_ecx: CPUID.(EAX=14H,ECX=0):ECX
 * @leaf1_eax: CPUID.(EAX=14H,ECX=1):EAX
 * @leaf1_ebx: CPUID.(EAX=14H,ECX=1):EBX
 * @values: what leaf 14H.1 allows, as far as it makes sense
 * @tsc_den: CPUID.15H:EAX
 * @tsc_num: CPUID.15H:EBX
 * @crystal_hz: CPUID.15H:ECX, 0 if not told
 * @max_nonturbo_ratio: MSR_PLATFORM_INFO[15:8]
 * @family: of the CPU, as the kernel counts; it, @model, @stepping and
 *	@core_type are 0 of CPUs that differ
 * @model: of the CPU
 * @stepping: of the CPU
 * @core_type: CPUID.1AH:EAX[31:24]; 0 in machines with one kind of core
 */
struct kipt_caps {
	bool pt;
	bool vmx_pt;
	u32 leaf0_eax;
	u32 leaf0_ebx;
	u32 leaf0_ecx;
	u32 leaf1_eax;
	u32 leaf1_ebx;
	u32 tsc_den;
	u32 tsc_num;
	u32 crystal_hz;
	u32 max_nonturbo_ratio;
	u32 family;
	u32 model;
	u32 stepping;
	u32 core_type;
	struct rtit_values values;
};

/**
 * struct kipt_hw_position - output registers of a CPU that stopped
 * @base: IA32_RTIT_OUTPUT_BASE
 * @mask_ptrs: IA32_RTIT_OUTPUT_MASK_PTRS
 * @status: IA32_RTIT_STATUS, before it was cleared
 */
struct kipt_hw_position {
	u64 base;
	u64 mask_ptrs;
	u64 status;
};

/**
 * kipt_caps_read_local() - learn and remember what this CPU can do
 *
 * Context: this CPU, any.
 */
void kipt_caps_read_local(void);

/**
 * kipt_caps_of() - what all of some CPUs can do
 * @cpus: the CPUs, each of which called kipt_caps_read_local()
 * @caps: the part all of @cpus have; @pt is false if one has no PT or @cpus
 *	is empty
 *
 * Hybrid parts may differ from core to core. Context: any.
 */
void kipt_caps_of(const struct cpumask *cpus, struct kipt_caps *caps);

/**
 * kipt_caps_take_kind() - CPUs that can do the same
 * @cpus: CPUs; the first and all that are like it are taken out
 * @kind: receives them
 * @caps: what they can do
 *
 * To be called until @cpus is empty. Context: any.
 *
 * Return: false if @cpus was empty.
 */
bool kipt_caps_take_kind(struct cpumask *cpus, struct cpumask *kind,
			 struct kipt_caps *caps);

/**
 * kipt_caps_cpu_has_pt() - whether a CPU has Intel PT
 * @cpu: a possible CPU
 *
 * Context: any.
 *
 * Return: false also if the CPU was never online.
 */
bool kipt_caps_cpu_has_pt(unsigned int cpu);

/**
 * kipt_caps_ctl_allowed() - bits of IA32_RTIT_CTL a session may set
 * @caps: what its CPUs can do
 *
 * Context: any.
 *
 * Return: the mask; encodings are subject to
 * kipt_caps_check_ctl() as well.
 */
u64 kipt_caps_ctl_allowed(const struct kipt_caps *caps);

/**
 * kipt_caps_check_ctl() - judge a configuration before any MSR is written
 * @caps: what the CPUs can do
 * @ctl: the fields of IA32_RTIT_CTL a user asked for
 * @why: the reason of a refusal, a sentence
 * @size: bytes of @why
 *
 * A pure function.
 *
 * Return:
 * 0: the CPUs will take it.
 * -EINVAL: malformed, or fields that contradict each other.
 * -EOPNOTSUPP: the CPU lacks the feature or the encoding.
 */
int kipt_caps_check_ctl(const struct kipt_caps *caps, u64 ctl, char *why,
			size_t size);

/**
 * kipt_hw_enabled_local() - whether tracing is on
 *
 * Context: this CPU, any.
 *
 * Return: IA32_RTIT_CTL.TraceEn.
 */
bool kipt_hw_enabled_local(void);

/**
 * kipt_hw_start_local() - start tracing on this CPU, anew
 * @ctl: value of IA32_RTIT_CTL without TraceEn
 * @table: physical address of the first ToPA table
 *
 * IA32_RTIT_STATUS is cleared, so the first packets are a PSB+ (Intel SDM
 * Vol. 3C, "IA32_RTIT_STATUS MSR").
 *
 * Context: this CPU, interrupts off.
 *
 * Return:
 * 0: TraceEn is set.
 * -EBUSY: TraceEn was set already, by someone else.
 * -EPERM: the CPU is in VMX operation and cannot trace there.
 * -EIO: an MSR write faulted; tracing is off.
 */
int kipt_hw_start_local(u64 ctl, u64 table);

/**
 * kipt_hw_stop_local() - stop tracing on this CPU
 * @position: where the output stopped
 *
 * All trace is in memory and visible to every CPU on return. Error and
 * Stopped are cleared in IA32_RTIT_STATUS.
 *
 * Context: this CPU, interrupts off, or an NMI.
 */
void kipt_hw_stop_local(struct kipt_hw_position *position);

/**
 * kipt_hw_resync_local() - make the trace go on with a PSB+, if it is on
 *
 * Leaves a CPU alone that stopped by itself. Context: this CPU, interrupts
 * off.
 */
void kipt_hw_resync_local(void);

/**
 * kipt_hw_stopped_local() - whether a STOP region was filled
 *
 * Context: this CPU, any.
 *
 * Return: IA32_RTIT_STATUS.Stopped.
 */
bool kipt_hw_stopped_local(void);

/**
 * kipt_hw_pmi_arm_local() - let a ToPA PMI come as an NMI
 *
 * Context: this CPU, interrupts off or an NMI.
 *
 * Return: the former value of the local vector table's entry.
 */
u32 kipt_hw_pmi_arm_local(void);

/**
 * kipt_hw_pmi_restore_local() - give the vector table's entry back
 * @lvtpc: what kipt_hw_pmi_arm_local() returned
 *
 * Context: this CPU, interrupts off.
 */
void kipt_hw_pmi_restore_local(u32 lvtpc);

/**
 * kipt_hw_pmi_ack_local() - take a ToPA PMI off the status register
 *
 * Context: this CPU, any, also NMI.
 *
 * Return: true if one was pending.
 */
bool kipt_hw_pmi_ack_local(void);

#endif /* KIPT_HW_H */
