// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs Intel PT on the CPU it runs on. Owns no state: what is written
 * comes from trace.c, what may be written was judged by hw_check.c. Runs with
 * interrupts off or in an NMI; every access tolerates a fault, because a
 * hypervisor may offer the CPUID leaf and yet refuse the MSRs.
 */
#include <linux/lockdep.h>
#include <linux/preempt.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <asm/apic.h>
#include <asm/barrier.h>
#include <asm/irq_vectors.h>
#include <asm/msr.h>
#include <asm/processor.h>
#include <asm/special_insns.h>

#include "../lib/compat.h"
#include "hw.h"
#include "hw_regs.h"

/* How often ICR is read at most until the APIC has sent an interrupt. */
#define IPI_LOOKS		1000U

#define STATUS_READ_ONLY	(RTIT_STATUS_FILTEREN | RTIT_STATUS_CONTEXTEN | \
				 RTIT_STATUS_TRIGGEREN)

static int msr_write(u32 msr, u64 value)
{
	return wrmsr_safe(msr, (u32)value, (u32)(value >> 32)) ? -EIO : 0;
}

/* Intel SDM Vol. 3C, "VMX-Specific Packets and VMCS Controls". */
static bool vmx_forbids(void)
{
	u64 misc;

	if (!(__read_cr4() & X86_CR4_VMXE))
		return false;
	kipt_hw_read_local(RTIT_VMX_MISC, &misc);
	return !(misc & RTIT_VMX_MISC_PT);
}

static void save_filters(struct kipt_hw_saved *saved,
			 const struct kipt_caps *caps)
{
	u32 i;

	if (caps->leaf0_ebx & RTIT_CAP_CR3_FILTER)
		kipt_hw_read_local(RTIT_CR3_MATCH, &saved->cr3_match);
	for (i = 0; i < caps->values.ranges; i++) {
		kipt_hw_read_local(RTIT_ADDR_A(i), &saved->ranges[i].first);
		kipt_hw_read_local(RTIT_ADDR_B(i), &saved->ranges[i].last);
	}
}

int kipt_hw_save_local(struct kipt_hw_saved *saved)
{
	lockdep_assert_irqs_disabled();
	memset(saved, 0, sizeof(*saved));
	if (kipt_hw_read_local(RTIT_CTL, &saved->ctl))
		return -EIO;
	if (saved->ctl & RTIT_CTL_TRACEEN)
		return -EBUSY;
	if (vmx_forbids())
		return -EPERM;
	if (kipt_hw_read_local(RTIT_STATUS, &saved->status) ||
	    kipt_hw_read_local(RTIT_OUTPUT_BASE, &saved->base) ||
	    kipt_hw_read_local(RTIT_OUTPUT_MASK_PTRS, &saved->mask_ptrs))
		return -EIO;
	save_filters(saved, kipt_caps_cpu(smp_processor_id()));
	return 0;
}

static int write_filters(const struct kipt_hw_range *ranges, u32 count)
{
	int err = 0;
	u32 i;

	for (i = 0; i < count && !err; i++)
		err = msr_write(RTIT_ADDR_A(i), ranges[i].first) ?:
		      msr_write(RTIT_ADDR_B(i), ranges[i].last);
	return err;
}

/*
 * perf skips the write of a register whose value it believes to be there. So
 * what it wrote has to be there again when it gets the CPU back, or the CPU
 * would walk a table of pages that were freed.
 */
void kipt_hw_restore_local(const struct kipt_hw_saved *saved)
{
	const struct kipt_caps *caps = kipt_caps_cpu(smp_processor_id());

	msr_write(RTIT_OUTPUT_BASE, saved->base);
	msr_write(RTIT_OUTPUT_MASK_PTRS, saved->mask_ptrs);
	if (caps->leaf0_ebx & RTIT_CAP_CR3_FILTER)
		msr_write(RTIT_CR3_MATCH, saved->cr3_match);
	write_filters(saved->ranges, caps->values.ranges);
	msr_write(RTIT_STATUS, saved->status & ~STATUS_READ_ONLY);
	msr_write(RTIT_CTL, saved->ctl);
}

