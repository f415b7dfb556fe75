// SPDX-License-Identifier: GPL-2.0-only
/*
 * Life of a session: how it is made and how it ends. Leaves the list of sessions to
 * session_list.c, start and stop to session_run.c, checks and allocation to setup.c and
 * parts.c. Process context; session.h has the order of locks.
 */
#include <linux/cpu.h>
#include <linux/err.h>
#include <linux/irq_work.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <net/sock.h>

#include "../crash/crash_pages.h"
#include "../lib/memory.h"
#include "../lib/refuse.h"
#include "../hw/reserve.h"
#include "session_inside.h"

/* Until a CPU that did not answer is tried again. */
#define STUCK_RETRY	HZ
/* How long a destroyed session's CPUs are waited for. */
#define END_WAIT	HZ

static void end_session(struct work_struct *work);
static bool begin_end(struct kipt_session *session);

/* Nobody finds the session any more, nobody reads it, and it is stopped. */
static void free_parts(struct work_struct *work)
{
	struct kipt_session *session =
		container_of(work, struct kipt_session, free_work);
	u32 i;

	/* NMI handlers that found a trace before are through after this. */
	synchronize_rcu();
	for (i = 0; i < session->nr_traces; i++)
		irq_work_sync(&session->traces[i].over_work);
	cancel_work_sync(&session->event_work);
	cancel_delayed_work_sync(&session->arm.work);
	kipt_parts_free(session);
	kipt_session_put(session);
}

int kipt_session_check_cpus(const struct cpumask *cpus, u32 flags,
			    struct kipt_refusal *refusal)
{
	bool armed = flags & KIPT_SESSION_FLAGS_ARMED;
	unsigned int cpu;

	for_each_cpu(cpu, cpus) {
		if (cpu >= nr_cpu_ids || !cpu_possible(cpu))
			return kipt_refuse(refusal, NULL, -ENXIO,
					   "CPU %u does not exist; online CPUs: %*pbl",
					   cpu, cpumask_pr_args(cpu_online_mask));
		if (!armed && !cpu_online(cpu))
			return kipt_refuse(refusal, NULL, -ENXIO,
					   "CPU %u is offline; online CPUs: %*pbl",
					   cpu, cpumask_pr_args(cpu_online_mask));
		if (!kipt_caps_cpu_seen(cpu)) {
			if (armed)
				continue;
			return kipt_refuse(refusal, NULL, -ENXIO,
					   "CPU %u is just coming online", cpu);
		}
		if (!kipt_caps_cpu_has_pt(cpu))
			return kipt_refuse(refusal, NULL, -ENODEV,
					   "CPU %u has no Intel PT (CPUID.07H:EBX[25] is 0)",
					   cpu);
	}
	return 0;
}

static void owner_gone(struct work_struct *work)
{
	struct kipt_session *session =
		container_of(work, struct kipt_session, gone_work);

	begin_end(session);
	kipt_session_put(session);
}

/* Of a session that is in no list. */
static void forget_socket(struct kipt_session *session)
{
	struct sock *sk = session->sk;

	WRITE_ONCE(session->sk, NULL);
	if (sk)
		sock_put(sk);
}

static void take_request(struct kipt_session *session,
			 const struct kipt_request *request)
{
	cpumask_copy(session->cpus, request->cpus);
	session->group.config = request->config;
	session->process = get_pid(request->process);
	session->uid = request->uid;
	session->follow = request->follow;
}

static void init_trace(struct kipt_trace *trace, struct kipt_session *session,
		       unsigned int cpu)
{
	kipt_trace_init(trace, &session->group, cpu);
	trace->config = session->group.config.hw;
	trace->follow = session->follow;
}

static struct kipt_session *alloc_session(const struct kipt_request *request)
{
	u32 count = cpumask_weight(request->cpus);
	struct kipt_session *session;
	unsigned int cpu;

	session = kipt_memory_alloc(struct_size(session, traces, count));
	if (!session)
		return NULL;
	if (!alloc_cpumask_var(&session->cpus, GFP_KERNEL)) {
		kipt_memory_free(session, struct_size(session, traces, count));
		return NULL;
	}
	mutex_init(&session->lock);
	init_waitqueue_head(&session->wait);
	INIT_WORK(&session->event_work, kipt_session_tell_stopped);
	INIT_DELAYED_WORK(&session->end_work, end_session);
	INIT_WORK(&session->free_work, free_parts);
	INIT_DELAYED_WORK(&session->arm.work, request->keep_running);
	INIT_WORK(&session->gone_work, owner_gone);
	take_request(session, request);
	session->state = KIPT_STATE_SETUP;
	for_each_cpu(cpu, session->cpus)
		init_trace(&session->traces[session->nr_traces++], session,
			   cpu);
	kipt_session_refs_init(session);
	return session;
}

