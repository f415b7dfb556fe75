// SPDX-License-Identifier: GPL-2.0-only
/*
 * Starts the parts of the module in order and takes them down in reverse.
 * Owns the notifiers that stop tracing before suspend and reboot. Leaves all
 * else to the parts. Process context.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/reboot.h>
#include <linux/suspend.h>
#include <net/genetlink.h>

#include "decode_worker.h"
#include "limits.h"
#include "netlink.h"
#include "pmi.h"
#include "rawdev.h"
#include "session.h"
#include "../uapi/linux/kipt.h"

/* The state of PT is lost in suspend: what was captured is kept, stopped. */
static int on_suspend(struct notifier_block *block, unsigned long what,
		      void *data)
{
	if (what == PM_SUSPEND_PREPARE || what == PM_HIBERNATION_PREPARE)
		kipt_session_stop_all();
	return NOTIFY_OK;
}

/* A CPU that still traces would write into the next kernel's memory. */
static int on_reboot(struct notifier_block *block, unsigned long what,
		     void *data)
{
	kipt_session_stop_all();
	return NOTIFY_OK;
}

static struct notifier_block suspend_notifier = {
	.notifier_call = on_suspend,
};

static struct notifier_block reboot_notifier = {
	.notifier_call = on_reboot,
};

static int register_notifiers(void)
{
	int err;

	err = register_pm_notifier(&suspend_notifier);
	if (err)
		return err;
	err = register_reboot_notifier(&reboot_notifier);
	if (err)
		unregister_pm_notifier(&suspend_notifier);
	return err;
}

static void unregister_notifiers(void)
{
	unregister_reboot_notifier(&reboot_notifier);
	unregister_pm_notifier(&suspend_notifier);
}

static int __init kipt_init(void)
{
	int err;

	kipt_limits_init();
	err = kipt_decode_init();
	if (err)
		return err;
	err = kipt_pmi_init();
	if (err)
		goto err_decode;
	err = kipt_session_init();
	if (err)
		goto err_pmi;
	err = register_notifiers();
	if (err)
		goto err_session;
	err = kipt_rawdev_init();
	if (err)
		goto err_notifiers;
	err = kipt_netlink_init();
	if (err)
		goto err_rawdev;
	return 0;

err_rawdev:
	kipt_rawdev_uninit();
err_notifiers:
	unregister_notifiers();
err_session:
	kipt_session_uninit();
err_pmi:
	kipt_pmi_uninit();
err_decode:
	kipt_decode_uninit();
	return err;
}

/*
 * Sessions first, while the family that their last messages go through is
 * still there; then requests, then what all of it stands on.
 */
static void __exit kipt_exit(void)
{
	kipt_session_close();
	kipt_netlink_uninit();
	kipt_rawdev_uninit();
	unregister_notifiers();
	kipt_session_uninit();
	kipt_pmi_uninit();
	kipt_decode_uninit();
}

module_init(kipt_init);
module_exit(kipt_exit);

MODULE_LICENSE("GPL");
MODULE_AUTHOR("The kipt authors");
MODULE_DESCRIPTION("Traces what CPUs execute with Intel Processor Trace");
MODULE_VERSION("0.1.0");
MODULE_ALIAS_GENL_FAMILY(KIPT_FAMILY_NAME);
