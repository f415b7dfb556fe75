// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stops all tracing before the machine sleeps or goes down, and refuses it
 * until the machine is up again, when armed sessions go on. Registers and what a CPU has buffered do not
 * outlive suspend, and a CPU that still traces would write into the memory of
 * the kernel that comes next. kexec calls the reboot notifiers. Process
 * context.
 */
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/notifier.h>
#include <linux/reboot.h>
#include <linux/suspend.h>

#include "latch.h"
#include "session.h"

/* Written by the notifiers, which do not run at the same time. */
static const char *going_to;
static enum kipt_stop_cause latched;

static void latch(const char *what, enum kipt_stop_cause cause)
{
	WRITE_ONCE(latched, cause);
	WRITE_ONCE(going_to, what);
	/* Sessions are stopped under their lock, so a start sees the latch. */
	kipt_session_stop_all(cause);
}

static int on_power(struct notifier_block *block, unsigned long what,
		    void *data)
{
	switch (what) {
	case PM_SUSPEND_PREPARE:
		latch("is being suspended", KIPT_STOP_CAUSE_SUSPEND);
		break;
	case PM_HIBERNATION_PREPARE:
		latch("is being hibernated", KIPT_STOP_CAUSE_SUSPEND);
		break;
	case PM_RESTORE_PREPARE:
		latch("is waking up from hibernation",
		      KIPT_STOP_CAUSE_SUSPEND);
		break;
	case PM_POST_SUSPEND:
	case PM_POST_HIBERNATION:
	case PM_POST_RESTORE:
		WRITE_ONCE(going_to, NULL);
		WRITE_ONCE(latched, 0);
		kipt_session_resume_all();
		break;
	}
	return NOTIFY_OK;
}

static int on_reboot(struct notifier_block *block, unsigned long what,
		     void *data)
{
	latch("is going down", KIPT_STOP_CAUSE_REBOOT);
	return NOTIFY_OK;
}

static struct notifier_block power_notifier = {
	.notifier_call = on_power,
};

static struct notifier_block reboot_notifier = {
	.notifier_call = on_reboot,
};

int kipt_latch_init(void)
{
	int err;

	err = register_pm_notifier(&power_notifier);
	if (err)
		return err;
	err = register_reboot_notifier(&reboot_notifier);
	if (err)
		unregister_pm_notifier(&power_notifier);
	return err;
}

void kipt_latch_uninit(void)
{
	unregister_reboot_notifier(&reboot_notifier);
	unregister_pm_notifier(&power_notifier);
}

int kipt_latch_check(char *why, size_t size)
{
	const char *what = READ_ONCE(going_to);

	if (!what)
		return 0;
	snprintf(why, size, "the machine %s; start again when it is up", what);
	return -EBUSY;
}

enum kipt_stop_cause kipt_latch_cause(void)
{
	return READ_ONCE(latched);
}
