/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sessions: a set of CPUs, one configuration, one buffer per CPU, one state.
 * Process context unless said otherwise.
 *
 * Locks, in the order they are taken:
 *	session->lock, the CPU hotplug lock (read), sessions_lock.
 * The hotplug callbacks hold the hotplug lock for writing and take
 * sessions_lock only. Whatever patches kernel text (tracepoints, perf events)
 * takes the hotplug lock itself, so it is called with none but session->lock.
 */
#ifndef KIPT_SESSION_H
#define KIPT_SESSION_H

#include <linux/cpumask.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "hw.h"
#include "trace.h"
#include "../uapi/linux/kipt.h"

struct kipt_fetch;
struct kipt_fetch_request;
struct kipt_sideband;
struct netlink_ext_ack;

/**
 * struct kipt_session_config - what a user asks for
 * @cpus: at least one
 * @mode: enum kipt_mode
 * @size: bytes per CPU
 * @ctl: fields of IA32_RTIT_CTL
 * @flags: enum kipt_session_flags
 * @portid: the netlink socket that asks
 */
struct kipt_session_config {
	cpumask_var_t cpus;
	u32 mode;
	u64 size;
	u64 ctl;
	u32 flags;
	u32 portid;
};

/**
 * struct kipt_session - a session
 * @refs: the list has one while the session is alive, users have more
 * @node: in the list of sessions; sessions_lock
 * @id: from 1, never used again
 * @portid: owner, or 0 if detached; constant
 * @cpus: what it traces; constant
 * @mode: enum kipt_mode; constant
 * @size: bytes per CPU; constant
 * @ctl: fields of IA32_RTIT_CTL; constant
 * @flags: enum kipt_session_flags; constant
 * @caps: what its CPUs can do; constant
 * @lock: guards all that follows, and starts, stops and fetches
 * @state: enum kipt_state; read without the lock for reports
 * @dead: destroyed; only the memory is left
 * @generation: counts starts
 * @sideband: what the scheduler said
 * @first_patch: number of the first patch of kernel text since the last start
 * @end_patch: number of the first one after the last stop
 * @fetch: the current or last fetch, or NULL
 * @wait: woken when the state changes or a buffer is full
 * @event_work: tells listeners of a change
 * @nr_traces: as many as @cpus has
 * @traces: one per CPU, by number
 */
struct kipt_session {
	struct kref refs;
	struct list_head node;
	u32 id;
	u32 portid;
	cpumask_var_t cpus;
	u32 mode;
	u64 size;
	u64 ctl;
	u32 flags;
	struct kipt_caps caps;
	struct mutex lock;
	u32 state;
	bool dead;
	u64 generation;
	struct kipt_sideband *sideband;
	u64 first_patch;
	u64 end_patch;
	struct kipt_fetch *fetch;
	wait_queue_head_t wait;
	struct work_struct event_work;
	u32 nr_traces;
	struct kipt_trace traces[];
};

/**
 * kipt_session_create() - make a session: check, allocate, take the CPUs
 * @config: what is asked for
 * @extack: where a refusal is explained
 * @id: of the new session
 *
 * Return: 0 or an errno as uapi/kipt.yaml lists them under session-new.
 */
int kipt_session_create(const struct kipt_session_config *config,
			struct netlink_ext_ack *extack, u32 *id);

/**
 * kipt_session_destroy() - stop, end a fetch, free, release the CPUs
 * @session: referenced by the caller; may be dead already
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
 * kipt_session_put() - drop a reference
 * @session: from kipt_session_find() or _next()
 */
void kipt_session_put(struct kipt_session *session);

/**
 * kipt_session_trace() - the trace of a CPU
 * @session: the session
 * @cpu: any number
 *
 * Return: the trace, or NULL if @cpu is not the session's.
 */
struct kipt_trace *kipt_session_trace(struct kipt_session *session, u32 cpu);

/**
 * kipt_session_start() - trace on all CPUs, with empty buffers
 * @session: the session; @lock is not held
 * @extack: where a refusal is explained
 *
 * Return: 0 or an errno as under session-start; none of the CPUs traces then.
 */
int kipt_session_start(struct kipt_session *session,
		       struct netlink_ext_ack *extack);

/**
 * kipt_session_stop() - stop tracing on all CPUs
 * @session: the session; @lock is not held
 * @extack: where a refusal is explained
 *
 * Return: 0; -EALREADY if it does not run; -ENOENT if it was destroyed
 * meanwhile; -EIO if the trace of a CPU is lost because someone else wrote
 * its registers (all have stopped then).
 */
int kipt_session_stop(struct kipt_session *session,
		      struct netlink_ext_ack *extack);

/**
 * kipt_session_fetch() - get ready to decode a stopped session
 * @session: the session; @lock is held, and stays so until kipt_fetch_run()
 * @request: what is asked for
 * @extack: where a refusal is explained
 *
 * Return: 0 or an errno as under fetch; then session->fetch is not run yet.
 */
int kipt_session_fetch(struct kipt_session *session,
		       const struct kipt_fetch_request *request,
		       struct netlink_ext_ack *extack);

/**
 * kipt_session_wake() - something about a session changed
 * @session: the session
 *
 * Context: any but NMI.
 */
void kipt_session_wake(struct kipt_session *session);

/**
 * kipt_session_owner_gone() - a socket was closed
 * @portid: its number; sessions it owns are destroyed and fetches it started
 *	end
 */
void kipt_session_owner_gone(u32 portid);

/**
 * kipt_session_stop_all() - stop every session: suspend, reboot
 * @cause: why
 */
void kipt_session_stop_all(enum kipt_stop_cause cause);

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
 * Requests may still come and find nothing.
 */
void kipt_session_close(void);

/**
 * kipt_session_uninit() - follow CPU hotplug no longer; there are no sessions
 */
void kipt_session_uninit(void);

#endif /* KIPT_SESSION_H */
