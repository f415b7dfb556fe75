// SPDX-License-Identifier: GPL-2.0-only
/*
 * The NMI handlers. In NMI context: no locks, no printing, only MSRs of the CPU itself,
 * per-CPU data and what trace.c and crash.c allow in an NMI. Leaves to these what an NMI
 * means.
 */
#include <linux/kprobes.h>
#include <asm/nmi.h>

#include "lib/compat.h"
#include "crash/crash.h"
#include "nmi.h"
#include "hw/nmi_claim.h"
#include "trace/trace.h"

/*
 * Return: how many NMIs of ours this may be. Of two that were merged none is left; if
 * they were not, the kernel swallows the second, as it does for perf.
 */
static int handle_nmi(unsigned int type, struct pt_regs *regs)
{
	struct kipt_trace *trace = kipt_trace_here();
	int ours = kipt_nmi_take_local();

	if (trace && READ_ONCE(trace->owns_pmis) && kipt_nmi_pmi_local()) {
		kipt_trace_pmi_local(trace);
		ours++;
	}
	kipt_crash_nmi_local(regs);
	if (trace)
		kipt_trace_nmi_local(trace);
	return ours;
}

/* After perf's handler, which must have reset its counters before the unmasking. */
static int handle_late(unsigned int type, struct pt_regs *regs)
{
	struct kipt_trace *trace = kipt_trace_here();

	kipt_nmi_unmask_local();
	if (trace && READ_ONCE(trace->owns_pmis))
		kipt_trace_look_local(trace);
	return NMI_DONE;
}

NOKPROBE_SYMBOL(handle_nmi);
NOKPROBE_SYMBOL(handle_late);

int kipt_nmi_init(void)
{
	int err;

	err = register_nmi_handler(NMI_LOCAL, handle_late, 0, "kipt_late");
	if (err)
		return err;
	/* First, because perf's handler clears the bit this one looks at. */
	err = register_nmi_handler(NMI_LOCAL, handle_nmi, NMI_FLAG_FIRST,
				   "kipt");
	if (err)
		unregister_nmi_handler(NMI_LOCAL, "kipt_late");
	return err;
}

void kipt_nmi_uninit(void)
{
	unregister_nmi_handler(NMI_LOCAL, "kipt");
	unregister_nmi_handler(NMI_LOCAL, "kipt_late");
}
