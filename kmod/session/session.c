// SPDX-License-Identifier: GPL-2.0-only
/*
 * Life of a session: the list of them, who holds which CPU, start, stop,
 * destroy, and what CPU hotplug does to it. Leaves single CPUs to trace.c,
 * checks and allocation to setup.c and parts.c, messages to its listener. Process
 * context; session.h has the order of locks.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/err.h>
#include <linux/irq_work.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "armed.h"
#include "../crash/crash_pages.h"
#include "latch.h"
#include "../lib/memory.h"
#include "parts.h"
#include "permission.h"
#include "../lib/refuse.h"
#include "../hw/reserve.h"
#include "session.h"
#include "../watch/sideband.h"
#include "../watch/text_patch.h"

/* Guards the list, the ids, and which session holds a CPU. */
static DEFINE_MUTEX(sessions_lock);
static LIST_HEAD(sessions);
static u32 last_id;
static u32 changes;
static bool closed;
static DEFINE_PER_CPU(struct kipt_session *, holder);
static int hotplug_state;
/* Takes sessions down and frees them; what is in it waits for nobody. */
static struct workqueue_struct *session_wq;
static atomic_t nr_sessions = ATOMIC_INIT(0);
static DECLARE_WAIT_QUEUE_HEAD(all_freed);
static kipt_session_listener listener __ro_after_init;

/* Until a CPU that did not answer is tried again. */
#define STUCK_RETRY	HZ
/* How long a destroyed session's CPUs are waited for. */
#define END_WAIT	HZ

static void end_session(struct work_struct *work);

static void release_session(struct kref *refs)
{
	struct kipt_session *session =
		container_of(refs, struct kipt_session, refs);

	put_pid(session->process);
	free_cpumask_var(session->cpus);
	kipt_memory_free(session, struct_size(session, traces,
					      session->nr_traces));
	if (atomic_dec_and_test(&nr_sessions))
		wake_up_all(&all_freed);
}

struct kipt_session *kipt_session_get(struct kipt_session *session)
{
	kref_get(&session->refs);
	return session;
}

void kipt_session_put(struct kipt_session *session)
{
	kref_put(&session->refs, release_session);
}

/* Nobody finds the session any more, nobody reads it, and it is stopped. */
static void free_parts(struct work_struct *work)
{
	struct kipt_session *session =
		container_of(work, struct kipt_session, free_work);
	u32 i;

	/* NMI handlers that found a trace before are through after this. */
	synchronize_rcu();
	for (i = 0; i < session->nr_traces; i++)
		irq_work_sync(&session->traces[i].full_work);
	cancel_work_sync(&session->event_work);
	cancel_delayed_work_sync(&session->arm.work);
	kipt_parts_free(session);
	kipt_session_put(session);
}

static void last_pin(struct kref *pins)
{
	struct kipt_session *session =
		container_of(pins, struct kipt_session, pins);

	queue_work(session_wq, &session->free_work);
}

void kipt_session_pin(struct kipt_session *session)
{
	kref_get(&session->pins);
}

bool kipt_session_pin_live(struct kipt_session *session)
{
	bool live;

	mutex_lock(&sessions_lock);
	live = !session->dead;
	if (live)
		kipt_session_pin(session);
	mutex_unlock(&sessions_lock);
	return live;
}

void kipt_session_unpin(struct kipt_session *session)
{
	kref_put(&session->pins, last_pin);
}

/* Its owner's socket is closed, or it is dead: it only waits for its end. */
static bool is_going(const struct kipt_session *session)
{
	return READ_ONCE(session->dead) || READ_ONCE(session->owner.gone);
}

/* Sessions are added at the tail with a number, so the list is in order. */
struct kipt_session *kipt_session_next(u32 id)
{
	struct kipt_session *session, *found = NULL;

	mutex_lock(&sessions_lock);
	list_for_each_entry(session, &sessions, node) {
		if (session->group.id <= id || is_going(session))
			continue;
		found = kipt_session_get(session);
		break;
	}
	mutex_unlock(&sessions_lock);
	return found;
}

struct kipt_session *kipt_session_find(u32 id)
{
	struct kipt_session *session, *found = NULL;

