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
#include "crash.h"
#include "hw.h"
#include "pmi.h"
#include "trace.h"

/*
 * The NMI of a PMI arrives within microseconds, or comes merged; one that was
 * sent to another CPU arrives too. But a CPU may be a thread of a hypervisor,
 * which runs it when it likes.
 */
#define DUE_MS		10
#define PMI_MS		1000
#define SENT_MS		10000

/*
 * Until when, in TSC ticks, an NMI of ours may arrive with nothing left to
 * do: a stop took the PMI off the register, or was done before the NMI that
 * was sent for it came. Such an NMI must be claimed, or the kernel reports one
 * of unknown origin. Past that time it belongs to someone else.
 */
static DEFINE_PER_CPU(u64, due_until);
/*
 * The same for longer, but for as many as there may be: each that comes takes
 * one off. Should that have been another's, ours is right behind it, and due.
 */
static DEFINE_PER_CPU(u64, awaited_until);
static DEFINE_PER_CPU(atomic_t, awaited);
/* A PMI masked LVTPC; its NMI, here or on its way, is to undo that. */
static DEFINE_PER_CPU(bool, unmask);

static u64 time_in(unsigned int ms)
{
	return rdtsc() + (u64)ms * tsc_khz;
}

static bool is_due(void)
{
	return rdtsc() < READ_ONCE(*this_cpu_ptr(&due_until));
}

/* Others add, this CPU takes off. */
static bool take_awaited(void)
{
	atomic_t *count = this_cpu_ptr(&awaited);

	if (rdtsc() < READ_ONCE(*this_cpu_ptr(&awaited_until)))
		return atomic_add_unless(count, -1, 0);
	atomic_set(count, 0);
	return false;
}

static void await_nmi(unsigned int cpu, unsigned int ms)
{
	WRITE_ONCE(per_cpu(due_until, cpu), time_in(DUE_MS));
	WRITE_ONCE(per_cpu(awaited_until, cpu), time_in(ms));
	atomic_inc(&per_cpu(awaited, cpu));
}

static int handle_nmi(unsigned int type, struct pt_regs *regs)
{
	struct kipt_trace *trace = kipt_trace_here();
	bool ours = is_due();

	if (trace && READ_ONCE(trace->owns_pmis) && kipt_hw_pmi_ack_local()) {
		this_cpu_write(unmask, true);
		kipt_trace_pmi_local(trace);
		ours = true;
	} else {
		ours |= take_awaited();
	}
	kipt_crash_nmi_local(regs);
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
	if (!kipt_hw_pmi_ack_local())
		return;
	this_cpu_write(unmask, true);
	await_nmi(smp_processor_id(), PMI_MS);
}

void kipt_pmi_send_nmi(unsigned int cpu)
{
	preempt_disable();
	await_nmi(cpu, SENT_MS);
	kipt_hw_send_nmi(cpu);
	preempt_enable();
}
