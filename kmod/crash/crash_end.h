/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whether the kernel will panic after what just happened. It decides so by its
 * sysctls, which may be set at any time, and by what it was doing. Where a sysctl
 * cannot be found in this kernel, the answer is no, and the panic itself is seen.
 */
#ifndef KIPT_CRASH_END_H
#define KIPT_CRASH_END_H

#include <linux/types.h>

/**
 * enum kipt_crash_knob - sysctls after which the kernel panics
 * @KIPT_KNOB_OOPS: kernel.panic_on_oops
 * @KIPT_KNOB_WARN: kernel.panic_on_warn
 * @KIPT_KNOB_SOFTLOCKUP: kernel.softlockup_panic
 * @KIPT_KNOB_HARDLOCKUP: kernel.hardlockup_panic
 * @KIPT_KNOB_HUNG: kernel.hung_task_panic
 * @KIPT_KNOB_RCU: kernel.panic_on_rcu_stall
 * @KIPT_KNOB_RCU_MOST: kernel.max_rcu_stall_to_panic, how many it takes
 * @KIPT_KNOBS: how many there are
 */
enum kipt_crash_knob {
	KIPT_KNOB_OOPS,
	KIPT_KNOB_WARN,
	KIPT_KNOB_SOFTLOCKUP,
	KIPT_KNOB_HARDLOCKUP,
	KIPT_KNOB_HUNG,
	KIPT_KNOB_RCU,
	KIPT_KNOB_RCU_MOST,
	KIPT_KNOBS,
};

/**
 * kipt_crash_end_init() - look where the kernel has its sysctls
 *
 * Context: may sleep. The other functions may be called before.
 */
void kipt_crash_end_init(void);

/**
 * kipt_crash_end_at() - whether a sysctl has the kernel panic the first time
 * @knob: which
 *
 * Context: any, also NMI.
 */
bool kipt_crash_end_at(enum kipt_crash_knob knob);

/**
 * kipt_crash_end_of_oops() - whether an oops of this thread is the end
 * @trapped: the caller may run in a breakpoint's handler
 *
 * As oops_end() and make_task_dead() of the kernel decide. Context: the handler of
 * a kprobe, or a notifier; also NMI.
 */
bool kipt_crash_end_of_oops(bool trapped);

#endif /* KIPT_CRASH_END_H */
