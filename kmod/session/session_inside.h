/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of sessions know of each other, beside what session.h has: of the list of
 * all of them (session_list.c), of start and stop (session_run.c), and of what a session is
 * made of (parts.c). Process context.
 */
#ifndef KIPT_SESSION_INSIDE_H
#define KIPT_SESSION_INSIDE_H

#include "session.h"

/**
 * kipt_session_refs_init() - begin the life of a session
 * @session: with one reference and one pin afterwards
 *
 * The removal of the module waits for it until its last reference is dropped, or
 * kipt_session_free() is called.
 */
void kipt_session_refs_init(struct kipt_session *session);

/**
 * kipt_session_free() - free a session that was never published
 * @session: from kipt_session_refs_init(); nobody else knows of it
 */
void kipt_session_free(struct kipt_session *session);

/**
 * kipt_session_publish() - give a session its number, and add it to the list
 * @session: gets the CPUs too, unless one that is going still has some
 * @refusal: where a refusal is explained
 *
 * The list is in the order of numbers.
 *
 * Return: 0; -EBUSY another session has a CPU; -ENODEV the module is being removed.
 */
int kipt_session_publish(struct kipt_session *session,
			 struct kipt_refusal *refusal);

/**
 * kipt_session_unpublish() - take a session out of the list; it is dead
 * @session: was published
 *
 * Return: whether it is this call that ends it.
 */
bool kipt_session_unpublish(struct kipt_session *session);

/**
 * kipt_session_release_cpus() - let others have the CPUs of a session
 * @session: does not trace
 */
void kipt_session_release_cpus(struct kipt_session *session);

/**
 * kipt_session_has_cpu() - whether a session holds a CPU
 * @session: an armed one may have yielded it; it does so with @session->lock held
 * @cpu: one of its CPUs
 *
 * Context: any.
 */
bool kipt_session_has_cpu(const struct kipt_session *session, unsigned int cpu);

/**
 * kipt_session_holder_of() - the session that holds a CPU
 * @cpu: any
 *
 * Return: it, for kipt_session_put(), or NULL.
 */
struct kipt_session *kipt_session_holder_of(unsigned int cpu);

/**
 * kipt_session_hand_over() - have another session hold a CPU
 * @session: holds it, and does not trace it any more; its lock is held
 * @cpu: the CPU
 * @heir: gets it; nobody does if it is dead, and @session looks for it again
 */
void kipt_session_hand_over(struct kipt_session *session, unsigned int cpu,
			    struct kipt_session *heir);

/**
 * kipt_session_take_cpu() - hold a CPU that nobody holds
 * @session: its lock is held
 * @cpu: the CPU
 *
 * Return: false if another session holds it.
 */
bool kipt_session_take_cpu(struct kipt_session *session, unsigned int cpu);

/**
 * kipt_session_close_list() - add no session any more
 *
 * Return: the first that there is, for kipt_session_put(), or NULL.
 */
struct kipt_session *kipt_session_close_list(void);

/* Who hears of states and stops, set at load; may sleep. */
extern kipt_session_listener kipt_session_notify;

/**
 * kipt_session_set_state() - change the state, and call the listener
 * @session: its lock is held
 * @state: enum kipt_state
 */
void kipt_session_set_state(struct kipt_session *session, u32 state);

/**
 * kipt_session_tell_stopped() - call the listener for CPUs stopped by themselves
 * @work: event_work of the session
 */
void kipt_session_tell_stopped(struct work_struct *work);

/**
 * kipt_session_stop_traces() - stop all CPUs of a session
 * @session: its lock is held
 * @cause: enum kipt_stop_cause
 * @refusal: where a failure is explained; may be NULL
 *
 * Return: 0; -ETIMEDOUT a CPU does not answer; -EIO the trace of one is lost.
 */
int kipt_session_stop_traces(struct kipt_session *session, u32 cause,
			     struct kipt_refusal *refusal);

/**
 * kipt_session_all_answer() - whether each CPU that a session holds takes interrupts
 * @session: does not trace
 *
 * perf keeps another CPU busy with waiting for one that takes no interrupts, so all are
 * asked, in a way that does not, before perf is.
 */
bool kipt_session_all_answer(struct kipt_session *session);

/**
 * kipt_parts_check_output() - whether CPUs can write such a buffer
 * @caps: what they can do
 * @mode: enum kipt_mode
 * @size: bytes of a CPU
 * @refusal: where a refusal is explained
 *
 * Return: 0 or -EOPNOTSUPP.
 */
int kipt_parts_check_output(const struct kipt_caps *caps, u32 mode, u64 size,
			    struct kipt_refusal *refusal);

/**
 * kipt_parts_explain() - say why a CPU does not trace
 * @trace: of the CPU
 * @err: what kipt_trace_check_all() or kipt_trace_start_all() said
 * @refusal: where
 *
 * Return: the errno of the refusal.
 */
int kipt_parts_explain(const struct kipt_trace *trace, int err,
		       struct kipt_refusal *refusal);

/**
 * kipt_parts_reserve() - take the CPUs from perf and see that PT is off
 * @session: locked, or @reserving; what it has already it keeps. Of an armed
 *	one CPUs that are offline are left out
 * @refusal: where a refusal is explained
 *
 * Context: may sleep, for a second if a CPU does not answer.
 *
 * Return: 0; -EBUSY; -ENXIO (a CPU is offline); -ETIMEDOUT (one takes no
 * interrupts); or another error of perf.
 */
int kipt_parts_reserve(struct kipt_session *session,
		       struct kipt_refusal *refusal);

/**
 * kipt_parts_reserve_cpu() - the same for one CPU of an armed session
 * @session: as above
 * @trace: of the CPU, which may have been unknown when the session was made
 * @refusal: where a refusal is explained
 *
 * Context: as above.
 *
 * Return: as above; or -EINVAL, -EOPNOTSUPP if the CPU cannot do what the
 * session asks for.
 */
int kipt_parts_reserve_cpu(struct kipt_session *session,
			   struct kipt_trace *trace,
			   struct kipt_refusal *refusal);

/**
 * kipt_parts_free() - free what kipt_setup_step() made
 * @session: dead; nobody uses its parts, and no handler does
 */
void kipt_parts_free(struct kipt_session *session);

#endif /* KIPT_SESSION_INSIDE_H */