	mutex_lock(&sessions_lock);
	list_for_each_entry(session, &sessions, node) {
		if (session->group.id != id || is_going(session))
			continue;
		found = kipt_session_get(session);
		break;
	}
	mutex_unlock(&sessions_lock);
	return found;
}

u32 kipt_session_changes(void)
{
	return READ_ONCE(changes);
}

struct kipt_trace *kipt_session_trace(struct kipt_session *session, u32 cpu)
{
	u32 i;

	for (i = 0; i < session->nr_traces; i++)
		if (session->traces[i].cpu == cpu)
			return &session->traces[i];
	return NULL;
}

void kipt_session_wake(struct kipt_session *session)
{
	wake_up_interruptible(&session->wait);
	queue_work(session_wq, &session->event_work);
}

static bool is_of_session(u32 cause)
{
	return cause == KIPT_STOP_CAUSE_USER ||
	       cause == KIPT_STOP_CAUSE_SUSPEND ||
	       cause == KIPT_STOP_CAUSE_REBOOT;
}

/* Why a CPU stopped by itself, once. */
static u32 take_event(struct kipt_trace *trace)
{
	struct kipt_trace_result result;
	u32 cause;

	kipt_trace_result(trace, &result);
	cause = result.cause;
	if (!cause && READ_ONCE(trace->full))
		cause = KIPT_STOP_CAUSE_FULL;
	if (cause == trace->told || is_of_session(cause))
		return 0;
	trace->told = cause;
	return cause;
}

static void tell_stopped_cpus(struct work_struct *work)
{
	struct kipt_session *session =
		container_of(work, struct kipt_session, event_work);
	u32 state = READ_ONCE(session->state);
	u32 i, cause;

	for (i = 0; i < session->nr_traces; i++) {
		cause = take_event(&session->traces[i]);
		if (cause)
			listener(session->group.id, state,
				 session->traces[i].cpu, cause);
	}
}

static void set_state(struct kipt_session *session, u32 state)
{
	lockdep_assert_held(&session->lock);
	/* Who sees another state than setup sees what was set up. */
	smp_store_release(&session->state, state);
	wake_up_interruptible(&session->wait);
	listener(session->group.id, state, KIPT_EVENT_NO_CPU,
		 state == KIPT_STATE_STOPPED ? session->cause : 0);
}

void kipt_session_busy(struct cpumask *cpus)
{
	unsigned int cpu;

	cpumask_clear(cpus);
	mutex_lock(&sessions_lock);
	for_each_possible_cpu(cpu)
		if (per_cpu(holder, cpu))
			cpumask_set_cpu(cpu, cpus);
	mutex_unlock(&sessions_lock);
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
		if (armed && !kipt_caps_cpu_seen(cpu))
			continue;
		if (!kipt_caps_cpu_has_pt(cpu))
			return kipt_refuse(refusal, NULL, -ENODEV,
					   "CPU %u has no Intel PT (CPUID.07H:EBX[25] is 0)",
					   cpu);
	}
	return 0;
}

/* Whether an armed session gives its CPUs to one that is not. */
static bool yields(const struct kipt_session *other,
		   const struct kipt_session *session)
{
	return other->group.config.flags & KIPT_SESSION_FLAGS_YIELD &&
	       !kipt_session_is_armed(session) &&
	       READ_ONCE(other->state) != KIPT_STATE_SETUP;
}

/* Takes all CPUs or none, so that no two sessions set up for the same one. */
static int claim_cpus(struct kipt_session *session,
		      struct kipt_refusal *refusal)
{
	struct kipt_session *other;
	unsigned int cpu;
	int err = 0;

	lockdep_assert_held(&sessions_lock);
	for_each_cpu(cpu, session->cpus) {
		other = per_cpu(holder, cpu);
		/* An armed session may have yielded the CPU to this one already. */
		if (!other || other == session)
			continue;
		if (!is_going(other) && !yields(other, session))
			return kipt_refuse(refusal, NULL, -EBUSY,
					   kipt_session_is_armed(other) ?
					   "CPU %u is held by session %u, which is armed for crashes; 'kipt disarm' ends it" :
					   "CPU %u is held by session %u", cpu,
					   other->group.id);
		err = kipt_refuse(refusal, NULL, -EAGAIN,
				  "CPU %u is held by session %u, which gives it up",
				  cpu, other->group.id);
	}
	if (err)
		return err;
	for_each_cpu(cpu, session->cpus)
		per_cpu(holder, cpu) = session;
	session->held = true;
	return 0;
}

