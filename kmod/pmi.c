// SPDX-License-Identifier: GPL-2.0-only
/*
 * Handles NMIs. The handlers run in NMI context: no locks, no printing, only
 * MSRs of their own CPU, per-CPU data and what trace.c allows in an NMI.
 * Leaves to trace.c what an NMI means.
 */
#include <linux/kprobes.h>
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
 * How long an NMI may be on its way: that of a PMI, and one that was sent. Both take
 * microseconds, but a CPU may be a thread of a hypervisor, which runs it when it likes.
 */
#define PMI_MS		1000
#define SENT_MS		10000
/* And one that was on its way when another came: it follows at once, or is merged. */
#define BEHIND_MS	10

/*
 * How many NMIs of ours may still come, until when, in TSC ticks: those of PMIs that a
 * stop took off the register, and those that were sent. They may find nothing left to
 * do, and have to be claimed all the same, or the kernel reports NMIs of unknown
 * origin. Each NMI that comes takes one off. Should it have been another's, ours is
 * right behind it, unclaimed: then the kernel looks for whoever is not served yet.
 */
static DEFINE_PER_CPU(atomic_t, awaited);
static DEFINE_PER_CPU(u64, awaited_until);
/* A PMI masked LVTPC; its NMI, here or on its way, is to undo that. */
static DEFINE_PER_CPU(bool, unmask);

static u64 time_in(unsigned int ms)
{
	return rdtsc() + (u64)ms * tsc_khz;
}

/* Others add, this CPU takes off. */
static bool take_awaited(void)
{
	atomic_t *count = this_cpu_ptr(&awaited);
	u64 *until = this_cpu_ptr(&awaited_until);
	int seen = atomic_read(count);
	u64 limit = READ_ONCE(*until);

	if (rdtsc() >= limit) {
		/* Unless another was sent meanwhile. */
		atomic_cmpxchg(count, seen, 0);
		return false;
	}
	if (!atomic_add_unless(count, -1, 0))
		return false;
	cmpxchg(until, limit, time_in(BEHIND_MS));
	return true;
}

static void await_nmi(unsigned int cpu, unsigned int ms)
{
	WRITE_ONCE(per_cpu(awaited_until, cpu), time_in(ms));
	atomic_inc(&per_cpu(awaited, cpu));
}

/*
 * Return: how many NMIs of ours this may be. Of two that were merged none is left; if
 * they were not, the kernel swallows the second, as it does for perf.
 */
static int handle_nmi(unsigned int type, struct pt_regs *regs)
{
	struct kipt_trace *trace = kipt_trace_here();
	int ours = take_awaited();

	if (trace && READ_ONCE(trace->owns_pmis) && kipt_hw_pmi_ack_local()) {
		this_cpu_write(unmask, true);
		kipt_trace_pmi_local(trace);
		ours++;
	}
	kipt_crash_nmi_local(regs);
	if (trace)
		kipt_trace_nmi_local(trace);
	return ours;
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

NOKPROBE_SYMBOL(handle_nmi);
NOKPROBE_SYMBOL(unmask_late);

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
	unsigned long flags;

	/* So that it follows at once, and no other NMI is taken for it. */
	local_irq_save(flags);
	await_nmi(cpu, SENT_MS);
	kipt_hw_send_nmi(cpu);
	local_irq_restore(flags);
}
