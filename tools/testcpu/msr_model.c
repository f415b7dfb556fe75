// SPDX-License-Identifier: GPL-2.0-only
/*
 * Values and faults of the Intel PT registers (Intel SDM Vol. 3C,
 * "IA32_RTIT_CTL MSR", "IA32_RTIT_STATUS MSR", "Tracing Post-Reset States").
 * Owns struct pt_msrs; the packets that a change of TraceEn makes are left to
 * trace_model.c. Runs on the vCPU's own thread, no locks.
 */
#include "msr_model.h"

#include "system_tables.h"

#include <string.h>

#define STATUS_READ_ONLY (RTIT_STATUS_FILTEREN | RTIT_STATUS_CONTEXTEN | \
			  RTIT_STATUS_TRIGGEREN)

void pt_msrs_cold_reset(struct pt_msrs *m, const struct testcpu_caps *caps)
{
	memset(m, 0, sizeof(*m));
	m->caps = caps;
	m->mask_ptrs = RTIT_MASK_PTRS_LOW;
}

void pt_msrs_warm_reset(struct pt_msrs *m)
{
	if (m->caps->ebx & RTIT_CAP_IP_FILTER) {
		m->ctl &= ~RTIT_CTL_TRACEEN;
		m->status &= ~STATUS_READ_ONLY;
		return;
	}
	pt_msrs_cold_reset(m, m->caps);
}

bool pt_msr_is_ours(uint32_t msr)
{
	return msr == RTIT_OUTPUT_BASE || msr == RTIT_OUTPUT_MASK_PTRS ||
	       (msr >= RTIT_CTL && msr <= RTIT_CR3_MATCH) ||
	       (msr >= RTIT_ADDR0_A &&
		msr <= RTIT_ADDR_B(RTIT_ADDR_RANGES_MAX - 1));
}

/* Whether the CPU model has this register at all. */
static bool msr_exists(const struct pt_msrs *m, uint32_t msr)
{
	const struct testcpu_caps *caps = m->caps;

	switch (msr) {
	case RTIT_OUTPUT_BASE:
	case RTIT_OUTPUT_MASK_PTRS:
		return caps->ecx & (RTIT_CAP_TOPA | RTIT_CAP_SINGLE_RANGE);
	case RTIT_CTL:
	case RTIT_STATUS:
		return true;
	case RTIT_CR3_MATCH:
		return caps->ebx & RTIT_CAP_CR3_FILTER;
	default:
		return msr < RTIT_ADDR_A(testcpu_caps_ranges(caps));
	}
}

/* The storage of a register that exists. */
static const uint64_t *msr_storage(const struct pt_msrs *m, uint32_t msr)
{
	switch (msr) {
	case RTIT_OUTPUT_BASE:
		return &m->output_base;
	case RTIT_OUTPUT_MASK_PTRS:
		return &m->mask_ptrs;
	case RTIT_CTL:
		return &m->ctl;
	case RTIT_STATUS:
		return &m->status;
	case RTIT_CR3_MATCH:
		return &m->cr3_match;
	default:
		return &m->addr[msr - RTIT_ADDR0_A];
	}
}

enum pt_msr_result pt_msr_read(const struct pt_msrs *m, uint32_t msr,
			       uint64_t *value)
{
	if (!pt_msr_is_ours(msr))
		return PT_MSR_NOT_OURS;
	if (!msr_exists(m, msr))
		return PT_MSR_GP;
	*value = *msr_storage(m, msr);
	return PT_MSR_OK;
}

/* Bits of IA32_RTIT_CTL that this CPU model knows. */
static uint64_t ctl_known_bits(const struct testcpu_caps *caps)
{
	uint64_t known = RTIT_CTL_TRACEEN | RTIT_CTL_OS | RTIT_CTL_USER |
			 RTIT_CTL_TSCEN | RTIT_CTL_DISRETC | RTIT_CTL_BRANCHEN;

	if (caps->ebx & RTIT_CAP_CR3_FILTER)
		known |= RTIT_CTL_CR3FILTER;
	if (caps->ebx & RTIT_CAP_PSB_CYC)
		known |= RTIT_CTL_CYCEN | RTIT_CTL_CYCTHRESH | RTIT_CTL_PSBFREQ;
	if (caps->ebx & RTIT_CAP_MTC)
		known |= RTIT_CTL_MTCEN | RTIT_CTL_MTCFREQ;
	if (caps->ebx & RTIT_CAP_PTWRITE)
		known |= RTIT_CTL_PTWEN | RTIT_CTL_FUPONPTW;
	if (caps->ebx & RTIT_CAP_PWR_EVT)
		known |= RTIT_CTL_PWREVTEN;
	if (caps->ebx & RTIT_CAP_PSB_PMI_PRESERVE)
		known |= RTIT_CTL_INJECTPSBPMI;
	if (caps->ebx & RTIT_CAP_EVENT_TRACE)
		known |= RTIT_CTL_EVENTEN;
	if (caps->ebx & RTIT_CAP_TNT_DISABLE)
		known |= RTIT_CTL_DISTNT;
	if (caps->ecx & RTIT_CAP_TOPA)
		known |= RTIT_CTL_TOPA;
	if (caps->ecx & RTIT_CAP_FABRIC)
		known |= RTIT_CTL_FABRICEN;
	for (unsigned int n = 0; n < testcpu_caps_ranges(caps); n++)
		known |= RTIT_CTL_ADDR_CFG(n);
	return known;
}

