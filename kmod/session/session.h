/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sessions: a set of CPUs, one configuration, one buffer per CPU, one state.
 * Process context unless said otherwise.
 *
 * A session ends in three steps. kipt_session_destroy() takes it out of the
 * list, stops it and lets go of its CPUs. When nobody reads its trace any
 * more (@pins), a work item frees the buffers and all else that is large. The
 * struct itself goes with the last reference (@refs).
 *
 * Locks, in the order they are taken:
 *	the lock of a file of /dev/kipt, loan_lock (arm.c);
 *	session->lock;
 *	those that are held while probes are set: probes_lock (sideband.c), the
 *	users_lock of text_patch.c, crash_hooks.c, excerpt.c and killed.c;
 *	the CPU hotplug lock (read);
 *	sessions_lock, slots_lock (reserve.c);
 *	chain_lock (dump_page.c), list_lock (snapshot.c), those of one buffer, fetch,
 *	table or log, and all spinlocks: nothing that sleeps for long, nor another
 *	lock but of the same object, is taken inside.
 * The hotplug callbacks hold the hotplug lock for writing and take sessions_lock and
 * slots_lock only. Netlink's notifier takes sessions_lock, so no netlink socket may be
 * closed by code that holds sessions_lock. Whatever patches kernel text (tracepoints, perf
 * events) takes the hotplug lock itself, so it is called with none that comes after it.
 */
#ifndef KIPT_SESSION_H
#define KIPT_SESSION_H

#include <linux/cpumask.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/uidgid.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "armed.h"
#include "../trace/config.h"
#include "../trace/trace.h"
#include "../../uapi/linux/kipt.h"

struct kipt_fetch;
struct sock;

/**
 * struct kipt_request - what a user asks for
 * @config: of the CPUs
 * @cpus: at least one
 * @pid: only this process, or 0
 * @uid: effective user id of whoever made it
 * @sk: the socket that asks
 * @portid: its number
 * @process: what has number @pid, looked up once, or NULL; setup.c holds it
 * @follow: what @process is followed by, or NULL; the session's when it is made
 * @keep_running: function of the work item that starts what does not run of an armed
 *	session, kipt_arm_keep_running(); set by setup.c, as arm.c is above session.c
 */
struct kipt_request {
	struct kipt_config config;
	cpumask_var_t cpus;
	u32 pid;
	kuid_t uid;
	struct sock *sk;
	u32 portid;
	struct pid *process;
	struct kipt_follow *follow;
	work_func_t keep_running;
};

/**
 * struct kipt_session - a session
 * @refs: keep the struct; the list has one while the session is alive
 * @pins: keep the parts that are large, and what is needed to read a trace;
 *	the list has one while the session is alive
 * @node: in the list of sessions; sessions_lock
 * @group: its CPUs; guarded by @lock where it is not constant
 * @sk: the socket it dies with, referenced; NULL: it is detached, or dead
 * @portid: its number, which another socket may have as soon as it is closed
 * @gone: that socket was closed: nobody finds the session any more, and @gone_work is on
 *	its way; set with sessions_lock held, read without
 * @gone_work: destroys the session then; it has a reference
 * @uid: effective user id of who made it; constant
 * @cpus: what it traces; constant
 * @process: only this process, or NULL; constant, referenced
 * @follow: what @process is followed by, or NULL; constant until freed
 * @dead: kipt_session_destroy() took it out of the list; its CPUs and its memory may go
 *	later. Set with sessions_lock held, read without
 * @held: it got its CPUs, from kipt_session_create() or _claim() on, and has not let go of
 *	them all; it may have yielded some (kipt_session_has_cpu()). sessions_lock
 * @lock: guards all that follows, and starts and stops; who holds it waits
 *	for nothing that a user or a stuck CPU can make long
 * @reserving: session-new reserves the CPUs without the lock; they are not let
 *	go meanwhile
 * @state: enum kipt_state; read without the lock for reports
 * @cause: enum kipt_stop_cause of the last run, 0 before
 * @generation: counts starts
 * @end_patch: kipt_text_patch_count() at the last stop: patches of kernel text from that
 *	number on came after the run
 * @fetch: the fetch that is under way, or NULL
 * @wait: woken when the state changes or a CPU stops by itself
 * @event_work: sends events of CPUs that stopped
 * @excerpt: kipt_excerpt_prepare() was called for it
 * @killed: kipt_killed_get() was called for it
 * @hooks: kipt_crash_hooks_get() was called for it
 * @ended: its CPUs are free; read without the lock
 * @end_work: lets go of the CPUs, once all have stopped
 * @free_work: frees the parts
 * @arm: keeps it running if it is armed
 * @setup_phase: how far session-new is; of the dump only
 * @setup_cpu: the trace it is at
 * @setup_done: bytes of buffers allocated; read without a lock for reports
 * @nr_traces: as many as @cpus has
 * @traces: one per CPU, by number
 */
