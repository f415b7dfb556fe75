// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stops all tracing before the machine sleeps or goes down, and refuses it
 * until the machine is up again, when armed sessions go on. Registers and what a
 * CPU has buffered do not outlive suspend, and a CPU that still traces would write
 * into the memory of the kernel that comes next: not every reset clears TraceEn
 * (Intel SDM Vol. 3C, "Cold Reset, Warm Reset and INIT"). Process context.
 *
 * On the way to a reboot, a halt or power off the kernel calls the reboot notifiers,
 * then shuts down each device, where a machine may hang or die, and then the core of
 * the system. Armed sessions trace on until that last step. kexec calls the notifiers,
 * but the last step only in newer kernels, so all sessions stop at the notifier.
 */
#include <linux/notifier.h>
#include <linux/reboot.h>
#include <linux/string.h>
#include <linux/suspend.h>
#include <linux/uaccess.h>

#include "arm.h"
#include "../lib/compat.h"
#include "latch.h"
#include "power.h"
#include "../lib/probe.h"
#include "session.h"

static void latch(const char *what, enum kipt_stop_cause cause,
		  bool spare_armed)
{
	kipt_latch_set(what, cause);
	/* Sessions are stopped under their lock, so a start sees the latch. */
	kipt_session_stop_all(cause, spare_armed);
}

static int on_power(struct notifier_block *block, unsigned long what,
		    void *data)
{
	switch (what) {
	case PM_SUSPEND_PREPARE:
		latch("is being suspended", KIPT_STOP_CAUSE_SUSPEND, false);
		break;
	case PM_HIBERNATION_PREPARE:
		latch("is being hibernated", KIPT_STOP_CAUSE_SUSPEND, false);
		break;
	case PM_RESTORE_PREPARE:
		latch("is waking up from hibernation",
		      KIPT_STOP_CAUSE_SUSPEND, false);
		break;
	case PM_POST_SUSPEND:
	case PM_POST_HIBERNATION:
	case PM_POST_RESTORE:
		kipt_latch_set(NULL, 0);
		kipt_arm_resume_all();
		break;
	}
	return NOTIFY_OK;
}

/* Both are what kernel_kexec() sets; no module can read the variable by its name. */
static bool is_kexec(const char *command)
{
	const bool *in_progress = kipt_probe_variable("kexec_in_progress");
	bool is_on;

	if (command && !strcmp(command, "kexec reboot"))
		return true;
	return in_progress && !get_kernel_nofault(is_on, in_progress) && is_on;
}

static int on_reboot(struct notifier_block *block, unsigned long what,
		     void *data)
{
	latch("is going down", KIPT_STOP_CAUSE_REBOOT, !is_kexec(data));
	return NOTIFY_OK;
}

/* All devices are down, and the CPUs are about to be reset or halted. */
static void on_shutdown(void)
{
	kipt_session_stop_all(KIPT_STOP_CAUSE_REBOOT, false);
}

static struct notifier_block power_notifier = {
	.notifier_call = on_power,
};

static struct notifier_block reboot_notifier = {
	.notifier_call = on_reboot,
};

KIPT_COMPAT_SHUTDOWN(shutdown, on_shutdown);

int kipt_power_init(void)
{
	/* These fail only for a block that is registered already. */
	register_pm_notifier(&power_notifier);
	register_reboot_notifier(&reboot_notifier);
	kipt_compat_shutdown_register(shutdown);
	return 0;
}

void kipt_power_uninit(void)
{
	kipt_compat_shutdown_unregister(shutdown);
	unregister_reboot_notifier(&reboot_notifier);
	unregister_pm_notifier(&power_notifier);
}