static bool in_bitmap(uint32_t bitmap, uint64_t ctl, unsigned int shift)
{
	return bitmap >> ((ctl >> shift) & 0xf) & 1;
}

/*
 * A field outside its bitmap faults whether or not its enable bit is set.
 * Without the feature the field is reserved, which ctl_known_bits() sees to.
 */
static bool ctl_encodings_ok(const struct testcpu_caps *caps, uint64_t ctl)
{
	if ((caps->ebx & RTIT_CAP_MTC) &&
	    !in_bitmap(caps->eax1 >> RTIT_CAP1_MTC_SHIFT, ctl,
		       RTIT_CTL_MTCFREQ_SHIFT))
		return false;
	if (!(caps->ebx & RTIT_CAP_PSB_CYC))
		return true;
	return in_bitmap(caps->ebx1 & RTIT_CAP1_CYC_MASK, ctl,
			 RTIT_CTL_CYCTHRESH_SHIFT) &&
	       in_bitmap(caps->ebx1 >> RTIT_CAP1_PSB_SHIFT, ctl,
			 RTIT_CTL_PSBFREQ_SHIFT);
}

static bool ctl_ranges_ok(uint64_t ctl)
{
	for (unsigned int n = 0; n < RTIT_ADDR_RANGES_MAX; n++) {
		uint64_t cfg = ctl >> RTIT_CTL_ADDR_CFG_SHIFT(n) & 0xf;

		if (cfg > RTIT_ADDR_CFG_TRACESTOP)
			return false;
	}
	return true;
}

/* What TraceEn=1 demands beyond legal fields. */
static bool ctl_enable_ok(const struct pt_msrs *m, uint64_t ctl)
{
	if (!(ctl & (RTIT_CTL_TOPA | RTIT_CTL_FABRICEN)) &&
	    !(m->caps->ecx & RTIT_CAP_SINGLE_RANGE))
		return false;
	if (m->vmx_operation && !m->vmx_pt)
		return false;
	return !m->caps->branch_en_needed || (ctl & RTIT_CTL_BRANCHEN);
}

static enum pt_msr_result write_ctl(struct pt_msrs *m, uint64_t value)
{
	if (m->ctl & value & RTIT_CTL_TRACEEN)
		return value == m->ctl ? PT_MSR_OK : PT_MSR_GP;
	if (value & ~ctl_known_bits(m->caps))
		return PT_MSR_GP;
	if (!ctl_encodings_ok(m->caps, value) || !ctl_ranges_ok(value))
		return PT_MSR_GP;
	if ((value & RTIT_CTL_TRACEEN) && !ctl_enable_ok(m, value))
		return PT_MSR_GP;
	m->ctl = value;
	return PT_MSR_OK;
}

static enum pt_msr_result write_status(struct pt_msrs *m, uint64_t value)
{
	uint64_t writable = RTIT_STATUS_ERROR | RTIT_STATUS_STOPPED;

	if (m->caps->ebx & RTIT_CAP_PSB_CYC)
		writable |= RTIT_STATUS_BYTECNT;
	if (m->caps->ebx & RTIT_CAP_PSB_PMI_PRESERVE)
		writable |= RTIT_STATUS_PENDPSB | RTIT_STATUS_PENDTOPAPMI;
	if (value & ~(writable | STATUS_READ_ONLY))
		return PT_MSR_GP;
	m->status = (m->status & STATUS_READ_ONLY) | (value & writable);
	return PT_MSR_OK;
}

static enum pt_msr_result write_masked(uint64_t *reg, uint64_t value,
				       uint64_t reserved)
{
	if (value & reserved)
		return PT_MSR_GP;
	*reg = value;
	return PT_MSR_OK;
}

static enum pt_msr_result write_addr(struct pt_msrs *m, uint32_t msr,
				     uint64_t value)
{
	if (!address_is_canonical(value, m->la57))
		return PT_MSR_GP;
	m->addr[msr - RTIT_ADDR0_A] = value;
	return PT_MSR_OK;
}

enum pt_msr_result pt_msr_write(struct pt_msrs *m, uint32_t msr,
				uint64_t value)
{
	if (!pt_msr_is_ours(msr))
		return PT_MSR_NOT_OURS;
	if (!msr_exists(m, msr))
		return PT_MSR_GP;
	if (msr != RTIT_CTL && (m->ctl & RTIT_CTL_TRACEEN))
		return PT_MSR_GP;
	switch (msr) {
	case RTIT_CTL:
		return write_ctl(m, value);
	case RTIT_STATUS:
		return write_status(m, value);
	case RTIT_OUTPUT_BASE:
		return write_masked(&m->output_base, value,
				    0x7f | ~0ULL << m->caps->maxphyaddr);
	case RTIT_OUTPUT_MASK_PTRS:
		m->mask_ptrs = value | RTIT_MASK_PTRS_LOW;
		return PT_MSR_OK;
	case RTIT_CR3_MATCH:
		return write_masked(&m->cr3_match, value, 0x1f);
	default:
		return write_addr(m, msr, value);
	}
}
