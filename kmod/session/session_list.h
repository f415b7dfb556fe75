/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of sessions know of the list of all of them, beside what session.h has.
 * Process context.
 */
#ifndef KIPT_SESSION_LIST_H
#define KIPT_SESSION_LIST_H

#include "session.h"

/**
 * kipt_session_refs_init() - begin the life of a session
 * @session: with one reference and one pin afterwards; counted until kipt_session_free(),
 *	or its last reference
 */
void kipt_session_refs_init(struct kipt_session *session);

/**
 * kipt_session_free() - free a session that was never published
 * @session: counted
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

#endif /* KIPT_SESSION_LIST_H */
