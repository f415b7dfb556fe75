// SPDX-License-Identifier: GPL-2.0-only
/*
 * What starts of an armed session, and what the log says of it, see armed.h.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpu.h>
#include <linux/printk.h>

#include "armed.h"
#include "session_inside.h"
#include "../lib/refuse.h"
#include "../hw/reserve.h"
#include "../trace/trace.h"

int kipt_armed_start_cpu(struct kipt_session *session,
			 struct kipt_trace *trace,
			 struct kipt_refusal *refusal)
{
	struct kipt_trace *failed = trace;
	int err;

	lockdep_assert_held(&session->lock);
	if (!cpu_online(trace->cpu) || kipt_trace_of(trace->cpu) != trace)
		return -ENXIO;
	err = kipt_parts_reserve_cpu(session, trace, refusal);
	if (err)
		return err;
	/* Listeners hear the next time that it stops by itself, too. */
	flush_work(&session->event_work);
	trace->reported = 0;
	cpus_read_lock();
	err = kipt_reserve_held(trace->cpu) ?
		      kipt_trace_start_all(trace, 1, &failed) : -ENXIO;
	cpus_read_unlock();
	return err ? kipt_parts_explain(failed, err, refusal) : 0;
}

int kipt_armed_start(struct kipt_session *session, struct kipt_refusal *refusal)
{
	int err;
	u32 i;

	for (i = 0; i < session->nr_traces; i++) {
		err = kipt_armed_start_cpu(session, &session->traces[i],
					   refusal);
		if (err && err != -ENXIO && session->state == KIPT_STATE_NEW)
			return err;
		/* At a later start the work item starts CPUs that are missing. Others wait for
		 * the lock, and each CPU that does not answer takes long.
		 */
		if (err == -ETIMEDOUT)
			break;
	}
	return 0;
}

void kipt_armed_log(const struct kipt_session *session)
{
	if (!kipt_session_is_armed(session) || !session->generation)
		return;
	if (READ_ONCE(session->dead))
		pr_info("disarmed: session %u is gone\n", session->group.id);
	else
		pr_info("armed: session %u traces CPUs %*pbl, %llu KiB each; perf cannot use Intel PT there; 'kipt disarm' ends it\n",
			session->group.id, cpumask_pr_args(session->cpus),
			session->group.config.size >> 10);
}

int kipt_armed_check(const struct kipt_session *session,
		     struct kipt_refusal *refusal)
{
	lockdep_assert_held(&session->lock);
	if (!session->arm.lent)
		return 0;
	return kipt_refuse(refusal, NULL, -EBUSY,
			   "Intel PT of armed sessions is lent to the command of a 'kipt arm --lend'; it ends first");
}
