/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The Intel PT registers of one logical processor: values, reset state, and
 * every reason for which an access faults (Intel SDM Vol. 3C, "Configuration
 * MSRs" and "Tracing MSR access"). What a change of TraceEn does to tracing is
 * trace_model's business. One owner thread per struct.
 */
#ifndef TESTCPU_MSR_MODEL_H
#define TESTCPU_MSR_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "../../kmod/hw/rtit_regs.h"
#include "caps.h"

/**
 * struct pt_msrs - the registers
 * @caps: the CPU model, shared, constant
 * @ctl: IA32_RTIT_CTL
 * @status: IA32_RTIT_STATUS, with the read-only enables kept up to date by
 *	the trace model while TraceEn is 1
 * @output_base: IA32_RTIT_OUTPUT_BASE
 * @mask_ptrs: IA32_RTIT_OUTPUT_MASK_PTRS; bits 6:0 always read as ones
 * @cr3_match: IA32_RTIT_CR3_MATCH
 * @addr: IA32_RTIT_ADDR0_A, ADDR0_B, ADDR1_A, ...
 * @la57: CR4.LA57: canonical addresses are 57 bits wide
 * @vmx_operation: the CPU is in VMX operation
 * @vmx_pt: IA32_VMX_MISC[14]: PT may be on in VMX operation
 */
struct pt_msrs {
	const struct testcpu_caps *caps;
	uint64_t ctl;
	uint64_t status;
	uint64_t output_base;
	uint64_t mask_ptrs;
	uint64_t cr3_match;
	uint64_t addr[2 * RTIT_ADDR_RANGES_MAX];
	bool la57;
	bool vmx_operation;
	bool vmx_pt;
};

/**
 * enum pt_msr_result - outcome of an access
 * @PT_MSR_OK: done
 * @PT_MSR_GP: #GP(0), nothing changed
 * @PT_MSR_NOT_OURS: not an IA32_RTIT_* address
 */
enum pt_msr_result {
	PT_MSR_OK,
	PT_MSR_GP,
	PT_MSR_NOT_OURS,
};

/** pt_msrs_cold_reset - reset values; @caps must outlive @m */
void pt_msrs_cold_reset(struct pt_msrs *m, const struct testcpu_caps *caps);

/** pt_msrs_warm_reset - what a warm reset leaves, which @m->caps decides */
void pt_msrs_warm_reset(struct pt_msrs *m);

/** pt_msr_is_ours - whether @msr lies in the IA32_RTIT_* range */
bool pt_msr_is_ours(uint32_t msr);

/** pt_msr_read - RDMSR at CPL 0 */
enum pt_msr_result pt_msr_read(const struct pt_msrs *m, uint32_t msr,
			       uint64_t *value);

/**
 * pt_msr_write - WRMSR at CPL 0
 * @m: the registers
 * @msr: address
 * @value: new value
 *
 * Checks and stores. The caller compares @m->ctl before and after to see a
 * transition of TraceEn.
 */
enum pt_msr_result pt_msr_write(struct pt_msrs *m, uint32_t msr,
				uint64_t value);

/** pt_msrs_addr_cfg - the ADDRn_CFG field of range @n */
static inline unsigned int pt_msrs_addr_cfg(const struct pt_msrs *m,
					    unsigned int n)
{
	return (m->ctl >> RTIT_CTL_ADDR_CFG_SHIFT(n)) & 0xf;
}

#endif /* TESTCPU_MSR_MODEL_H */
