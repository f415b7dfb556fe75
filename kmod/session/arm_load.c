// SPDX-License-Identifier: GPL-2.0-only
/*
 * Arms when the module is loaded. Owns the parameters that say how; makes the
 * session as session-new does. Runs once, last of all.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpumask.h>
#include <linux/crash_dump.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "arm.h"
#include "../hw/hw.h"
#include "../hw/hw_regs.h"
#include "permission.h"
#include "../lib/refuse.h"
#include "session.h"
#include "setup.h"

static bool arm;
module_param(arm, bool, 0400);
MODULE_PARM_DESC(arm, "arm at load: keep what the CPUs did last, for a crash (default 0)");

static char *arm_cpus = "all";
module_param(arm_cpus, charp, 0400);
MODULE_PARM_DESC(arm_cpus, "of arm: CPU list, online or not, or all (the default)");

static char *arm_size = "4M";
module_param(arm_size, charp, 0400);
MODULE_PARM_DESC(arm_size, "of arm: bytes of each CPU's ring, a power of two from 64K to 1G; K, M or G may follow (default 4M)");

static bool arm_all;
module_param(arm_all, bool, 0400);
MODULE_PARM_DESC(arm_all, "of arm: user code too (default 0)");

static bool arm_user;
module_param(arm_user, bool, 0400);
MODULE_PARM_DESC(arm_user, "of arm: user code too, and what programs did that a signal kills is kept (default 0)");

static uint arm_print = 32;
module_param(arm_print, uint, 0400);
MODULE_PARM_DESC(arm_print, "of arm: lines that a dying machine prints, 0 for none (default 32)");

static uint arm_print_cpus;
module_param(arm_print_cpus, uint, 0400);
MODULE_PARM_DESC(arm_print_cpus, "of arm: lines that it prints of each other CPU (default 0)");

static uint arm_print_user;
module_param(arm_print_user, uint, 0400);
MODULE_PARM_DESC(arm_print_user, "of arm: branches of user code that it prints, with arm_all or arm_user (default 0)");

static int take_size(struct kipt_request *request, struct kipt_refusal *refusal)
{
	struct kipt_config *config = &request->config;
	char *rest;

	config->size = memparse(arm_size, &rest);
	if (rest == arm_size || *rest)
		return kipt_refuse(refusal, NULL, -EINVAL,
				   "parameter arm_size: \"%.32s\" is no size such as 4M",
				   arm_size);
	if (config->size < KIPT_SIZE_MIN || config->size > KIPT_SIZE_MAX)
		return kipt_refuse(refusal, NULL, -ERANGE,
				   "parameter arm_size: allowed are %u to %u bytes",
				   KIPT_SIZE_MIN, KIPT_SIZE_MAX);
	return 0;
}

/* All that are there, but for those that are known to have no PT. */
static int take_all_cpus(struct cpumask *cpus, struct kipt_refusal *refusal)
{
	unsigned int cpu;
	bool any = false;

	for_each_present_cpu(cpu) {
		any |= kipt_caps_cpu_has_pt(cpu);
		if (kipt_caps_cpu_has_pt(cpu) || !kipt_caps_cpu_seen(cpu))
			cpumask_set_cpu(cpu, cpus);
	}
	return any ? 0 : kipt_refuse(refusal, NULL, -ENODEV,
				     "no CPU here has Intel PT (CPUID.07H:EBX[25] is 0)");
}

static int take_cpus(struct kipt_request *request, struct kipt_refusal *refusal)
{
	if (sysfs_streq(arm_cpus, "all"))
		return take_all_cpus(request->cpus, refusal);
	if (!cpulist_parse(arm_cpus, request->cpus) &&
	    !cpumask_empty(request->cpus))
		return 0;
	return kipt_refuse(refusal, NULL, -EINVAL,
			   "parameter arm_cpus: \"%.64s\" is no list of CPUs here, such as 0-3,6",
			   arm_cpus);
}

static void take_ctl(struct kipt_request *request)
{
	struct kipt_config *config = &request->config;
	struct kipt_caps caps;

	kipt_caps_of(request->cpus, &caps);
	config->ctl = rtit_ctl_default(caps.leaf0_ebx, &caps.values);
	if (!arm_all && !arm_user)
		config->ctl &= ~RTIT_CTL_USER;
}

static int take_parameters(struct kipt_request *request,
			   struct kipt_refusal *refusal)
{
	struct kipt_config *config = &request->config;
	int err;

	err = kipt_permission_load(refusal) ?:
	      take_cpus(request, refusal) ?:
	      take_size(request, refusal);
	if (err)
		return err;
	take_ctl(request);
	config->mode = KIPT_MODE_RING;
	config->flags = KIPT_SESSION_FLAGS_DETACHED | KIPT_SESSION_FLAGS_ARMED;
	if (arm_user)
		config->flags |= KIPT_SESSION_FLAGS_USER;
	config->print_branches = min_t(u32, arm_print, KIPT_PRINT_BRANCHES_MAX);
	config->print_cpus = min_t(u32, arm_print_cpus, KIPT_PRINT_BRANCHES_MAX);
	config->print_user = min_t(u32, arm_print_user, KIPT_PRINT_USER_MAX);
	request->uid = GLOBAL_ROOT_UID;
	return 0;
}

static int make_session(struct kipt_request *request,
			struct kipt_refusal *refusal)
{
	struct kipt_session *session = kipt_setup_begin(request, refusal);
	int ret;

	if (IS_ERR(session))
		return PTR_ERR(session);
	do {
		ret = kipt_setup_step(session, refusal);
		cond_resched();
	} while (!ret);
	if (ret > 0)
		ret = kipt_session_start(session, refusal);
	if (ret)
		kipt_session_destroy(session);
	kipt_setup_end(session);
	return ret;
}

void kipt_arm_load(void)
{
	struct kipt_request request = {};
	struct kipt_refusal refusal = {};
	int err = -ENOMEM;

	if (!arm)
		return;
	if (is_kdump_kernel()) {
		pr_info("not armed: this kernel saves the dump of another one\n");
		return;
	}
	if (zalloc_cpumask_var(&request.cpus, GFP_KERNEL)) {
		err = take_parameters(&request, &refusal) ?: make_session(&request, &refusal);
		free_cpumask_var(request.cpus);
	}
	if (err)
		pr_warn("not armed: %s\n",
			refusal.text[0] ? refusal.text : "no memory");
}
