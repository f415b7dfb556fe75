// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keeps armed sessions running. An armed session runs also while some of its
 * CPUs are offline; a work item starts those that come online, each by itself,
 * and the whole session after a suspend. What is refused, because perf was
 * faster or the CPU takes no interrupts, it tries again. perf may borrow Intel PT of
 * all armed sessions; other sessions may have single CPUs of one that yields. Process
 * context.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpumask.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/printk.h>
#include <linux/sched/signal.h>

#include "arm.h"
#include "armed.h"
#include "latch.h"
#include "../lib/refuse.h"
#include "session.h"
#include "../trace/trace.h"

/* Until what was refused is tried again. */
#define RETRY	HZ

static void end_loan(struct work_struct *work);

/* Who has Intel PT of the armed sessions, until when. Ranks above session->lock. */
static DEFINE_MUTEX(loan_lock);
static const void *borrower;
static unsigned long loan_end;
static DECLARE_DELAYED_WORK(loan_work, end_loan);

static bool may_change(int err)
{
	return err == -EBUSY || err == -ETIMEDOUT || err == -ENOMEM;
}

static bool should_run(const struct kipt_session *session)
{
	return !READ_ONCE(session->dead) && session->state == KIPT_STATE_RUNNING &&
	       !READ_ONCE(session->arm.lent) && !kipt_latch_cause();
}

/* Lets those who wait for the lock have it: a CPU that does not answer took long. Return: whether
 * the session is still to run.
 */
static bool let_others(struct kipt_session *session)
{
	mutex_unlock(&session->lock);
	/* They have to wake up first. */
	schedule_timeout_uninterruptible(1);
	mutex_lock(&session->lock);
	return should_run(session);
}

/*
 * Stops a trace that another program ended, if the registers are free: a start, which comes next,
 * drops what the trace has, and must not fail then. Return: whether it did; sets @again if not now.
 */
static bool stop_ended(struct kipt_trace *trace, bool *again)
{
	struct kipt_trace *failed;
	int err;

	if (READ_ONCE(trace->over) != KIPT_STOP_CAUSE_OUTSIDE)
		return false;
	err = kipt_trace_check_all(trace, 1, &failed);
	*again |= err && err != -ENXIO;
	if (!err)
		kipt_trace_stop_all(trace, 1, KIPT_STOP_CAUSE_USER);
	return !err;
}

/* Return: whether to try again. */
static bool start_missing(struct kipt_session *session)
{
	bool again = false, log = !session->arm.logged, anew;
	struct kipt_refusal refusal = {};
	struct kipt_trace *trace;
	int err;
	u32 i;

	for (i = 0; i < session->nr_traces; i++) {
		trace = &session->traces[i];
		anew = READ_ONCE(trace->running);
		if (anew && !stop_ended(trace, &again))
			continue;
		err = kipt_armed_start_cpu(session, trace, &refusal);
		if (!err && anew)
			pr_warn("armed session %u: tracing of CPU %u was ended by another program, or by VMXON, and begins anew\n",
				session->group.id, trace->cpu);
		if (!err || err == -ENXIO)
			continue;
		if (log)
			pr_warn("armed session %u does not trace CPU %u: %s\n",
				session->group.id, trace->cpu, refusal.text);
		session->arm.logged = true;
		again |= may_change(err);
		if (err == -ETIMEDOUT && !let_others(session))
			return false;
	}
	return again;
}

/* Other sessions may have ended to which it yielded CPUs. */
static void take_back_yielded(struct kipt_session *session)
{
	struct kipt_trace *trace;
	u32 i, count = 0;

	for (i = 0; i < session->nr_traces; i++) {
		trace = &session->traces[i];
		count += kipt_trace_of(trace->cpu) != trace &&
			 kipt_session_take_back(session, trace);
	}
	if (count)
		pr_info("armed session %u has %u of its CPUs again\n",
			session->group.id, count);
}

/* Return: whether to try again. */
static bool resume(struct kipt_session *session)
{
	struct kipt_refusal refusal = {};
	int err = kipt_session_resume(session, &refusal);

	if (!err)
		return false;
	if (!session->arm.logged && !READ_ONCE(session->dead))
		pr_warn("armed session %u does not trace: %s\n", session->group.id,
			refusal.text);
	session->arm.logged = true;
	return may_change(err);
}