int kipt_session_claim(struct kipt_session *session,
		       struct kipt_refusal *refusal)
{
	int err = 0;

	mutex_lock(&sessions_lock);
	if (!session->held)
		err = claim_cpus(session, refusal);
	mutex_unlock(&sessions_lock);
	return err;
}

/* Those that other sessions yielded are theirs again. */
static void look_for_yielded(void)
{
	struct kipt_session *session;

	lockdep_assert_held(&sessions_lock);
	list_for_each_entry(session, &sessions, node)
		if (session->group.config.flags & KIPT_SESSION_FLAGS_YIELD)
			kipt_session_look(session);
}

static void release_cpus(struct kipt_session *session)
{
	unsigned int cpu;

	mutex_lock(&sessions_lock);
	for_each_cpu(cpu, session->cpus)
		if (per_cpu(holder, cpu) == session)
			per_cpu(holder, cpu) = NULL;
	session->held = false;
	look_for_yielded();
	mutex_unlock(&sessions_lock);
}

static void owner_gone(struct work_struct *work)
{
	struct kipt_session *session =
		container_of(work, struct kipt_session, owner.work);

	kipt_session_destroy(session);
	kipt_session_put(session);
}

/* It is in the table of owners, so it was not destroyed yet. */
static void queue_gone(struct kipt_owner *owner)
{
	struct kipt_session *session =
		container_of(owner, struct kipt_session, owner);

	kipt_session_get(session);
	queue_work(session_wq, &owner->work);
}

static void take_request(struct kipt_session *session,
			 const struct kipt_request *request)
{
	cpumask_copy(session->cpus, request->cpus);
	session->group.config = request->config;
	session->process = get_pid(request->process);
	session->by_cr3 = request->by_cr3;
	session->cr3 = request->cr3;
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
	kref_init(&session->refs);
	kref_init(&session->pins);
	mutex_init(&session->lock);
	init_waitqueue_head(&session->wait);
	INIT_WORK(&session->event_work, tell_stopped_cpus);
	INIT_DELAYED_WORK(&session->end_work, end_session);
	INIT_WORK(&session->free_work, free_parts);
	INIT_DELAYED_WORK(&session->arm.work, request->keep_running);
	INIT_WORK(&session->owner.work, owner_gone);
	kipt_owner_init(&session->owner, queue_gone);
	take_request(session, request);
	session->state = KIPT_STATE_SETUP;
	for_each_cpu(cpu, session->cpus)
		init_trace(&session->traces[session->nr_traces++], session,
			   cpu);
	atomic_inc(&nr_sessions);
	return session;
}

/* The number is given as the session is added: the list is in its order. */
static int publish(struct kipt_session *session,
		   struct kipt_refusal *refusal)
{
	int err;

	mutex_lock(&sessions_lock);
	if (closed)
		err = kipt_refuse(refusal, NULL, -ENODEV,
				  "the module is being removed");
	else
		err = claim_cpus(session, refusal);
	if (err == -EAGAIN) {
		err = 0;
		refusal->extack._msg = NULL;
	}
	if (!err) {
		session->group.id = ++last_id;
		list_add_tail(&session->node, &sessions);
		changes++;
	}
	mutex_unlock(&sessions_lock);
	return err;
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
	if (!(request->config.flags & KIPT_SESSION_FLAGS_DETACHED))
		kipt_owner_set(&session->owner, request->sk, request->portid);
	err = publish(session, refusal);
	if (!err)
		return session;
	kipt_owner_clear(&session->owner);
	release_session(&session->refs);
	return ERR_PTR(err);
}

int kipt_session_refuse_gone(const struct kipt_session *session,
			     struct kipt_refusal *refusal)
{
	return kipt_refuse(refusal, NULL, -ENOENT, "session %u is gone",
			   session->group.id);
}

static void link_crash_pages(struct kipt_session *session)
{
	u32 i;

	for (i = 0; i < session->nr_traces; i++)
		kipt_crash_pages_link(&session->traces[i]);
}

