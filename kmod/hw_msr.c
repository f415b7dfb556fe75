// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs Intel PT on the CPU it runs on. Owns no state: what is written
 * comes from trace.c, what may be written was judged by hw_caps.c. Runs with
 * interrupts off or in an NMI; every access tolerates a fault, because a
 * hypervisor may offer the CPUID leaf and yet refuse the MSRs.
 */
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/lockdep.h>
#include <asm/apic.h>
#include <asm/barrier.h>
#include <asm/msr.h>
#include <asm/special_insns.h>

#include "compat.h"
#include "hw.h"
#include "hw_regs.h"

static int msr_read(u32 msr, u64 *value)
{
	u32 low, high;

	if (rdmsr_safe(msr, &low, &high)) {
		*value = 0;
		return -EIO;
	}
	*value = (u64)high << 32 | low;
	return 0;
}

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
	msr_read(RTIT_VMX_MISC, &misc);
	return !(misc & RTIT_VMX_MISC_PT);
}

static int program(u64 ctl, u64 table)
{
	int err;

	kipt_hw_pmi_ack_local();
	err = msr_write(RTIT_STATUS, 0);
	err = err ?: msr_write(RTIT_OUTPUT_BASE, table);
	err = err ?: msr_write(RTIT_OUTPUT_MASK_PTRS, RTIT_MASK_PTRS_LOW);
	/* The tables must be in memory before the CPU reads them. */
	wmb();
	err = err ?: msr_write(RTIT_CTL, ctl | RTIT_CTL_TRACEEN);
	return err;
}

bool kipt_hw_enabled_local(void)
{
	u64 ctl;

	msr_read(RTIT_CTL, &ctl);
	return ctl & RTIT_CTL_TRACEEN;
}

int kipt_hw_start_local(u64 ctl, u64 table)
{
	u64 now;

	lockdep_assert_irqs_disabled();
	if (msr_read(RTIT_CTL, &now))
		return -EIO;
	if (now & RTIT_CTL_TRACEEN)
		return -EBUSY;
	if (vmx_forbids())
		return -EPERM;
	return program(ctl, table);
}

void kipt_hw_stop_local(struct kipt_hw_position *position)
{
	u64 ctl;

	msr_read(RTIT_CTL, &ctl);
	msr_write(RTIT_CTL, ctl & ~RTIT_CTL_TRACEEN);
	/*
	 * Clearing TraceEn flushes the packets, yet only a store or fence
	 * after it makes them visible to others ("Trace Output").
	 */
	wmb();
	msr_read(RTIT_OUTPUT_BASE, &position->base);
	msr_read(RTIT_OUTPUT_MASK_PTRS, &position->mask_ptrs);
	msr_read(RTIT_STATUS, &position->status);
	msr_write(RTIT_STATUS, 0);
}

/* Clearing PacketByteCnt asks for a PSB+ ("IA32_RTIT_STATUS MSR"). */
void kipt_hw_resync_local(void)
{
	u64 ctl, status;

	lockdep_assert_irqs_disabled();
	msr_read(RTIT_CTL, &ctl);
	if (!(ctl & RTIT_CTL_TRACEEN))
		return;
	msr_write(RTIT_CTL, ctl & ~RTIT_CTL_TRACEEN);
	msr_read(RTIT_STATUS, &status);
	if (status & (RTIT_STATUS_ERROR | RTIT_STATUS_STOPPED))
		return;
	msr_write(RTIT_STATUS, 0);
	msr_write(RTIT_CTL, ctl);
}

bool kipt_hw_stopped_local(void)
{
	u64 status;

	msr_read(RTIT_STATUS, &status);
	return status & RTIT_STATUS_STOPPED;
}

u32 kipt_hw_pmi_arm_local(void)
{
	u32 before = apic->read(APIC_LVTPC);

	/*
	 * Delivery set the mask bit. apic_write() is a static call modules
	 * cannot link to; the table of the APIC driver is.
	 */
	apic->write(APIC_LVTPC, APIC_DM_NMI);
	return before;
}

void kipt_hw_pmi_restore_local(u32 lvtpc)
{
	apic->write(APIC_LVTPC, lvtpc);
}

bool kipt_hw_pmi_ack_local(void)
{
	u64 status;

	if (msr_read(RTIT_PERF_GLOBAL_STATUS, &status) ||
	    !(status & RTIT_GLOBAL_TOPA_PMI))
		return false;
	msr_write(RTIT_PERF_GLOBAL_STATUS_RESET, RTIT_GLOBAL_TOPA_PMI);
	return true;
}
