// SPDX-License-Identifier: GPL-2.0-only
/*
 * Handles NMIs. The handlers run in NMI context: no locks, no printing, only
 * MSRs of their own CPU, per-CPU data and what trace.c allows in an NMI.
 * Leaves to trace.c what an NMI means.
 */
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/smp.h>
#include <asm/nmi.h>
#include <asm/tsc.h>

#include "compat.h"
#include "hw.h"
#include "pmi.h"
#include "trace.h"

/* The NMI of a PMI arrives within microseconds, or comes merged. */
#define DUE_MS	10
/*
 * One that was sent to another CPU arrives too, but that CPU may be a thread
 * of a hypervisor, which runs it when it likes.
 */
#define SENT_MS	10000

/*
 * Until when, in TSC ticks, an NMI of ours may arrive with nothing left to
 * do: a stop took the PMI off the register, or was done before the NMI that
 * was sent for it came. Such an NMI must be claimed, or the kernel reports one
 * of unknown origin. Past that time it belongs to someone else.
 */
static DEFINE_PER_CPU(u64, due_until);
/*
 * The same for the one NMI that was sent: the first that comes takes it off.
 * Should that have been another's, ours is right behind it, and due.
 */
static DEFINE_PER_CPU(u64, sent_until);
/* This NMI was a PMI of ours, so LVTPC is masked. */
static DEFINE_PER_CPU(bool, unmask);

static u64 time_in(unsigned int ms)
{
	return rdtsc() + (u64)ms * tsc_khz;
}

static bool is_due(void)
{
	return rdtsc() < this_cpu_read(due_until);
}

static bool take_sent(void)
{
	bool sent = rdtsc() < this_cpu_read(sent_until);

	this_cpu_write(sent_until, 0);
	return sent;
}

static int handle_nmi(unsigned int type, struct pt_regs *regs)
{
	struct kipt_trace *trace = kipt_trace_here();
	bool ours = is_due();

	ours |= take_sent();
	if (trace && kipt_hw_pmi_ack_local()) {
		this_cpu_write(unmask, true);
		kipt_trace_pmi_local(trace);
		ours = true;
	}
	if (trace)
		kipt_trace_nmi_local(trace);
	return ours ? NMI_HANDLED : NMI_DONE;
}

/* After perf's handler, which must have reset its counters before. */
static int unmask_late(unsigned int type, struct pt_regs *regs)
{
	if (!this_cpu_read(unmask))
		return NMI_DONE;
	this_cpu_write(unmask, false);
	kipt_hw_pmi_unmask_local();
	return NMI_DONE;
}

int kipt_pmi_init(void)
{
	int err;

	err = register_nmi_handler(NMI_LOCAL, unmask_late, 0, "kipt_late");
	if (err)
		return err;
	/* First, because perf's handler clears the bit this one looks at. */
	err = register_nmi_handler(NMI_LOCAL, handle_nmi, NMI_FLAG_FIRST,
				   "kipt");
	if (err)
		unregister_nmi_handler(NMI_LOCAL, "kipt_late");
	return err;
}

void kipt_pmi_uninit(void)
{
	unregister_nmi_handler(NMI_LOCAL, "kipt");
	unregister_nmi_handler(NMI_LOCAL, "kipt_late");
}

void kipt_pmi_stopped_local(void)
{
	if (kipt_hw_pmi_ack_local())
		this_cpu_write(due_until, time_in(DUE_MS));
}

void kipt_pmi_send_nmi(unsigned int cpu)
{
	preempt_disable();
	WRITE_ONCE(per_cpu(due_until, cpu), time_in(DUE_MS));
	WRITE_ONCE(per_cpu(sent_until, cpu), time_in(SENT_MS));
	kipt_hw_send_nmi(cpu);
	preempt_enable();
}
