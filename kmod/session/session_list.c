// SPDX-License-Identifier: GPL-2.0-only
/*
 * All sessions: the list of them, their references, who holds which CPU, CPU hotplug, and
 * the work queue that takes sessions down. Process context; session.h has the order of
 * locks.
 */
#include <linux/atomic.h>
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/pid.h>
#include <net/sock.h>

#include "../lib/memory.h"
#include "../lib/refuse.h"
#include "../hw/reserve.h"
#include "session_inside.h"

/* Guards the list, the ids, and which session holds a CPU. */
static DEFINE_MUTEX(sessions_lock);
static LIST_HEAD(sessions);
static u32 last_id;
static u32 changes;
static bool closed;
static DEFINE_PER_CPU(struct kipt_session *, holder);
static int hotplug_state;
struct workqueue_struct *kipt_session_wq;
/* Runs event_work: work items of kipt_session_wq wait for it. */
static struct workqueue_struct *events_wq;
static atomic_t nr_sessions = ATOMIC_INIT(0);
static DECLARE_WAIT_QUEUE_HEAD(all_freed);

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
	if (session)
		kref_get(&session->refs);
	return session;
}

void kipt_session_put(struct kipt_session *session)
{
	kref_put(&session->refs, release_session);
}

static void last_pin(struct kref *pins)
{
	struct kipt_session *session =
		container_of(pins, struct kipt_session, pins);

	queue_work(kipt_session_wq, &session->free_work);
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
	return READ_ONCE(session->dead) || READ_ONCE(session->gone);
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
	struct kipt_session *session = kipt_session_next(id - 1);

	if (!session || session->group.id == id)
		return session;
	kipt_session_put(session);
	return NULL;
}

/*
 * It runs for every netlink socket of the machine, so a work item ends the session. One that
 * is in the list was not destroyed yet, and has its reference to the socket.
 */
void kipt_session_socket_closed(u32 portid)
{
	struct kipt_session *session;

	if (!atomic_read(&nr_sessions))
		return;
	mutex_lock(&sessions_lock);
	list_for_each_entry(session, &sessions, node) {
		if (session->gone || !session->sk || session->portid != portid ||
		    !sock_flag(session->sk, SOCK_DEAD))
			continue;
		WRITE_ONCE(session->gone, true);
		queue_work(kipt_session_wq, &kipt_session_get(session)->gone_work);
	}
	mutex_unlock(&sessions_lock);
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
	queue_work(events_wq, &session->event_work);
}

int kipt_session_check_gone(const struct kipt_session *session,
			    struct kipt_refusal *refusal)
{
	if (!READ_ONCE(session->dead))
		return 0;
	return kipt_refuse(refusal, NULL, -ENOENT, "session %u is gone",
			   session->group.id);
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

void kipt_session_release_cpus(struct kipt_session *session)
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

/* The number is given as the session is added: the list is in its order. */
int kipt_session_publish(struct kipt_session *session,
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

/* Return: whether it is this call that ends it. */
bool kipt_session_unpublish(struct kipt_session *session)
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

/* An armed session may have yielded the CPU; it does so with session->lock held. */
bool kipt_session_has_cpu(const struct kipt_session *session, unsigned int cpu)
{
	return READ_ONCE(per_cpu(holder, cpu)) == session;
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

struct kipt_session *kipt_session_holder_of(unsigned int cpu)
{
	struct kipt_session *session;

	mutex_lock(&sessions_lock);
	session = kipt_session_get(per_cpu(holder, cpu));
	mutex_unlock(&sessions_lock);
	return session;
}

void kipt_session_look(struct kipt_session *session)
{
	if (kipt_session_is_armed(session))
		mod_delayed_work(kipt_session_wq, &session->arm.work, 0);
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
	kipt_reserve_put(cpu);
	return 0;
}

struct kipt_session *kipt_session_close_list(void)
{
	struct kipt_session *session;

	mutex_lock(&sessions_lock);
	closed = true;
	session = kipt_session_get(list_first_entry_or_null(&sessions, struct kipt_session, node));
	mutex_unlock(&sessions_lock);
	return session;
}

void kipt_session_hand_over(struct kipt_session *session, unsigned int cpu,
			    struct kipt_session *heir)
{
	mutex_lock(&sessions_lock);
	/* One that was destroyed meanwhile has let go of its CPUs, or is about to. */
	WRITE_ONCE(per_cpu(holder, cpu), heir->dead ? NULL : heir);
	if (heir->dead)
		kipt_session_look(session);
	mutex_unlock(&sessions_lock);
}

bool kipt_session_take_cpu(struct kipt_session *session, unsigned int cpu)
{
	bool free;

	mutex_lock(&sessions_lock);
	free = !per_cpu(holder, cpu);
	if (free)
		WRITE_ONCE(per_cpu(holder, cpu), session);
	mutex_unlock(&sessions_lock);
	return free;
}

void kipt_session_refs_init(struct kipt_session *session)
{
	kref_init(&session->refs);
	kref_init(&session->pins);
	atomic_inc(&nr_sessions);
}

void kipt_session_free(struct kipt_session *session)
{
	release_session(&session->refs);
}

int __init kipt_session_init(void)
{
	int err = -ENOMEM;

	kipt_session_wq = alloc_workqueue("kipt", WQ_UNBOUND, 0);
	if (!kipt_session_wq)
		return -ENOMEM;
	events_wq = alloc_workqueue("kipt_events", WQ_UNBOUND, 0);
	if (!events_wq)
		goto destroy;
	hotplug_state = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "kipt:online",
					  cpu_online_cb, cpu_offline_cb);
	if (hotplug_state >= 0)
		return 0;
	err = hotplug_state;
	destroy_workqueue(events_wq);
destroy:
	destroy_workqueue(kipt_session_wq);
	return err;
}

void kipt_session_uninit(void)
{
	wait_event_idle(all_freed, !atomic_read(&nr_sessions));
	cpuhp_remove_state_nocalls(hotplug_state);
	destroy_workqueue(kipt_session_wq);
	destroy_workqueue(events_wq);
}

void kipt_session_flush(void)
{
	flush_workqueue(kipt_session_wq);
	flush_workqueue(events_wq);
}