int kipt_session_ready(struct kipt_session *session,
		       struct kipt_refusal *refusal)
{
	int err;

	mutex_lock(&session->lock);
	cpus_read_lock();
	err = kipt_session_check_cpus(session->cpus, session->group.config.flags, refusal);
	cpus_read_unlock();
	if (READ_ONCE(session->dead))
		err = kipt_session_refuse_gone(session, refusal);
	if (!err) {
		link_crash_pages(session);
		set_state(session, KIPT_STATE_NEW);
	}
	mutex_unlock(&session->lock);
	return err;
}

static int explain_stop(struct kipt_trace *trace,
			struct kipt_refusal *refusal)
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

static int stop_traces(struct kipt_session *session, u32 cause,
		       struct kipt_refusal *refusal)
{
	struct kipt_trace *stuck;
	int err = 0;
	u32 i;

	lockdep_assert_held(&session->lock);
	stuck = kipt_trace_stop_all(session->traces, session->nr_traces,
				    cause);
	kipt_sideband_pause(session->group.sideband);
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
	if (READ_ONCE(session->dead))
		return kipt_session_refuse_gone(session, refusal);
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

	/* It may have to tell of the last run, and looks at its results. */
	flush_work(&session->event_work);
	kipt_sideband_reset(session->group.sideband);
	for (i = 0; i < session->nr_traces; i++)
		session->traces[i].told = 0;
}

/* Everything that can be refused is, before the last run is forgotten. */
static int prepare_start(struct kipt_session *session,
			 struct kipt_refusal *refusal)
{
	char why[KIPT_REFUSE_BYTES];
	int err;

	err = check_start(session, refusal);
	if (err)
		return err;
	err = kipt_latch_check(why, sizeof(why));
	if (err)
		return kipt_refuse(refusal, NULL, err, "%s", why);
	err = kipt_armed_check(session, refusal);
	return err ?: kipt_parts_reserve(session, refusal);
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
		stop_traces(session, KIPT_STOP_CAUSE_USER, NULL);
		forget_last_run(session);
	}
	WRITE_ONCE(session->cause, 0);
	set_state(session, err ? KIPT_STATE_NEW : KIPT_STATE_RUNNING);
	if (err)
		return err;
	kipt_armed_tell(session);
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
			set_state(session, KIPT_STATE_STOPPED);
		}
	}
	mutex_unlock(&session->lock);
	return err;
}

static int stop_running(struct kipt_session *session, u32 cause,
			struct kipt_refusal *refusal)
{
	int err = stop_traces(session, cause, refusal);

	WRITE_ONCE(session->cause, cause);
	set_state(session, KIPT_STATE_STOPPED);
	return err;
}

static int stop_locked(struct kipt_session *session, u32 cause,
		       struct kipt_refusal *refusal)
{
	lockdep_assert_held(&session->lock);
	if (READ_ONCE(session->dead))
		return kipt_session_refuse_gone(session, refusal);
	if (session->state != KIPT_STATE_RUNNING)
		return kipt_refuse(refusal, NULL, -EALREADY,
				   "session %u is not running", session->group.id);
	return stop_running(session, cause, refusal);
}

int kipt_session_stop(struct kipt_session *session, u32 cause,
		      struct kipt_refusal *refusal)
{
	int err;

	mutex_lock(&session->lock);
	err = stop_locked(session, cause, refusal);
	mutex_unlock(&session->lock);
	return err;
}

/* Return: whether it is this call that ends it. */
static bool unpublish(struct kipt_session *session)
{
	bool was_dead;

	mutex_lock(&sessions_lock);
	was_dead = session->dead;
	if (!was_dead) {
		WRITE_ONCE(session->dead, true);
		list_del(&session->node);
		changes++;
	}
	mutex_unlock(&sessions_lock);
	return !was_dead;
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
	for (i = 0; i < session->nr_traces && session->held; i++) {
		kipt_crash_pages_unlink(&session->traces[i]);
		kipt_trace_detach(&session->traces[i]);
	}
	return true;
}

/* An armed session may have yielded the CPU; it does so with session->lock held. */
static bool has_cpu(const struct kipt_session *session, unsigned int cpu)
{
	return READ_ONCE(per_cpu(holder, cpu)) == session;
}