int kipt_hw_program_local(const struct kipt_hw_config *config, u64 table)
{
	lockdep_assert_irqs_disabled();
	kipt_hw_pmi_ack_local();
	if (msr_write(RTIT_STATUS, 0) ||
	    msr_write(RTIT_OUTPUT_BASE, table) ||
	    msr_write(RTIT_OUTPUT_MASK_PTRS, RTIT_MASK_PTRS_LOW))
		return -EIO;
	if (config->ctl & RTIT_CTL_CR3FILTER &&
	    msr_write(RTIT_CR3_MATCH, config->cr3_match))
		return -EIO;
	return write_filters(config->ranges, config->nr_ranges);
}

static u64 ctl_on(const struct kipt_hw_config *config)
{
	return config->ctl | RTIT_CTL_TOPA | RTIT_CTL_TRACEEN;
}

int kipt_hw_go_local(const struct kipt_hw_config *config)
{
	int err = msr_write(RTIT_STATUS, 0);

	/* Tables and buffer must be in memory before the CPU uses them. */
	wmb();
	return err ?: msr_write(RTIT_CTL, ctl_on(config));
}

int kipt_hw_aim_local(u64 cr3_match)
{
	return msr_write(RTIT_CR3_MATCH, cr3_match);
}

void kipt_hw_halt_local(struct kipt_hw_position *position)
{
	kipt_hw_read_local(RTIT_CTL, &position->ctl);
	msr_write(RTIT_CTL, position->ctl & ~RTIT_CTL_TRACEEN);
	/*
	 * Clearing TraceEn flushes the packets, yet only a store or fence
	 * after it makes them visible to others ("Trace Output").
	 */
	wmb();
	kipt_hw_read_local(RTIT_OUTPUT_BASE, &position->base);
	kipt_hw_read_local(RTIT_OUTPUT_MASK_PTRS, &position->mask_ptrs);
	kipt_hw_read_local(RTIT_STATUS, &position->status);
}

bool kipt_hw_is_ours(const struct kipt_hw_config *config,
		     const struct kipt_hw_position *position)
{
	return position->ctl == ctl_on(config);
}

bool kipt_hw_same_place(const struct kipt_hw_position *one,
			const struct kipt_hw_position *other)
{
	return one->base == other->base && one->mask_ptrs == other->mask_ptrs;
}

u64 kipt_hw_status_local(void)
{
	u64 status;

	kipt_hw_read_local(RTIT_STATUS, &status);
	return status;
}

static bool takes_nmis(u32 lvtpc)
{
	return (lvtpc & APIC_MODE_MASK) == APIC_DM_NMI;
}

/*
 * apic_write() is a static call modules cannot link to; the table of the APIC
 * driver is.
 */
u32 kipt_hw_pmi_arm_local(void)
{
	u32 before = apic->read(APIC_LVTPC);

	if (before != APIC_DM_NMI)
		apic->write(APIC_LVTPC, APIC_DM_NMI);
	return before;
}

/* Not where tracing has ended meanwhile, and nobody else has PMIs. */
void kipt_hw_pmi_unmask_local(void)
{
	u32 lvtpc = apic->read(APIC_LVTPC);

	if (takes_nmis(lvtpc) && lvtpc & APIC_LVT_MASKED)
		apic->write(APIC_LVTPC, APIC_DM_NMI);
}

/* perf has it so all the time; without perf's handler nobody may get NMIs. */
void kipt_hw_pmi_disarm_local(u32 before)
{
	if (!takes_nmis(before))
		apic->write(APIC_LVTPC, before);
}

bool kipt_hw_pmi_ack_local(void)
{
	u64 status;

	if (kipt_hw_read_local(RTIT_PERF_GLOBAL_STATUS, &status) ||
	    !(status & RTIT_GLOBAL_TOPA_PMI))
		return false;
	msr_write(RTIT_PERF_GLOBAL_STATUS_RESET, RTIT_GLOBAL_TOPA_PMI);
	return true;
}

/*
 * An xAPIC, unlike an x2APIC, takes the destination in a register of its own, ICR2. The
 * NMI that this runs in may have interrupted a sender between ICR2 and ICR: it finds its
 * destination again.
 */
void kipt_hw_send_nmi(unsigned int cpu)
{
	bool is_kept = in_nmi() && !x2apic_enabled();
	u32 destination = is_kept ? apic->read(APIC_ICR2) : 0, looks = 0;

	apic->send_IPI(cpu, NMI_VECTOR);
	if (!is_kept)
		return;
	while (apic->read(APIC_ICR) & APIC_ICR_BUSY && ++looks < IPI_LOOKS)
		cpu_relax();
	apic->write(APIC_ICR2, destination);
}
