// SPDX-License-Identifier: GPL-2.0-only
/*
 * Starts the parts of the module in order and takes them down in reverse.
 * Leaves all else to the parts. Process context.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <net/genetlink.h>

#include "arm.h"
#include "arm_load.h"
#include "crash.h"
#include "crash_pages.h"
#include "latch.h"
#include "limits.h"
#include "netlink.h"
#include "pmi.h"
#include "probe.h"
#include "rawdev.h"
#include "reserve.h"
#include "session.h"
#include "snapshot.h"
#include "trace.h"
#include "version.h"
#include "../uapi/linux/kipt.h"

static int __init kipt_init(void)
{
	int err;

	/* Probes of the scheduler take spinlocks, which sleep there. */
	if (IS_ENABLED(CONFIG_PREEMPT_RT)) {
		pr_err("a kernel with PREEMPT_RT cannot be traced: probes of its scheduler may not take the locks they need\n");
		return -EOPNOTSUPP;
	}
	kipt_limits_init();
	kipt_probe_init();
	kipt_reserve_init();
	kipt_trace_calls_init();
	kipt_crash_init();
	err = kipt_snapshot_init();
	if (err)
		return err;
	err = kipt_crash_pages_init();
	if (err)
		goto err_snapshot;
	err = kipt_pmi_init();
	if (err)
		goto err_crash_pages;
	err = kipt_session_init();
	if (err)
		goto err_pmi;
	err = kipt_latch_init();
	if (err)
		goto err_session;
	err = kipt_rawdev_init();
	if (err)
		goto err_latch;
	err = kipt_netlink_init();
	if (err)
		goto err_rawdev;
	kipt_rawdev_allow();
	kipt_arm_load();
	return 0;

err_rawdev:
	kipt_rawdev_uninit();
err_latch:
	kipt_latch_uninit();
err_session:
	kipt_session_uninit();
err_pmi:
	kipt_pmi_uninit();
err_crash_pages:
	kipt_crash_pages_uninit();
err_snapshot:
	kipt_snapshot_uninit();
	return err;
}

/*
 * Sessions first, and with the last armed one its hooks, while the family that
 * their last messages go through is still there; then requests, then what all of
 * it uses.
 */
static void __exit kipt_exit(void)
{
	kipt_session_close();
	kipt_netlink_uninit();
	kipt_rawdev_uninit();
	kipt_arm_exit();
	kipt_latch_uninit();
	kipt_session_uninit();
	kipt_crash_uninit();
	kipt_trace_calls_uninit();
	kipt_pmi_uninit();
	kipt_snapshot_uninit();
	kipt_crash_pages_uninit();
}

module_init(kipt_init);
module_exit(kipt_exit);

MODULE_LICENSE("GPL");
MODULE_AUTHOR("The kipt authors");
MODULE_DESCRIPTION("Traces what CPUs execute with Intel Processor Trace");
MODULE_VERSION(KIPT_VERSION);
MODULE_ALIAS_GENL_FAMILY(KIPT_FAMILY_NAME);