struct kipt_session {
	struct kref refs;
	struct kref pins;
	struct list_head node;
	struct kipt_group group;
	struct sock *sk;
	u32 portid;
	bool gone;
	struct work_struct gone_work;
	kuid_t uid;
	cpumask_var_t cpus;
	struct pid *process;
	struct kipt_follow *follow;
	bool dead;
	bool held;
	struct mutex lock;
	bool reserving;
	u32 state;
	u32 cause;
	u64 generation;
	u64 end_patch;
	struct kipt_fetch *fetch;
	wait_queue_head_t wait;
	struct work_struct event_work;
	bool excerpt;
	bool hooks;
	bool killed;
	bool ended;
	struct delayed_work end_work;
	struct work_struct free_work;
	struct kipt_arm arm;
	u32 setup_phase;
	u32 setup_cpu;
	u64 setup_done;
	u32 nr_traces;
	struct kipt_trace traces[];
};

/**
 * typedef kipt_session_listener - learns that a session changed
 * @id: session
 * @state: enum kipt_state of it, or 0: it is gone
 * @cpu: the CPU that stopped by itself, or KIPT_EVENT_NO_CPU
 * @cause: enum kipt_stop_cause, or 0
 *
 * Context: may sleep; waits for nobody.
 */
typedef void (*kipt_session_listener)(u32 id, u32 state, u32 cpu, u32 cause);

#define KIPT_EVENT_NO_CPU	(~0U)

/**
 * kipt_session_is_armed() - whether a session is armed
 * @session: any
 *
 * Context: any.
 */
static inline bool kipt_session_is_armed(const struct kipt_session *session)
{
	return session->group.config.flags & KIPT_SESSION_FLAGS_ARMED;
}

/**
 * kipt_session_look() - have a work item start what should run, if a session is armed
 * @session: not dead, which session->lock or sessions_lock keeps so
 *
 * For when a CPU has come online or is free again, the session was started, or the
 * machine is up again. Waits for nothing. Context: also CPU hotplug callbacks.
 */
void kipt_session_look(struct kipt_session *session);

/**
 * kipt_session_create() - make a session that is to be set up
 * @request: what is asked for, checked
 * @refusal: where a refusal is explained
 *
 * Others find it at once, in state KIPT_STATE_SETUP; its CPUs are its own if
 * nobody has them.
 *
 * Return: the session, with a reference and a pin for the caller; or
 * ERR_PTR() of -EBUSY (a CPU is held), -ENOMEM, -ENODEV (the module is being
 * removed).
 */
struct kipt_session *
kipt_session_create(const struct kipt_request *request,
		    struct kipt_refusal *refusal);

/**
 * kipt_session_claim() - take the CPUs
 * @session: a new one
 * @refusal: where a refusal is explained
 *
 * Return:
 * 0: they are the session's, as long as it lives or until it yields one.
 * -EAGAIN: a session has them that is just being destroyed, or would yield them.
 * -EBUSY: another session has them.
 */
int kipt_session_claim(struct kipt_session *session,
		       struct kipt_refusal *refusal);

/**
 * kipt_session_ready() - have a session whose parts are all made become one that can start
 * @session: in state KIPT_STATE_SETUP, and in KIPT_STATE_NEW afterwards
 * @refusal: where a refusal is explained
 *
 * A dump of the machine finds its CPUs from then on.
 *
 * Return: 0; -ENOENT if it was destroyed meanwhile; -ENXIO if a CPU of it went
 * offline.
 */
int kipt_session_ready(struct kipt_session *session,
		       struct kipt_refusal *refusal);

/**
 * kipt_session_destroy() - end a session
 * @session: referenced by the caller; may be dead already
 *
 * On return nobody finds it any more, it does not trace and its CPUs are
 * free; its memory is freed as soon as nobody has a pin. A CPU that does not
 * answer is tried again until it does, and keeps all of it until then; so does
 * one that takes NMIs and no interrupts. This waits a second for that and no
 * longer.
 *
 * Context: may sleep, for two seconds in all.
 */