void kipt_arm_keep_running(struct work_struct *work)
{
	struct kipt_session *session =
		container_of(to_delayed_work(work), struct kipt_session,
			     arm.work);
	bool again;

	/*
	 * On the way to sleep CPUs come online. When the machine is up, and when a
	 * loan ends, this comes again.
	 */
	if (kipt_latch_cause() || READ_ONCE(session->arm.lent))
		return;
	again = resume(session);
	mutex_lock(&session->lock);
	if (!READ_ONCE(session->dead)) {
		if (session->state != KIPT_STATE_SETUP)
			take_back_yielded(session);
		/*
		 * Who sets the latch stops the sessions that have CPUs then: also
		 * those that were taken back before this look at it.
		 */
		if (should_run(session))
			again = start_missing(session);
		if (again)
			mod_delayed_work(kipt_session_wq, &session->arm.work, RETRY);
		else
			session->arm.logged = false;
	}
	mutex_unlock(&session->lock);
}

/* Calls @step with the session's lock. Return: that of @step; 0 if it is dead or has no CPUs. */
static int if_held(struct kipt_session *session, int (*step)(struct kipt_session *session))
{
	int err = 0;

	mutex_lock(&session->lock);
	if (!READ_ONCE(session->dead) && session->held)
		err = step(session);
	mutex_unlock(&session->lock);
	return err;
}

/* Return: 0, -ENOENT if no session is armed, or why @step is refused of one. */
static int each_armed(int (*step)(struct kipt_session *session))
{
	struct kipt_session *session;
	bool any = false;
	int err = 0;
	u32 id = 0;

	while (!err && (session = kipt_session_next(id))) {
		id = session->group.id;
		if (kipt_session_is_armed(session)) {
			any = true;
			err = if_held(session, step);
		}
		kipt_session_put(session);
	}
	return any ? err : -ENOENT;
}

static int look(struct kipt_session *session)
{
	kipt_session_look(session);
	return 0;
}

void kipt_arm_resume_all(void)
{
	each_armed(look);
}

static int take(struct kipt_session *session)
{
	session->arm.lent = false;
	return look(session);
}

static void take_back(const char *why)
{
	lockdep_assert_held(&loan_lock);
	WRITE_ONCE(borrower, NULL);
	pr_info("Intel PT of armed sessions is taken back: %s\n", why);
	each_armed(take);
}

static void end_loan(struct work_struct *work)
{
	mutex_lock(&loan_lock);
	/* This loan may have ended already, and another one begun. */
	if (borrower && time_after_eq(jiffies, loan_end))
		take_back("its time is over");
	mutex_unlock(&loan_lock);
}

int kipt_arm_lend(const void *who, u32 seconds)
{
	int err = -EBUSY;

	mutex_lock(&loan_lock);
	if (borrower)
		goto out;
	/* Sessions that are stopped and started again lose what they have. */
	err = each_armed(kipt_session_may_lend);
	if (err)
		goto out;
	err = each_armed(kipt_session_lend);
	if (err) {
		each_armed(take);
		goto out;
	}
	WRITE_ONCE(borrower, who);
	loan_end = jiffies + (seconds ? seconds * HZ : MAX_JIFFY_OFFSET);
	if (seconds)
		mod_delayed_work(kipt_session_wq, &loan_work, seconds * HZ);
	pr_info("Intel PT of armed sessions is lent to %s (%d); a crash meanwhile is not seen\n",
		current->comm, task_tgid_nr(current));
out:
	mutex_unlock(&loan_lock);
	return err;
}

void kipt_arm_return(const void *who)
{
	/* Most files have lent nothing, and a loan that begins may take seconds. */
	if (READ_ONCE(borrower) != who)
		return;
	mutex_lock(&loan_lock);
	if (borrower == who)
		take_back("it was given back");
	mutex_unlock(&loan_lock);
}

/* Return: as kipt_session_yield(). */
static int yield_cpu(struct kipt_session *session, unsigned int cpu,
		     struct kipt_refusal *refusal)
{
	struct kipt_session *other = kipt_session_yielding(session, cpu);
	int ret;

	if (!other)
		return 0;
	ret = kipt_session_yield(other, cpu, session);
	if (ret < 0)
		kipt_refuse(refusal, NULL, ret,
			    "CPU %u does not answer, and stays armed session %u's",
			    cpu, other->group.id);
	kipt_session_put(other);
	return ret;
}

int kipt_arm_yield(struct kipt_session *session, struct kipt_refusal *refusal)
{
	unsigned int cpu;
	u32 count = 0;
	int ret = 0;

	for_each_cpu(cpu, session->cpus) {
		/* The next step of what makes the session ends it. */
		if (fatal_signal_pending(current) || READ_ONCE(session->dead))
			break;
		ret = yield_cpu(session, cpu, refusal);
		if (ret < 0)
			break;
		count += ret;
	}
	if (count)
		pr_info("%u armed CPUs of %*pbl are yielded to session %u of %s (%d); a crash is not traced there meanwhile\n",
			count, cpumask_pr_args(session->cpus), session->group.id,
			current->comm, task_tgid_nr(current));
	return min(ret, 0);
}

void kipt_arm_exit(void)
{
	cancel_delayed_work_sync(&loan_work);
}
