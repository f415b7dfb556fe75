/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The hardware: the only way to CPUID and to the MSRs of Intel PT. hw_caps.c
 * says what CPUs can do, hw_check.c judges a configuration by it, hw_msr.c
 * programs the CPU it runs on. Functions that end in _local act on this CPU:
 * the caller keeps it from changing.
 */
#ifndef KIPT_HW_H
#define KIPT_HW_H

#include <linux/cpumask.h>
#include <linux/types.h>

#include "hw_regs.h"
#include "rtit_features.h"

struct kipt_refusal;

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
 * @crystal_hz: CPUID.15H:ECX, 0 if it is not there
 * @max_nonturbo_ratio: MSR_PLATFORM_INFO[15:8]
 * @family: of the CPU, as the kernel counts. Of a set of CPUs, it, @model, @stepping and
 *	@core_type are 0 where they differ: a check of a set by family and model finds no
 *	erratum that only some of its CPUs have
 * @model: of the CPU
 * @stepping: of the CPU
 * @core_type: CPUID.1AH:EAX[31:24]; 0 in machines with one kind of core
 *
 * It has no padding: whole ones are compared.
 */
struct kipt_caps {
	u32 pt;
	u32 vmx_pt;
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
 * struct kipt_hw_range - addresses that ADDRn_CFG speaks of
 * @kind: enum kipt_filter_kind, which is ADDRn_CFG; not known of what a CPU had before
 * @first: first byte
 * @last: last byte, not below @first
 */
struct kipt_hw_range {
	u32 kind;
	u64 first;
	u64 last;
};

/**
 * struct kipt_hw_config - what a CPU is programmed with
 * @ctl: fields of IA32_RTIT_CTL, without TraceEn and ToPA
 * @cr3_match: IA32_RTIT_CR3_MATCH; counts if @ctl has CR3Filter
 * @nr_ranges: ranges given; those that @ctl names by ADDRn_CFG count
 * @ranges: IA32_RTIT_ADDRn_A and _B
 */
struct kipt_hw_config {
	u64 ctl;
	u64 cr3_match;
	u32 nr_ranges;
	struct kipt_hw_range ranges[RTIT_ADDR_RANGES_MAX];
};

/**
 * struct kipt_hw_saved - registers as a CPU had them before a start
 * @ctl: IA32_RTIT_CTL; TraceEn is 0
 * @status: IA32_RTIT_STATUS
 * @base: IA32_RTIT_OUTPUT_BASE
 * @mask_ptrs: IA32_RTIT_OUTPUT_MASK_PTRS
 * @cr3_match: IA32_RTIT_CR3_MATCH, if the CPU has it
 * @ranges: IA32_RTIT_ADDRn_A and _B, of the ranges the CPU has
 */
struct kipt_hw_saved {
	u64 ctl;
	u64 status;
	u64 base;
	u64 mask_ptrs;
	u64 cr3_match;
	struct kipt_hw_range ranges[RTIT_ADDR_RANGES_MAX];
};

/**
 * struct kipt_hw_position - registers of a CPU as tracing stopped
 * @ctl: IA32_RTIT_CTL as it was found, before TraceEn was cleared
 * @base: IA32_RTIT_OUTPUT_BASE
 * @mask_ptrs: IA32_RTIT_OUTPUT_MASK_PTRS
 * @status: IA32_RTIT_STATUS, before it was cleared
 */
struct kipt_hw_position {
	u64 ctl;
	u64 base;
	u64 mask_ptrs;
	u64 status;
};

/**
 * kipt_hw_read_local() - read an MSR, which may not be there
 * @msr: its number
 * @value: receives what is in it, or 0
 *
 * Context: this CPU, any, also NMI.
 *
 * Return: 0, or -EIO if the read faulted.
 */
int kipt_hw_read_local(u32 msr, u64 *value);

/**
 * kipt_caps_read_local() - learn and remember what this CPU can do
 *
 * Context: this CPU, any.
 */
void kipt_caps_read_local(void);

/**
 * kipt_caps_of() - what all of some CPUs can do
 * @cpus: the CPUs; one that never was online is passed over
 * @caps: the part all of @cpus have; @pt is false if one has no PT or there
 *	is none
 *
 * Hybrid parts may differ from core to core. Context: any.
 */
void kipt_caps_of(const struct cpumask *cpus, struct kipt_caps *caps);

/**
 * kipt_caps_share_clock() - values that scale time are of use only if they hold for all CPUs
 * @all: what is not the same in @one is 0 afterwards, that is, unknown
 * @one: of another CPU
 */
void kipt_caps_share_clock(struct kipt_caps *all, const struct kipt_caps *one);

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
 * kipt_caps_cpu_seen() - whether it is known what a CPU can do
 * @cpu: a possible CPU
 *
 * Context: any.
 *
 * Return: false if the CPU was never online.
 */
bool kipt_caps_cpu_seen(unsigned int cpu);

/**
 * kipt_caps_cpu() - what one CPU can do
 * @cpu: a possible CPU
 *
 * Context: any.
 *
 * Return: never NULL; all zero if the CPU was never online.
 */
const struct kipt_caps *kipt_caps_cpu(unsigned int cpu);

/**
 * kipt_caps_ctl_allowed() - bits of IA32_RTIT_CTL a session may set
 * @caps: what its CPUs can do
 *
 * Context: any.
 *
 * Return: the mask; encodings are subject to
 * kipt_caps_check_config() as well.
 */
u64 kipt_caps_ctl_allowed(const struct kipt_caps *caps);

/**
 * kipt_caps_lack() - say what CPUs cannot do, and which can
 * @cap: a bit of CPUID.(EAX=14H,ECX=0), RTIT_CAP_*, that is 0
 * @ecx: it is in ECX, else in EBX
 * @text: receives a sentence
 * @size: bytes of @text
 *
 * Context: any.
 */
void kipt_caps_lack(u32 cap, bool ecx, char *text, size_t size);

/**
 * kipt_caps_check_config() - judge a configuration before any MSR is written
 * @caps: what the CPUs can do
 * @config: what a user asked for; CR3Filter in @config->ctl is judged,
 *	@config->cr3_match is not, since the module fills it in; neither is
 *	ADDRn_CFG, which is made of ranges that end after they begin
 * @refusal: where a refusal is explained
 *
 * Return:
 * 0: the CPUs will take it.
 * -EINVAL: malformed, or fields that contradict each other.
 * -EOPNOTSUPP: the CPU lacks the feature, the encoding or the range.
 */
int kipt_caps_check_config(const struct kipt_caps *caps,
			   const struct kipt_hw_config *config,
			   struct kipt_refusal *refusal);

/**
 * kipt_hw_save_local() - remember the registers before they are written
 * @saved: where
 *
 * Context: this CPU, interrupts off.
 *
 * Return:
 * 0: tracing is off and everything is in @saved.
 * -EBUSY: TraceEn was set already, by someone else.
 * -EPERM: the CPU is in VMX operation and cannot trace there.
 * -EIO: an MSR cannot be read.
 */
int kipt_hw_save_local(struct kipt_hw_saved *saved);

/**
 * kipt_hw_restore_local() - write back what kipt_hw_save_local() remembered
 * @saved: from this CPU
 *
 * Context: this CPU, tracing off, interrupts off or an NMI.
 */
void kipt_hw_restore_local(const struct kipt_hw_saved *saved);

/**
 * kipt_hw_program_local() - write all registers but TraceEn
 * @config: judged by kipt_caps_check_config()
 * @table: physical address of the first ToPA table
 *
 * Context: this CPU, tracing off, interrupts off.
 *
 * Return: 0, or -EIO if an MSR write faulted.
 */
int kipt_hw_program_local(const struct kipt_hw_config *config, u64 table);

/**
 * kipt_hw_go_local() - set TraceEn; the trace goes on with a PSB+
 * @config: what the CPU is programmed with
 *
 * IA32_RTIT_STATUS is cleared, so the first packets are a PSB+ (Intel SDM
 * Vol. 3C, "IA32_RTIT_STATUS MSR").
 *
 * Context: this CPU, tracing off, interrupts off.
 *
 * Return: 0, or -EIO if the CPU refused.
 */
int kipt_hw_go_local(const struct kipt_hw_config *config);

/**
 * kipt_hw_halt_local() - clear TraceEn and see how far the output is
 * @position: the registers
 *
 * All trace is in memory and visible to every CPU on return.
 *
 * Context: this CPU, interrupts off or an NMI.
 */
void kipt_hw_halt_local(struct kipt_hw_position *position);

/**
 * kipt_hw_aim_local() - write IA32_RTIT_CR3_MATCH
 * @cr3_match: the value
 *
 * Context: this CPU, tracing off, interrupts off.
 *
 * Return: 0, or -EIO if the CPU refused.
 */
int kipt_hw_aim_local(u64 cr3_match);

/**
 * kipt_hw_is_ours() - whether the CPU traced as it was set up
 * @config: what it was programmed with
 * @position: what kipt_hw_halt_local() found
 *
 * Return: false if someone else wrote IA32_RTIT_CTL, or what they did cleared
 * TraceEn.
 */
bool kipt_hw_is_ours(const struct kipt_hw_config *config,
		     const struct kipt_hw_position *position);

/**
 * kipt_hw_same_place() - whether the output has not moved
 * @one: registers of a CPU
 * @other: the same, later
 *
 * Return: whether both point to the same byte.
 */
bool kipt_hw_same_place(const struct kipt_hw_position *one,
			const struct kipt_hw_position *other);

/**
 * kipt_hw_status_local() - how the CPU fares
 *
 * Context: this CPU, any.
 *
 * Return: IA32_RTIT_STATUS: Error, the CPU could not write its trace; Stopped, a STOP
 * region was filled. 0 if it cannot be read.
 */
u64 kipt_hw_status_local(void);

/**
 * kipt_hw_pmi_unmask_local() - let the next ToPA PMI come as an NMI
 *
 * Context: this CPU, interrupts off or an NMI.
 */
void kipt_hw_pmi_unmask_local(void);

/**
 * kipt_hw_pmi_arm_local() - have ToPA PMIs come as NMIs from now on
 *
 * Context: this CPU, interrupts off.
 *
 * Return: the former value of the local vector table's entry.
 */
u32 kipt_hw_pmi_arm_local(void);

/**
 * kipt_hw_pmi_disarm_local() - as it was before kipt_hw_pmi_arm_local()
 * @before: what that returned
 *
 * Where perf has set the entry up it is left alone: perf may have changed and
 * masked it since. Context: this CPU, tracing off, interrupts off or an NMI.
 */
void kipt_hw_pmi_disarm_local(u32 before);

/**
 * kipt_hw_pmi_ack_local() - take a ToPA PMI off the status register
 *
 * Context: this CPU, any, also NMI.
 *
 * Return: true if one was pending.
 */
bool kipt_hw_pmi_ack_local(void);

/**
 * kipt_hw_send_nmi() - send an NMI to another CPU
 * @cpu: online
 *
 * Context: any, preemption off.
 */
void kipt_hw_send_nmi(unsigned int cpu);

#endif /* KIPT_HW_H */
