// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keeps armed sessions running. An armed session runs also while some of its
 * CPUs are offline; a work item starts those that come online, each by itself,
 * and the whole session after a suspend. What is refused, because perf was
 * faster or the CPU takes no interrupts, it tries again. Process context.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpu.h>
#include <linux/printk.h>

#include "arm.h"
#include "latch.h"
#include "refuse.h"
#include "reserve.h"
#include "session.h"
#include "setup.h"
#include "trace.h"

/* Until what was refused is tried again. */
#define RETRY	HZ

bool kipt_arm_is_armed(const struct kipt_session *session)
{
	return session->flags & KIPT_SESSION_FLAGS_ARMED;
}

int kipt_arm_reserve(struct kipt_session *session,
		     struct netlink_ext_ack *extack)
{
	int err;
	u32 i;

	for (i = 0; i < session->nr_traces; i++) {
		if (!cpu_online(session->traces[i].cpu))
			continue;
		err = kipt_setup_reserve_cpu(session, &session->traces[i],
					     extack);
		/* It went offline just now; or is tried again by itself. */
		if (err && err != -ENXIO && !session->generation)
			return err;
	}
	return 0;
}

/* Return: as kipt_arm_start(); -ENXIO: the CPU is offline. */
static int start_cpu(struct kipt_session *session, struct kipt_trace *trace,
		     struct netlink_ext_ack *extack)
{
	struct kipt_trace *failed = trace;
	int err;

	lockdep_assert_held(&session->lock);
	if (!cpu_online(trace->cpu))
		return -ENXIO;
	err = kipt_setup_reserve_cpu(session, trace, extack);
	if (err)
		return err;
	cpus_read_lock();
	err = kipt_reserve_held(trace->cpu) ?
		      kipt_trace_start_all(trace, 1, &failed) : -ENXIO;
	cpus_read_unlock();
	return err ? kipt_setup_explain(failed, err, extack) : 0;
}

int kipt_arm_start(struct kipt_session *session,
		   struct netlink_ext_ack *extack)
{
	int err;
	u32 i;

	for (i = 0; i < session->nr_traces; i++) {
		err = start_cpu(session, &session->traces[i], extack);
		if (err && err != -ENXIO && session->generation == 1)
			return err;
	}
	return 0;
}

static bool may_change(int err)
{
	return err == -EBUSY || err == -ETIMEDOUT || err == -ENOMEM;
}

/* Return: whether to try again. */
static bool start_missing(struct kipt_session *session)
{
	bool again = false, tell = !session->arm.told;
	struct kipt_refusal refusal = {};
	struct kipt_trace *trace;
	int err;
	u32 i;

	for (i = 0; i < session->nr_traces; i++) {
		trace = &session->traces[i];
		if (READ_ONCE(trace->running))
			continue;
		err = start_cpu(session, trace, &refusal.extack);
		if (!err || err == -ENXIO)
			continue;
		if (tell)
			pr_warn("armed session %u does not trace CPU %u: %s\n",
				session->id, trace->cpu, refusal.text);
		session->arm.told = true;
		again |= may_change(err);
	}
	return again;
}

/* Return: whether to try again. */
static bool resume(struct kipt_session *session)
{
	struct kipt_refusal refusal = {};
	int err = kipt_session_resume(session, &refusal.extack);

	if (!err)
		return false;
	if (!session->arm.told && !READ_ONCE(session->dead))
		pr_warn("armed session %u does not trace: %s\n", session->id,
			refusal.text);
	session->arm.told = true;
	return may_change(err);
}

static void keep_running(struct work_struct *work)
{
	struct kipt_session *session =
		container_of(to_delayed_work(work), struct kipt_session,
			     arm.work);
	bool again;

	/* On the way to sleep CPUs come online. When it is up this comes again. */
	if (kipt_latch_cause())
		return;
	again = resume(session);
	mutex_lock(&session->lock);
	if (!READ_ONCE(session->dead)) {
		if (session->state == KIPT_STATE_RUNNING)
			again = start_missing(session);
		if (again)
			kipt_session_queue(&session->arm.work, RETRY);
		else
			session->arm.told = false;
	}
	mutex_unlock(&session->lock);
}

void kipt_arm_init(struct kipt_arm *arm)
{
	INIT_DELAYED_WORK(&arm->work, keep_running);
}

void kipt_arm_uninit(struct kipt_arm *arm)
{
	cancel_delayed_work_sync(&arm->work);
}

void kipt_arm_tell(const struct kipt_session *session)
{
	if (!kipt_arm_is_armed(session) || !session->generation)
		return;
	if (READ_ONCE(session->dead))
		pr_info("disarmed: session %u is gone\n", session->id);
	else
		pr_info("armed: session %u traces CPUs %*pbl, %llu KiB each; perf cannot use Intel PT there; 'kipt disarm' ends it\n",
			session->id, cpumask_pr_args(session->cpus),
			session->size >> 10);
}

void kipt_arm_look(struct kipt_session *session)
{
	if (kipt_arm_is_armed(session))
		kipt_session_queue(&session->arm.work, 0);
}