void kipt_session_destroy(struct kipt_session *session);

/**
 * kipt_session_find() - the session of a number
 * @id: the number
 *
 * Return: the session with a reference for the caller, or NULL.
 */
struct kipt_session *kipt_session_find(u32 id);

/**
 * kipt_session_next() - the session with the next higher number
 * @id: where to go on; 0 at first
 *
 * Return: the session with a reference for the caller, or NULL.
 */
struct kipt_session *kipt_session_next(u32 id);

/**
 * kipt_session_check_gone() - refuse what was asked of a destroyed session
 * @session: referenced by the caller
 * @refusal: where that is said
 *
 * Return: -ENOENT; 0 if it is not destroyed.
 */
int kipt_session_check_gone(const struct kipt_session *session,
			    struct kipt_refusal *refusal);

/**
 * kipt_session_changes() - to see whether the list of sessions is the same
 *
 * Return: another number whenever a session was made or destroyed.
 */
u32 kipt_session_changes(void);

/**
 * kipt_session_get() - take a reference
 * @session: the caller has one already; NULL: nothing
 *
 * Return: @session.
 */
struct kipt_session *kipt_session_get(struct kipt_session *session);

/**
 * kipt_session_put() - drop a reference
 * @session: from kipt_session_find(), _next() or _get()
 */
void kipt_session_put(struct kipt_session *session);

/**
 * kipt_session_pin() - keep the parts of a session
 * @session: not dead, which session->lock keeps so; or the caller has a pin
 */
void kipt_session_pin(struct kipt_session *session);

/**
 * kipt_session_pin_live() - keep the parts of a session, unless it is dead
 * @session: the caller has a reference
 *
 * Needs no session->lock, with which others may wait for CPUs.
 *
 * Return: false if it is dead: there is no pin then.
 */
bool kipt_session_pin_live(struct kipt_session *session);

/**
 * kipt_session_unpin() - let go of the parts of a session
 * @session: the caller has a reference
 *
 * The last one has a work item free them. Context: any but NMI.
 */
void kipt_session_unpin(struct kipt_session *session);

/**
 * kipt_session_trace_state() - whether a CPU of a session traces
 * @session: locked, or pinned
 * @trace: of one of its CPUs
 *
 * Return: enum kipt_state; of a session that runs the CPU may be stopped.
 */
static inline u32 kipt_session_trace_state(const struct kipt_session *session,
					   const struct kipt_trace *trace)
{
	/* Of another state than setup, the buffer is there. */
	u32 state = smp_load_acquire(&session->state);

	if (state == KIPT_STATE_SETUP)
		return KIPT_STATE_SETUP;
	if (READ_ONCE(trace->running))
		return KIPT_STATE_RUNNING;
	return state == KIPT_STATE_NEW ? KIPT_STATE_NEW : KIPT_STATE_STOPPED;
}

/**
 * kipt_session_trace() - the trace of a CPU
 * @session: the session
 * @cpu: any number
 *
 * Return: the trace, or NULL if @cpu is not the session's.
 */
struct kipt_trace *kipt_session_trace(struct kipt_session *session, u32 cpu);

/**
 * kipt_session_socket_closed() - end what dies with a socket
 * @portid: number of the socket, which another one may have by now
 *
 * Waits for nothing that takes long. Context: the netlink notifier.
 */
void kipt_session_socket_closed(u32 portid);

/**
 * kipt_session_start() - trace on all CPUs
 * @session: the session; @lock is not held
 * @refusal: where a refusal is explained
 *
 * What the last run left stays if that can be refused before a register is
 * written. It is gone if a CPU then refuses, goes away or does not answer.
 *
 * Return: 0 or an errno as under session-start; none of the CPUs traces then.
 */
int kipt_session_start(struct kipt_session *session,
		       struct kipt_refusal *refusal);

/**
 * kipt_session_stop() - stop tracing on all CPUs
 * @session: the session; @lock is not held
 * @cause: enum kipt_stop_cause
 * @refusal: where a refusal is explained
 *
 * Return: 0; -EALREADY if it does not run; -ENOENT if it was destroyed
 * meanwhile; -EIO if the trace of a CPU is lost because someone else wrote
 * its registers; -ETIMEDOUT if a CPU does not answer (all others have stopped
 * then).
 */
int kipt_session_stop(struct kipt_session *session, u32 cause,
		      struct kipt_refusal *refusal);