/* How many of the traces from number @from on are of CPUs that it has. */
static u32 count_held(const struct kipt_session *session, u32 from)
{
	u32 end = from;

	while (end < session->nr_traces &&
	       has_cpu(session, session->traces[end].cpu))
		end++;
	return end - from;
}

/*
 * perf keeps another CPU busy with waiting for one that takes no interrupts, so
 * all are asked first, in a way that does not. CPUs of others are theirs to ask.
 */
static bool all_answer(struct kipt_session *session)
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

static void let_go(struct kipt_session *session)
{
	u32 i;

	for (i = 0; i < session->nr_traces; i++)
		if (has_cpu(session, session->traces[i].cpu))
			kipt_reserve_put(session->traces[i].cpu);
	release_cpus(session);
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
	if (!quiet || !all_answer(session)) {
		queue_delayed_work(session_wq, &session->end_work,
				   STUCK_RETRY);
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
 * pin; everything else it does, it does with the lock, and not any more.
 */
void kipt_session_destroy(struct kipt_session *session)
{
	if (!unpublish(session))
		return;
	mutex_lock(&session->lock);
	if (session->state == KIPT_STATE_RUNNING)
		stop_traces(session, KIPT_STOP_CAUSE_USER, NULL);
	/* What session-new had not made yet stays unmade: nobody is to look at it. */
	if (session->state != KIPT_STATE_SETUP)
		/* As in set_state(), for session-get. */
		smp_store_release(&session->state, KIPT_STATE_STOPPED);
	mutex_unlock(&session->lock);
	wake_up_interruptible(&session->wait);
	listener(session->group.id, 0, KIPT_EVENT_NO_CPU, 0);
	kipt_armed_tell(session);
	kipt_owner_clear(&session->owner);
	queue_delayed_work(session_wq, &session->end_work, 0);
	wait_event_timeout(session->wait, READ_ONCE(session->ended), END_WAIT);
}

static int lend_locked(struct kipt_session *session)
{
	int err;
	u32 i;

	lockdep_assert_held(&session->lock);
	if (session->state == KIPT_STATE_SETUP)
		return -EBUSY;
	err = kipt_permission_file(session);
	if (err)
		return err;
	session->arm.lent = true;
	/* A trace that is lost was lost before. */
	if (session->state == KIPT_STATE_RUNNING &&
	    stop_running(session, KIPT_STOP_CAUSE_LENT, NULL) == -ETIMEDOUT)
		return -ETIMEDOUT;
	if (!all_answer(session))
		return -ETIMEDOUT;
	for (i = 0; i < session->nr_traces; i++) {
		/* From here on PMIs of Intel PT are perf's. */
		WRITE_ONCE(session->traces[i].owns_pmis, false);
		if (has_cpu(session, session->traces[i].cpu))
			kipt_reserve_put(session->traces[i].cpu);
	}
	return 0;
}

int kipt_session_lend(struct kipt_session *session)
{
	int err = 0;

	mutex_lock(&session->lock);
	if (!READ_ONCE(session->dead) && session->held)
		err = lend_locked(session);
	mutex_unlock(&session->lock);
	return err;
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
	kipt_trace_detach(trace);
	kipt_reserve_put(trace->cpu);
	mutex_lock(&sessions_lock);
	/* One that was destroyed meanwhile has let go of its CPUs, or is about to. */
	WRITE_ONCE(per_cpu(holder, trace->cpu), heir->dead ? NULL : heir);
	if (heir->dead)
		kipt_session_look(session);
	mutex_unlock(&sessions_lock);
	kipt_session_wake(session);
	return 1;
}

int kipt_session_yield(struct kipt_session *session, unsigned int cpu,
		       struct kipt_session *heir)
{
	int ret = 0;

	mutex_lock(&session->lock);
	if (!READ_ONCE(session->dead) && has_cpu(session, cpu))
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
	bool free;

	lockdep_assert_held(&session->lock);
	mutex_lock(&sessions_lock);
	free = !per_cpu(holder, trace->cpu);
	if (free)
		WRITE_ONCE(per_cpu(holder, trace->cpu), session);
	mutex_unlock(&sessions_lock);
	if (!free)
		return false;
	trace->told = 0;
	cpus_read_lock();
	kipt_trace_attach(trace);
	cpus_read_unlock();
	/* A CPU that dies may have stood on the page when it was unlinked. */
	synchronize_rcu();
	kipt_crash_pages_link(trace);
	return true;
}

struct kipt_session *kipt_session_yielding(const struct kipt_session *session,
					   unsigned int cpu)
{
	struct kipt_session *other;

	mutex_lock(&sessions_lock);
	other = per_cpu(holder, cpu);
	if (other && other != session && !is_going(other) &&
	    yields(other, session))
		kipt_session_get(other);
	else
		other = NULL;
	mutex_unlock(&sessions_lock);
	return other;
}

static struct kipt_session *holder_of(unsigned int cpu)
{
	struct kipt_session *session;

	mutex_lock(&sessions_lock);
	session = per_cpu(holder, cpu);
	if (session)
		kipt_session_get(session);
	mutex_unlock(&sessions_lock);
	return session;
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
		session = holder_of(cpu);
		if (!session)
			continue;
		if (may_run(session) &&
		    !(spare_armed && kipt_session_is_armed(session)))
			stop_if_running(session, cause);
		kipt_session_put(session);
	}
}

void kipt_session_look(struct kipt_session *session)
{
	if (kipt_session_is_armed(session))
		kipt_session_queue(&session->arm.work, 0);
}

void kipt_session_queue(struct delayed_work *work, unsigned long delay)
{
	mod_delayed_work(session_wq, work, delay);
}

static void resume(struct kipt_session *session)
{
	mutex_lock(&session->lock);
	if (!READ_ONCE(session->dead))
		kipt_session_look(session);
	mutex_unlock(&session->lock);
}

void kipt_session_resume_all(void)
{
	struct kipt_session *session;
	u32 id = 0;

	while ((session = kipt_session_next(id))) {
		id = session->group.id;
		resume(session);
		kipt_session_put(session);
	}
}

static int cpu_online_cb(unsigned int cpu)
{
	struct kipt_session *session;

	kipt_caps_read_local();
	mutex_lock(&sessions_lock);
	session = per_cpu(holder, cpu);
	if (session && !session->dead)
		kipt_session_look(session);
	mutex_unlock(&sessions_lock);
	return 0;
}

/*
 * Holding sessions_lock keeps the session that has the CPU from letting go of
 * it. It may be half set up; a trace that runs has all its parts.
 */
static int cpu_offline_cb(unsigned int cpu)
{
	struct kipt_session *session;

	mutex_lock(&sessions_lock);
	session = per_cpu(holder, cpu);
	if (session) {
		kipt_trace_stop_offline(kipt_session_trace(session, cpu));
		kipt_session_wake(session);
	}
	mutex_unlock(&sessions_lock);
	/* perf drops the event from a CPU that leaves; start takes a new one. */
	kipt_reserve_offline(cpu);
	return 0;
}

int kipt_session_init(kipt_session_listener of)
{
	listener = of;
	session_wq = alloc_workqueue("kipt", WQ_UNBOUND, 0);
	if (!session_wq)
		return -ENOMEM;
	hotplug_state = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "kipt:online",
					  cpu_online_cb, cpu_offline_cb);
	if (hotplug_state >= 0)
		return 0;
	destroy_workqueue(session_wq);
	return hotplug_state;
}

static struct kipt_session *first_session(void)
{
	struct kipt_session *session;

	mutex_lock(&sessions_lock);
	closed = true;
	session = list_first_entry_or_null(&sessions, struct kipt_session,
					   node);
	if (session)
		kipt_session_get(session);
	mutex_unlock(&sessions_lock);
	return session;
}

void kipt_session_close(void)
{
	struct kipt_session *session;

	while ((session = first_session())) {
		kipt_session_destroy(session);
		kipt_session_put(session);
	}
	/* Work that is under way has events to tell. */
	flush_workqueue(session_wq);
}

void kipt_session_uninit(void)
{
	wait_event_idle(all_freed, !atomic_read(&nr_sessions));
	cpuhp_remove_state_nocalls(hotplug_state);
	destroy_workqueue(session_wq);
}
