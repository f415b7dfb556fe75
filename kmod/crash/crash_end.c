// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads the kernel's own sysctls, see crash_end.h. They are exported to nobody.
 */
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/uaccess.h>

#include "crash_end.h"
#include "../lib/probe.h"

static const char *const symbols[KIPT_KNOBS] = {
	[KIPT_KNOB_OOPS] = "panic_on_oops",
	[KIPT_KNOB_WARN] = "panic_on_warn",
	[KIPT_KNOB_SOFTLOCKUP] = "softlockup_panic",
	[KIPT_KNOB_HARDLOCKUP] = "hardlockup_panic",
	[KIPT_KNOB_HUNG] = "sysctl_hung_task_panic",
	[KIPT_KNOB_RCU] = "sysctl_panic_on_rcu_stall",
	[KIPT_KNOB_RCU_MOST] = "sysctl_max_rcu_stall_to_panic",
};

static const int *knobs[KIPT_KNOBS];

void kipt_crash_end_init(void)
{
	u32 i;

	for (i = 0; i < KIPT_KNOBS; i++)
		if (!knobs[i])
			WRITE_ONCE(knobs[i], kipt_probe_variable(symbols[i]));
}

/* 0 where this kernel has no such sysctl. */
static int value_of(enum kipt_crash_knob knob)
{
	const int *at = READ_ONCE(knobs[knob]);
	int value;

	return !at || get_kernel_nofault(value, at) ? 0 : value;
}

/* In newer kernels some are how many it takes. */
bool kipt_crash_end_at(enum kipt_crash_knob knob)
{
	switch (knob) {
	case KIPT_KNOB_SOFTLOCKUP:
	case KIPT_KNOB_HUNG:
		return value_of(knob) == 1;
	case KIPT_KNOB_RCU:
		return value_of(knob) && value_of(KIPT_KNOB_RCU_MOST) <= 1;
	default:
		return value_of(knob);
	}
}

bool kipt_crash_end_of_oops(bool trapped)
{
	const int interrupt = NMI_MASK | HARDIRQ_MASK | SOFTIRQ_MASK;

	return kipt_crash_end_at(KIPT_KNOB_OOPS) ||
	       kipt_probe_preempt_count(trapped) & interrupt ||
	       !current->pid || is_global_init(current);
}
