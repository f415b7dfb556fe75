// SPDX-License-Identifier: GPL-2.0-only
/*
 * Start and stop of sessions, by their users, at suspend, and to lend or yield CPUs; and
 * what its listener hears of that. Leaves single CPUs to trace.c. Process context;
 * session.h has the order of locks.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpu.h>
#include <linux/rcupdate.h>

#include "armed.h"
#include "../crash/crash_pages.h"
#include "latch.h"
#include "permission.h"
#include "../lib/refuse.h"
#include "../hw/reserve.h"
#include "session_inside.h"
#include "../watch/sideband.h"
#include "../watch/text_patch.h"

kipt_session_listener kipt_session_notify __ro_after_init;

static bool is_of_session(u32 cause)
{
	return cause == KIPT_STOP_CAUSE_USER ||
	       cause == KIPT_STOP_CAUSE_SUSPEND ||
	       cause == KIPT_STOP_CAUSE_REBOOT ||
	       cause == KIPT_STOP_CAUSE_LENT;
}

/* Why a CPU stopped by itself, once. */
static u32 take_event(struct kipt_trace *trace)
{
	struct kipt_trace_result result;
	u32 cause;

	kipt_trace_result(trace, &result);
	cause = result.cause;
	if (!cause)
		cause = READ_ONCE(trace->over);
	if (cause == trace->reported || is_of_session(cause))
		return 0;
	trace->reported = cause;
	return cause;
}

void kipt_session_tell_stopped(struct work_struct *work)
{
	struct kipt_session *session =
		container_of(work, struct kipt_session, event_work);
	u32 state = READ_ONCE(session->state);
	u32 i, cause;

	for (i = 0; i < session->nr_traces; i++) {
		cause = take_event(&session->traces[i]);
		if (cause)
			kipt_session_notify(session->group.id, state,
					  session->traces[i].cpu, cause);
	}
}

void kipt_session_set_state(struct kipt_session *session, u32 state)
{
	lockdep_assert_held(&session->lock);
	/* Who sees another state than setup sees what was set up. */
	smp_store_release(&session->state, state);
	wake_up_interruptible(&session->wait);
	kipt_session_notify(session->group.id, state, KIPT_EVENT_NO_CPU,
			  state == KIPT_STATE_STOPPED ? session->cause : 0);
}

static int explain_stop(struct kipt_trace *trace, struct kipt_refusal *refusal)
{
	struct kipt_trace_result result;

	kipt_trace_result(trace, &result);
	if (!result.lost || result.cause == KIPT_STOP_CAUSE_STUCK)
		return 0;
	pr_warn("CPU %u: output registers point outside the buffer, someone else wrote them\n",
		trace->cpu);
	return kipt_refuse(refusal, NULL, -EIO,
			   "CPU %u: the output registers point outside the buffer, someone else wrote them; its trace is lost",
			   trace->cpu);
}

int kipt_session_stop_traces(struct kipt_session *session, u32 cause,
			     struct kipt_refusal *refusal)
{
	struct kipt_trace *stuck;
	int err = 0;
	u32 i;

	lockdep_assert_held(&session->lock);
	stuck = kipt_trace_stop_all(session->traces, session->nr_traces, cause);
	kipt_sideband_stop(session->group.sideband);
	session->end_patch = kipt_text_patch_count();
	if (stuck)
		return kipt_refuse(refusal, NULL, -ETIMEDOUT,
				   "CPU %u answers neither to an interrupt nor to an NMI; it may still trace",
				   stuck->cpu);
	for (i = 0; i < session->nr_traces && !err; i++)
		err = explain_stop(&session->traces[i], refusal);
	return err;
}

/* A CPU that went away since it was reserved may be perf's by now. */
static int check_reserved(struct kipt_session *session,
			  struct kipt_trace **failed)
{
	u32 i;

	for (i = 0; i < session->nr_traces; i++) {
		*failed = &session->traces[i];
		if (!kipt_reserve_held((*failed)->cpu))
			return -ENXIO;
	}
	return 0;
}

static int start_traces(struct kipt_session *session,
			struct kipt_refusal *refusal)
{
	struct kipt_trace *failed;
	int err;

	if (kipt_session_is_armed(session))
		return kipt_armed_start(session, refusal);
	cpus_read_lock();
	err = check_reserved(session, &failed);
	if (!err)
		err = kipt_trace_start_all(session->traces,
					   session->nr_traces, &failed);
	cpus_read_unlock();
	return err ? kipt_parts_explain(failed, err, refusal) : 0;
}

