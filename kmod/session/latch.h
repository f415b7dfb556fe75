/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keeps tracing off while the machine sleeps, wakes up or goes down.
 */
#ifndef KIPT_LATCH_H
#define KIPT_LATCH_H

#include "../../uapi/linux/kipt.h"

struct kipt_refusal;

/**
 * kipt_latch_set() - tracing may not start, or may again
 * @what: what the machine does, as in "is being suspended"; NULL: tracing may start
 * @cause: suspend or reboot; 0 without @what
 *
 * Context: the notifiers of power.c.
 */
void kipt_latch_set(const char *what, enum kipt_stop_cause cause);

/**
 * kipt_latch_check() - whether tracing may start
 * @refusal: where a refusal is explained
 *
 * The latch is set before kipt_session_stop_all() is called. So whoever looks with
 * session->lock held, and starts before it lets go of it, either sees the
 * latch or is stopped.
 *
 * Context: any.
 *
 * Return: 0, or -EBUSY while the machine goes to sleep or down.
 */
int kipt_latch_check(struct kipt_refusal *refusal);

/**
 * kipt_latch_cause() - why tracing may not start
 *
 * Context: any.
 *
 * Return: suspend or reboot, or 0 if it may.
 */
enum kipt_stop_cause kipt_latch_cause(void);

#endif /* KIPT_LATCH_H */
