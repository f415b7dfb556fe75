/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Armed sessions as session.c sees them: they start also while some of their CPUs are
 * offline. Leaves to arm.c when what did not start is tried again. Process context.
 */
#ifndef KIPT_ARMED_H
#define KIPT_ARMED_H

#include <linux/types.h>
#include <linux/workqueue.h>

struct kipt_refusal;
struct kipt_session;
struct kipt_trace;

/**
 * struct kipt_arm - what keeps an armed session running; each session has one, used if armed
 * @work: starts what should run and does not; queued by kipt_session_look(), and by itself
 *	once more as long as what it was refused may change
 * @logged: the log has said why that fails, and does not say it again until it has
 *	succeeded; @work only
 * @lent: perf may use Intel PT on its CPUs, so that @work starts nothing; session->lock
 */
struct kipt_arm {
	struct delayed_work work;
	bool logged;
	bool lent;
};

/**
 * kipt_armed_start_cpu() - trace on one CPU
 * @session: armed and locked
 * @trace: of the CPU, not running
 * @refusal: where a refusal is explained
 *
 * Context: the CPU hotplug lock is not held.
 *
 * Return: as kipt_armed_start(); -ENXIO: the CPU is offline, or another session has it.
 */
int kipt_armed_start_cpu(struct kipt_session *session,
			 struct kipt_trace *trace,
			 struct kipt_refusal *refusal);

/**
 * kipt_armed_start() - trace on the CPUs that are online
 * @session: armed and locked
 * @refusal: where a refusal is explained
 *
 * Context: the CPU hotplug lock is not held.
 *
 * Return: 0 or an errno, as under session-start; some may trace then. After the
 * first start a CPU that refuses keeps no other from it.
 */
int kipt_armed_start(struct kipt_session *session,
		     struct kipt_refusal *refusal);

/**
 * kipt_armed_log() - have the log say what an armed session takes from others
 * @session: it was started, or is destroyed; nothing is said unless it is armed
 */
void kipt_armed_log(const struct kipt_session *session);

/**
 * kipt_armed_check() - whether a session may start as far as loans go
 * @session: locked
 * @refusal: where a refusal is explained
 *
 * Return: 0, or -EBUSY if it is one whose CPUs are lent.
 */
int kipt_armed_check(const struct kipt_session *session,
		     struct kipt_refusal *refusal);

#endif /* KIPT_ARMED_H */
