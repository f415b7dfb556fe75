/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Armed sessions: what keeps them running, on CPUs that come and go, and after
 * a suspend. Leaves a session's life to session.c. Process context unless said
 * otherwise.
 */
#ifndef KIPT_ARM_H
#define KIPT_ARM_H

#include <linux/types.h>
#include <linux/workqueue.h>

struct kipt_session;
struct kipt_refusal;

/**
 * struct kipt_arm - what an armed session has more, a part of each session
 * @work: starts what should run and does not; again and again, until it does
 * @told: the log says why that fails; @work only
 * @lent: perf may use Intel PT on its CPUs; session->lock
 */
struct kipt_arm {
	struct delayed_work work;
	bool told;
	bool lent;
};

/**
 * kipt_arm_init() - nothing is to be started
 * @arm: of a session
 */
void kipt_arm_init(struct kipt_arm *arm);

/**
 * kipt_arm_uninit() - nothing is started any more
 * @arm: of a session that is dead
 */
void kipt_arm_uninit(struct kipt_arm *arm);

/**
 * kipt_arm_is_armed() - whether a session is armed
 * @session: any
 *
 * Context: any.
 */
bool kipt_arm_is_armed(const struct kipt_session *session);

/**
 * kipt_arm_reserve() - kipt_setup_reserve() on the CPUs that are online
 * @session: armed; locked, or @reserving
 * @refusal: where a refusal is explained
 *
 * Return: 0 or an errno, as that has them.
 */
int kipt_arm_reserve(struct kipt_session *session,
		     struct kipt_refusal *refusal);

/**
 * kipt_arm_start() - trace on the CPUs that are online
 * @session: armed and locked
 * @refusal: where a refusal is explained
 *
 * Context: the CPU hotplug lock is not held.
 *
 * Return: 0 or an errno, as under session-start; some may trace then. After the
 * first start a CPU that refuses keeps no other from it.
 */
int kipt_arm_start(struct kipt_session *session,
		   struct kipt_refusal *refusal);

/**
 * kipt_arm_tell() - have the log say what an armed session takes from others
 * @session: it was started, or is destroyed; nothing is said unless it is armed
 */
void kipt_arm_tell(const struct kipt_session *session);

/**
 * kipt_arm_look() - a CPU has come online, or the machine is up
 * @session: not dead, which session->lock or sessions_lock keeps so
 *
 * Has a work item start what should run, if the session is armed. Context:
 * also CPU hotplug callbacks.
 */
void kipt_arm_look(struct kipt_session *session);

/**
 * kipt_arm_check() - whether a session may start as far as loans go
 * @session: locked
 * @refusal: where a refusal is explained
 *
 * Return: 0, or -EBUSY if it is one whose CPUs are lent.
 */
int kipt_arm_check(const struct kipt_session *session,
		   struct kipt_refusal *refusal);

/**
 * kipt_arm_lend() - stop armed sessions and let perf have Intel PT on their CPUs
 * @who: a number for the borrower, who calls kipt_arm_return()
 * @seconds: until it is taken back if that is not called before, at most
 *	KIPT_RAW_LEND_MAX; 0: it is not
 *
 * The CPUs stay theirs as far as other sessions are concerned. Context: process
 * context of who may disarm every armed session, no lock is held. Takes a second for
 * each CPU that does not answer.
 *
 * Return:
 * 0: perf can use Intel PT there.
 * -ENOENT: no session is armed.
 * -EPERM: the caller may not stop one of them.
 * -EBUSY: it is lent already, or an armed session is being made.
 * -ETIMEDOUT: a CPU does not answer; nothing is lent.
 */
int kipt_arm_lend(const void *who, u32 seconds);

/**
 * kipt_arm_return() - take back what was lent
 * @who: as in kipt_arm_lend(); nothing happens unless it has borrowed
 *
 * Where perf does not let go of a CPU it is tried again each second. Context: may
 * sleep.
 */
void kipt_arm_return(const void *who);

/**
 * kipt_arm_exit() - nothing is lent any more
 *
 * Context: the module goes.
 */
void kipt_arm_exit(void);

#endif /* KIPT_ARM_H */