static int check_start(struct kipt_session *session,
		       struct kipt_refusal *refusal)
{
	if (session->state == KIPT_STATE_SETUP)
		return kipt_refuse(refusal, NULL, -EBUSY,
				   "session %u is not ready: session-new is allocating its buffers",
				   session->group.id);
	if (session->state == KIPT_STATE_RUNNING)
		return kipt_refuse(refusal, NULL, -EBUSY,
				   "session %u is running; stop it first",
				   session->group.id);
	if (session->fetch)
		return kipt_refuse(refusal, NULL, -EBUSY,
				   "a fetch of session %u is under way; let it end or close its sockets",
				   session->group.id);
	return 0;
}

static void forget_last_run(struct kipt_session *session)
{
	u32 i;

	/* It may have events of the last run to send, and looks at its results. */
	flush_work(&session->event_work);
	kipt_sideband_reset(session->group.sideband);
	for (i = 0; i < session->nr_traces; i++)
		session->traces[i].reported = 0;
}

/* Everything that can be refused is, before the last run is forgotten. */
static int prepare_start(struct kipt_session *session,
			 struct kipt_refusal *refusal)
{
	return kipt_session_check_gone(session, refusal) ?:
	       check_start(session, refusal) ?:
	       kipt_latch_check(refusal) ?:
	       kipt_armed_check(session, refusal) ?:
	       kipt_parts_reserve(session, refusal);
}

static int start_locked(struct kipt_session *session,
			struct kipt_refusal *refusal)
{
	int err;

	lockdep_assert_held(&session->lock);
	err = prepare_start(session, refusal);
	if (err)
		return err;
	forget_last_run(session);
	WRITE_ONCE(session->generation, session->generation + 1);
	session->group.started = get_cycles();
	session->group.first_patch = kipt_text_patch_begin();
	err = start_traces(session, refusal);
	if (err) {
		/* The CPUs that did start hold nothing worth keeping. */
		kipt_session_stop_traces(session, KIPT_STOP_CAUSE_USER, NULL);
		kipt_trace_forget_all(session->traces, session->nr_traces);
		forget_last_run(session);
	}
	WRITE_ONCE(session->cause, 0);
	kipt_session_set_state(session, err ? KIPT_STATE_NEW : KIPT_STATE_RUNNING);
	if (err)
		return err;
	kipt_armed_log(session);
	/* Have the work item start CPUs that an armed session lacks. */
	kipt_session_look(session);
	return 0;
}

int kipt_session_start(struct kipt_session *session,
		       struct kipt_refusal *refusal)
{
	int err;

	mutex_lock(&session->lock);
	err = start_locked(session, refusal);
	mutex_unlock(&session->lock);
	return err;
}

int kipt_session_resume(struct kipt_session *session,
			struct kipt_refusal *refusal)
{
	u32 cause;
	int err = 0;

	mutex_lock(&session->lock);
	cause = session->cause;
	if (session->state == KIPT_STATE_STOPPED &&
	    (cause == KIPT_STOP_CAUSE_SUSPEND ||
	     cause == KIPT_STOP_CAUSE_LENT)) {
		err = start_locked(session, refusal);
		/* So that it is tried again. */
		if (err && session->state == KIPT_STATE_NEW) {
			WRITE_ONCE(session->cause, cause);
			kipt_session_set_state(session, KIPT_STATE_STOPPED);
		}
	}
	mutex_unlock(&session->lock);
	return err;
}

static int stop_running(struct kipt_session *session, u32 cause,
			struct kipt_refusal *refusal)
{
	int err = kipt_session_stop_traces(session, cause, refusal);

	WRITE_ONCE(session->cause, cause);
	kipt_session_set_state(session, KIPT_STATE_STOPPED);
	return err;
}

int kipt_session_stop(struct kipt_session *session, u32 cause,
		      struct kipt_refusal *refusal)
{
	int err;

	mutex_lock(&session->lock);
	err = kipt_session_check_gone(session, refusal);
	if (!err && session->state == KIPT_STATE_RUNNING) {
		err = stop_running(session, cause, refusal);
	} else if (!err && session->state == KIPT_STATE_STOPPED &&
		   session->cause == KIPT_STOP_CAUSE_LENT) {
		/* The end of the loan does not start it. */
		WRITE_ONCE(session->cause, cause);
		kipt_session_set_state(session, KIPT_STATE_STOPPED);
	} else if (!err) {
		err = kipt_refuse(refusal, NULL, -EALREADY,
				  "session %u is not running", session->group.id);
	}
	mutex_unlock(&session->lock);
	return err;
}