/**
 * kipt_session_wake() - a CPU of a session stopped by itself
 * @session: the session
 *
 * Context: any but NMI.
 */
void kipt_session_wake(struct kipt_session *session);

/**
 * kipt_session_stop_all() - stop every session
 * @cause: enum kipt_stop_cause: suspend or reboot
 * @spare_armed: armed ones trace on
 */
void kipt_session_stop_all(u32 cause, bool spare_armed);

/**
 * kipt_session_may_lend() - whether kipt_session_lend() would be refused
 * @session: armed, has CPUs; @lock is held
 *
 * Return: as kipt_session_lend(), but for -ETIMEDOUT.
 */
int kipt_session_may_lend(struct kipt_session *session);

/**
 * kipt_session_lend() - stop, and let perf have the CPUs
 * @session: armed, has CPUs; @lock is held
 *
 * Return: 0.
 * -EPERM: the caller may not stop it.
 * -EBUSY: session-new has not made it yet.
 * -ETIMEDOUT: a CPU does not answer.
 */
int kipt_session_lend(struct kipt_session *session);

/**
 * kipt_session_yielding() - the armed session that would yield a CPU
 * @session: to which; any
 * @cpu: one of its CPUs
 *
 * Return: the session, with a reference for the caller; NULL if nobody has the CPU, or
 * who has it does not yield it.
 */
struct kipt_session *kipt_session_yielding(const struct kipt_session *session,
					   unsigned int cpu);

/**
 * kipt_session_yield() - stop tracing a CPU, and let another session have it
 * @session: armed, with the flag yield; @lock is not held
 * @cpu: one of its CPUs
 * @heir: who has it from then on, until it is destroyed; being made
 *
 * What was traced there stays until the CPU is traced again.
 *
 * Return: 1; 0 if the session no longer has the CPU; -ETIMEDOUT: the CPU does not
 * answer, and stays the session's.
 */
int kipt_session_yield(struct kipt_session *session, unsigned int cpu,
		       struct kipt_session *heir);

/**
 * kipt_session_take_back() - have a CPU that was yielded again
 * @session: locked
 * @trace: of the CPU; yielded, so that nothing is attached for it
 *
 * Return: false if a session has it.
 */
bool kipt_session_take_back(struct kipt_session *session,
			    struct kipt_trace *trace);

/**
 * kipt_session_resume() - trace again after a suspend or a loan
 * @session: the session; @lock is not held
 * @refusal: where a refusal is explained
 *
 * Return: 0, also if something else stopped it; or as
 * kipt_session_start().
 */
int kipt_session_resume(struct kipt_session *session,
			struct kipt_refusal *refusal);

/*
 * Runs what keeps a session running, what takes one down, and the end of a loan of PT. Who
 * queues work of a session holds session->lock or sessions_lock and has seen that the session
 * is not dead. Delayed work is queued by mod_delayed_work() alone: the new delay replaces
 * the old one. A work item here may wait for event_work, which has a queue of its own, and
 * for no other.
 */
extern struct workqueue_struct *kipt_session_wq;

/**
 * kipt_session_flush() - wait for the work that is under way, which has events to send
 *
 * Context: may sleep; no lock of a session.
 */
void kipt_session_flush(void);

/**
 * kipt_session_check_cpus() - whether CPUs can be traced
 * @cpus: any set
 * @flags: of the session; CPUs of an armed one may be offline
 * @refusal: where a refusal is explained
 *
 * Return: 0; -ENXIO if one is unknown or offline; -ENODEV if one has no PT.
 */
int kipt_session_check_cpus(const struct cpumask *cpus, u32 flags,
			    struct kipt_refusal *refusal);

/**
 * kipt_session_busy() - CPUs that sessions hold
 * @cpus: where to write them
 */
void kipt_session_busy(struct cpumask *cpus);

/**
 * kipt_session_init() - ready to make sessions; follows CPU hotplug
 *
 * Return: 0 or an errno.
 */
int kipt_session_init(void);

/**
 * kipt_session_close() - destroy all sessions; no new ones can be made
 *
 * Requests may still come and find nothing. On return all events were sent.
 */
void kipt_session_close(void);

/**
 * kipt_session_uninit() - follow CPU hotplug no longer; there are no sessions
 *
 * Waits until all sessions are freed. Nobody reads one any more.
 */
void kipt_session_uninit(void);

#endif /* KIPT_SESSION_H */
