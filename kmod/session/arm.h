/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Armed sessions: what keeps them running, on CPUs that come and go, and after
 * a suspend. Leaves a session's life to session.c. Process context unless said
 * otherwise.
 */
#ifndef KIPT_ARM_H
#define KIPT_ARM_H

#include <linux/types.h>

struct kipt_refusal;
struct kipt_session;
struct work_struct;

/**
 * kipt_arm_keep_running() - start what should run of an armed session
 * @work: of its struct kipt_arm
 *
 * Comes again until it does.
 */
void kipt_arm_keep_running(struct work_struct *work);

/**
 * kipt_arm_resume_all() - have armed sessions trace again, by work items
 *
 * Context: process; takes the lock of each.
 */
void kipt_arm_resume_all(void);

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
 * kipt_arm_yield() - have armed sessions give up the CPUs that a session is to have
 * @session: not armed, being made; its lock is not held
 * @refusal: where a refusal is explained
 *
 * Those that do not yield keep theirs, which is no error here. They are given back when
 * the session is destroyed. Context: takes two seconds for a CPU that does not answer;
 * a fatal signal ends it early.
 *
 * Return: 0; -ETIMEDOUT: a CPU does not answer.
 */
int kipt_arm_yield(struct kipt_session *session, struct kipt_refusal *refusal);

/**
 * kipt_arm_exit() - nothing is lent any more
 *
 * Context: the module goes.
 */
void kipt_arm_exit(void);

/**
 * kipt_arm_load() - make and start an armed session, if that is asked for
 *
 * A failure is in the log, and so is why a kernel that saves the dump of
 * another does not do it. Context: the module is loaded, all of it is ready;
 * may sleep as long as the allocation of the buffers takes.
 */
void kipt_arm_load(void);

#endif /* KIPT_ARM_H */