/* How many of the traces from number @from on are of CPUs that it has. */
static u32 count_held(const struct kipt_session *session, u32 from)
{
	u32 end = from;

	while (end < session->nr_traces &&
	       kipt_session_has_cpu(session, session->traces[end].cpu))
		end++;
	return end - from;
}

/*
 * perf keeps another CPU busy with waiting for one that takes no interrupts, so
 * all are asked first, in a way that does not. CPUs of others are theirs to ask.
 */
bool kipt_session_all_answer(struct kipt_session *session)
{
	struct kipt_trace *failed;
	u32 i, count;

	for (i = 0; i < session->nr_traces; i += max(count, 1U)) {
		count = count_held(session, i);
		if (count && kipt_trace_check_all(&session->traces[i], count,
						  &failed) == -ETIMEDOUT)
			return false;
	}
	return true;
}

int kipt_session_may_lend(struct kipt_session *session)
{
	lockdep_assert_held(&session->lock);
	return session->state == KIPT_STATE_SETUP ? -EBUSY : kipt_permission_file(session);
}

int kipt_session_lend(struct kipt_session *session)
{
	int err = kipt_session_may_lend(session);
	u32 i;

	if (err)
		return err;
	session->arm.lent = true;
	/* A trace that is lost was lost before. */
	if (session->state == KIPT_STATE_RUNNING &&
	    stop_running(session, KIPT_STOP_CAUSE_LENT, NULL) == -ETIMEDOUT)
		return -ETIMEDOUT;
	if (!kipt_session_all_answer(session))
		return -ETIMEDOUT;
	for (i = 0; i < session->nr_traces; i++) {
		/* From here on PMIs of Intel PT are perf's. */
		WRITE_ONCE(session->traces[i].owns_pmis, false);
		if (kipt_session_has_cpu(session, session->traces[i].cpu))
			kipt_reserve_put(session->traces[i].cpu);
	}
	return 0;
}

static int yield_locked(struct kipt_session *session, struct kipt_trace *trace,
			struct kipt_session *heir)
{
	struct kipt_trace *failed;

	lockdep_assert_held(&session->lock);
	/* perf would keep this CPU busy with waiting for one that takes no interrupts. */
	if (kipt_trace_stop_all(trace, 1, KIPT_STOP_CAUSE_YIELDED) ||
	    kipt_trace_check_all(trace, 1, &failed) == -ETIMEDOUT)
		return -ETIMEDOUT;
	kipt_crash_pages_unlink(trace);
	trace->unlinked = get_state_synchronize_rcu();
	kipt_trace_detach(trace);
	kipt_reserve_put(trace->cpu);
	kipt_session_hand_over(session, trace->cpu, heir);
	kipt_session_wake(session);
	return 1;
}

int kipt_session_yield(struct kipt_session *session, unsigned int cpu,
		       struct kipt_session *heir)
{
	int ret = 0;

	mutex_lock(&session->lock);
	if (!READ_ONCE(session->dead) && kipt_session_has_cpu(session, cpu))
		ret = yield_locked(session, kipt_session_trace(session, cpu),
				   heir);
	/* It traces on what it could not give up. */
	if (ret < 0)
		kipt_session_look(session);
	mutex_unlock(&session->lock);
	return ret;
}

bool kipt_session_take_back(struct kipt_session *session,
			    struct kipt_trace *trace)
{
	lockdep_assert_held(&session->lock);
	if (!kipt_session_take_cpu(session, trace->cpu))
		return false;
	trace->reported = 0;
	cpus_read_lock();
	kipt_trace_attach(trace);
	cpus_read_unlock();
	/* A CPU that dies may still be reading the page that was unlinked. */
	cond_synchronize_rcu(trace->unlinked);
	kipt_crash_pages_link(trace);
	return true;
}

/* A session that is being made cannot start before it sees the latch. */
static bool may_run(const struct kipt_session *session)
{
	u32 state = READ_ONCE(session->state);

	return state == KIPT_STATE_RUNNING ||
	       (state != KIPT_STATE_SETUP && !READ_ONCE(session->dead));
}

static void stop_if_running(struct kipt_session *session, u32 cause)
{
	mutex_lock(&session->lock);
	if (session->state == KIPT_STATE_RUNNING)
		stop_running(session, cause, NULL);
	mutex_unlock(&session->lock);
}

/* By CPU: a session that is being destroyed may still trace. */
void kipt_session_stop_all(u32 cause, bool spare_armed)
{
	struct kipt_session *session;
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		session = kipt_session_holder_of(cpu);
		if (!session)
			continue;
		if (may_run(session) &&
		    !(spare_armed && kipt_session_is_armed(session)))
			stop_if_running(session, cause);
		kipt_session_put(session);
	}
}
