/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What ends tracing on all CPUs at once and keeps it off: suspend,
 * hibernation, reboot, kexec; armed sessions trace until right before a reboot.
 * Owns the notifiers; leaves sessions to session.c.
 */
#ifndef KIPT_LATCH_H
#define KIPT_LATCH_H

#include <linux/types.h>

#include "../uapi/linux/kipt.h"

/**
 * kipt_latch_init() - listen to the power management and to reboots
 *
 * Return: 0 or an errno.
 */
int kipt_latch_init(void);

/**
 * kipt_latch_uninit() - listen no more
 */
void kipt_latch_uninit(void);

/**
 * kipt_latch_check() - whether tracing may start
 * @why: the reason of a refusal, a sentence
 * @size: bytes of @why
 *
 * The latch is set before kipt_session_stop_all() is called. So who asks with
 * session->lock held, and starts before it lets go of it, either sees the
 * latch or is stopped.
 *
 * Context: any.
 *
 * Return: 0, or -EBUSY while the machine goes to sleep or down.
 */
int kipt_latch_check(char *why, size_t size);

/**
 * kipt_latch_cause() - why tracing may not start
 *
 * Context: any.
 *
 * Return: suspend or reboot, or 0 if it may.
 */
enum kipt_stop_cause kipt_latch_cause(void);

#endif /* KIPT_LATCH_H */
