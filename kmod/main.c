// SPDX-License-Identifier: GPL-2.0-only
/*
 * Starts the parts of the module in order and takes them down in reverse.
 * Leaves all else to the parts. Process context.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <net/genetlink.h>

#include "session/arm.h"
#include "crash/crash.h"
#include "crash/crash_pages.h"
#include "netlink/commands.h"
#include "watch/follow.h"
#include "lib/limits.h"
#include "nmi.h"
#include "session/power.h"
#include "lib/probe.h"
#include "netlink/reply.h"
#include "hw/reserve.h"
#include "session/session_inside.h"
#include "watch/sideband.h"
#include "crash/snapshot.h"
#include "trace/trace.h"
#include "lib/version.h"
#include "../uapi/linux/kipt.h"

static void run_local(struct kipt_trace *trace, bool on)
{
	if (!on) {
		kipt_sideband_end_local();
		return;
	}
	/* What an earlier run was asked for. */
	kipt_snapshot_forget_local();
	kipt_sideband_begin_local(trace->group->sideband);
}

static bool aim_local(struct kipt_trace *trace, u64 *cr3_match)
{
	return kipt_follow_aim_local(trace->follow, current, cr3_match);
}

static void over(struct kipt_trace *trace)
{
	struct kipt_session *session =
		container_of(trace->group, struct kipt_session, group);

	kipt_session_wake(session);
	kipt_session_look(session);
}

static const struct kipt_trace_ops trace_ops = {
	.run_local = run_local,
	.aim_local = aim_local,
	.copy_local = kipt_snapshot_copy_local,
	.caught_up_local = kipt_crash_catch_up_local,
	.over = over,
};

/*
 * A part of the module, or only what ends it (@init is NULL). Where init() of one fails,
 * kipt_init() calls uninit() of those before it, the last one first; kipt_exit() calls all.
 */
struct part {
	int (*init)(void);
	void (*uninit)(void);
};

/*
 * Sessions end first, and with the last armed one its hooks, while the family that
 * their last messages go through is still there; then requests, then what all of
 * it uses.
 */
static const struct part parts[] __refconst = {
	{ kipt_crash_pages_init, kipt_crash_pages_uninit },
	{ kipt_snapshot_init, kipt_snapshot_uninit },
	{ kipt_nmi_init, kipt_nmi_uninit },
	{ NULL, kipt_trace_ops_uninit },
	{ NULL, kipt_crash_uninit },
	{ kipt_session_init, kipt_session_uninit },
	{ kipt_power_init, kipt_power_uninit },
	{ NULL, kipt_arm_exit },
	{ kipt_rawdev_init, kipt_rawdev_uninit },
	{ kipt_family_init, kipt_family_uninit },
	{ NULL, kipt_session_close },
};

static void end_parts(u32 made)
{
	while (made--)
		parts[made].uninit();
}

static int __init kipt_init(void)
{
	u32 made;
	int err;

	/* Probes of the scheduler take spinlocks, which sleep there. */
	if (IS_ENABLED(CONFIG_PREEMPT_RT)) {
		pr_err("a kernel with PREEMPT_RT cannot be traced: probes of its scheduler may not take the locks they need\n");
		return -EOPNOTSUPP;
	}
	kipt_limits_init();
	kipt_probe_init();
	kipt_reserve_init();
	kipt_trace_ops_init(&trace_ops);
	kipt_session_notify = kipt_reply_event;
	for (made = 0; made < ARRAY_SIZE(parts); made++) {
		err = parts[made].init ? parts[made].init() : 0;
		if (err) {
			end_parts(made);
			return err;
		}
	}
	kipt_rawdev_allow();
	kipt_arm_load();
	return 0;
}

static void __exit kipt_exit(void)
{
	end_parts(ARRAY_SIZE(parts));
}

module_init(kipt_init);
module_exit(kipt_exit);

MODULE_LICENSE("GPL");
MODULE_AUTHOR("The kipt authors");
MODULE_DESCRIPTION("Traces what CPUs execute with Intel Processor Trace");
MODULE_VERSION(KIPT_VERSION);
MODULE_ALIAS_GENL_FAMILY(KIPT_FAMILY_NAME);
