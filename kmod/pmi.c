// SPDX-License-Identifier: GPL-2.0-only
/*
 * Handles the ToPA PMI. The handler runs in NMI context: no locks, no
 * printing, only MSRs of its own CPU, per-CPU data and what trace.c allows in
 * an NMI. Leaves to trace.c what a PMI means.
 */
#include <linux/percpu.h>
#include <asm/nmi.h>

#include "hw.h"
#include "pmi.h"
#include "trace.h"

static DEFINE_PER_CPU(struct kipt_trace *, watched);
/*
 * Stopping took a PMI off the status register; its NMI is to be swallowed
 * when it comes, or the kernel would report an NMI of unknown origin.
 */
static DEFINE_PER_CPU(bool, nmi_due);

static int kipt_pmi_handle(unsigned int type, struct pt_regs *regs)
{
	struct kipt_trace *trace = READ_ONCE(*this_cpu_ptr(&watched));

	if (!trace)
		return NMI_DONE;
	if (!kipt_hw_pmi_ack_local()) {
		if (!this_cpu_read(nmi_due))
			return NMI_DONE;
		this_cpu_write(nmi_due, false);
		return NMI_HANDLED;
	}
	kipt_hw_pmi_arm_local();
	kipt_trace_pmi_local(trace);
	return NMI_HANDLED;
}

int kipt_pmi_init(void)
{
	/* First, because perf's handler clears the bit this one looks at. */
	return register_nmi_handler(NMI_LOCAL, kipt_pmi_handle,
				    NMI_FLAG_FIRST, "kipt");
}

void kipt_pmi_uninit(void)
{
	unregister_nmi_handler(NMI_LOCAL, "kipt");
}

void kipt_pmi_watch(unsigned int cpu, struct kipt_trace *trace)
{
	per_cpu(nmi_due, cpu) = false;
	WRITE_ONCE(per_cpu(watched, cpu), trace);
}

void kipt_pmi_unwatch(unsigned int cpu)
{
	WRITE_ONCE(per_cpu(watched, cpu), NULL);
}

void kipt_pmi_stopped_local(void)
{
	if (kipt_hw_pmi_ack_local())
		this_cpu_write(nmi_due, true);
}
