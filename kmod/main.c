// SPDX-License-Identifier: GPL-2.0-only
/*
 * Starts the parts of the module in order and takes them down in reverse.
 * Leaves all else to the parts. Process context.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <net/genetlink.h>

#include "arm_load.h"
#include "crash.h"
#include "crash_hooks.h"
#include "crash_pages.h"
#include "crash_report.h"
#include "follow.h"
#include "latch.h"
#include "limits.h"
#include "netlink.h"
#include "pmi.h"
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

	kipt_limits_init();
	kipt_reserve_init();
	kipt_trace_calls_init();
	kipt_crash_init();
	err = kipt_crash_pages_init();
	if (err)
		return err;
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
	kipt_crash_hooks_init();
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
	return err;
}

/*
 * Hooks first, so that none finds half a module; then sessions, while the
 * family that their last messages go through is still there; then requests,
 * then what all of it stands on.
 */
static void __exit kipt_exit(void)
{
	kipt_crash_hooks_uninit();
	kipt_crash_report_uninit();
	kipt_crash_uninit();
	kipt_session_close();
	kipt_netlink_uninit();
	kipt_rawdev_uninit();
	kipt_latch_uninit();
	kipt_session_uninit();
	kipt_trace_calls_uninit();
	kipt_follow_uninit();
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
