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
struct netlink_ext_ack;

/**
 * struct kipt_arm - what an armed session has more, a part of each session
 * @work: starts what should run and does not; again and again, until it does
 * @told: the log says why that fails; @work only
 */
struct kipt_arm {
	struct delayed_work work;
	bool told;
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
 * @extack: where a refusal is explained
 *
 * Return: 0 or an errno, as that has them.
 */
int kipt_arm_reserve(struct kipt_session *session,
		     struct netlink_ext_ack *extack);

/**
 * kipt_arm_start() - trace on the CPUs that are online
 * @session: armed and locked
 * @extack: where a refusal is explained
 *
 * Context: the CPU hotplug lock is not held.
 *
 * Return: 0 or an errno, as under session-start; some may trace then. After the
 * first start a CPU that refuses keeps no other from it.
 */
int kipt_arm_start(struct kipt_session *session,
		   struct netlink_ext_ack *extack);

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

#endif /* KIPT_ARM_H */