/*
 * References: the list's, the pins', the caller's. Pins: the list's, the
 * caller's.
 */
struct kipt_session *
kipt_session_create(const struct kipt_request *request,
		    struct kipt_refusal *refusal)
{
	struct kipt_session *session = alloc_session(request);
	int err;

	if (!session)
		return ERR_PTR(kipt_refuse(refusal, NULL, -ENOMEM,
					   "no memory for a session"));
	kipt_session_get(session);
	kipt_session_get(session);
	kipt_session_pin(session);
	if (!(request->config.flags & KIPT_SESSION_FLAGS_DETACHED)) {
		sock_hold(request->sk);
		session->sk = request->sk;
		session->portid = request->portid;
	}
	err = kipt_session_publish(session, refusal);
	if (!err)
		return session;
	forget_socket(session);
	kipt_session_free(session);
	return ERR_PTR(err);
}

int kipt_session_ready(struct kipt_session *session,
		       struct kipt_refusal *refusal)
{
	int err;
	u32 i;

	mutex_lock(&session->lock);
	cpus_read_lock();
	err = kipt_session_check_gone(session, refusal) ?:
	      kipt_session_check_cpus(session->cpus, session->group.config.flags, refusal);
	cpus_read_unlock();
	for (i = 0; i < session->nr_traces && !err; i++)
		kipt_crash_pages_link(&session->traces[i]);
	if (!err)
		kipt_session_set_state(session, KIPT_STATE_NEW);
	mutex_unlock(&session->lock);
	return err;
}

/* Return: false if a CPU may still trace, or session-new is at work on it. */
static bool detach_all(struct kipt_session *session)
{
	u32 i;

	lockdep_assert_held(&session->lock);
	if (session->reserving)
		return false;
	/* Those that have stopped already are not asked. */
	if (kipt_trace_stop_all(session->traces, session->nr_traces,
				KIPT_STOP_CAUSE_USER))
		return false;
	/* The page that was linked last is the first, which is found at once. */
	for (i = session->nr_traces; i && session->held; i--) {
		kipt_crash_pages_unlink(&session->traces[i - 1]);
		kipt_trace_detach(&session->traces[i - 1]);
	}
	return true;
}

static void let_go(struct kipt_session *session)
{
	u32 i;

	for (i = 0; i < session->nr_traces; i++)
		if (kipt_session_has_cpu(session, session->traces[i].cpu))
			kipt_reserve_put(session->traces[i].cpu);
	kipt_session_release_cpus(session);
}

static void end_session(struct work_struct *work)
{
	struct kipt_session *session =
		container_of(to_delayed_work(work), struct kipt_session,
			     end_work);
	bool quiet;

	mutex_lock(&session->lock);
	quiet = detach_all(session);
	mutex_unlock(&session->lock);
	if (!quiet || !kipt_session_all_answer(session)) {
		mod_delayed_work(kipt_session_wq, &session->end_work, STUCK_RETRY);
		return;
	}
	let_go(session);
	WRITE_ONCE(session->ended, true);
	wake_up(&session->wait);
	/* The list's references. */
	kipt_session_unpin(session);
	kipt_session_put(session);
}

/*
 * What session-new makes meanwhile, without the lock, is freed with the last
 * pin; everything else it does, it does with the lock, and not any more. Return: false if it
 * ends already.
 */
static bool begin_end(struct kipt_session *session)
{
	if (!kipt_session_unpublish(session))
		return false;
	mutex_lock(&session->lock);
	if (session->state == KIPT_STATE_RUNNING)
		kipt_session_stop_traces(session, KIPT_STOP_CAUSE_USER, NULL);
	/* What session-new had not made yet stays unmade: nobody is to look at it. */
	if (session->state != KIPT_STATE_SETUP)
		/* As in kipt_session_set_state(), for session-get. */
		smp_store_release(&session->state, KIPT_STATE_STOPPED);
	mutex_unlock(&session->lock);
	wake_up_interruptible(&session->wait);
	/* State 0: the session is gone. */
	kipt_session_notify(session->group.id, 0, KIPT_EVENT_NO_CPU, 0);
	kipt_armed_log(session);
	forget_socket(session);
	mod_delayed_work(kipt_session_wq, &session->end_work, 0);
	return true;
}

void kipt_session_destroy(struct kipt_session *session)
{
	if (begin_end(session))
		wait_event_timeout(session->wait, READ_ONCE(session->ended), END_WAIT);
}

void kipt_session_close(void)
{
	struct kipt_session *session;

	while ((session = kipt_session_close_list())) {
		kipt_session_destroy(session);
		kipt_session_put(session);
	}
	kipt_session_flush();
}
