/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Programs that a signal kills: SIGSEGV, SIGABRT, SIGILL, SIGBUS or SIGFPE,
 * if nobody handles or ignores it. What such a program did last is copied, and
 * becomes a snapshot. Exists while a session has KIPT_SESSION_FLAGS_USER.
 *
 * A probe where the kernel is about to write a core dump hears of it, in the
 * context of the thread. It pauses the trace of its CPU for as long as copying
 * some hundred KiB takes, with interrupts off, and then looks at the mappings,
 * with preemption off: some milliseconds in all. The rest is done by a work
 * item, from copies and from pages that are referenced.
 */
#ifndef KIPT_KILLED_H
#define KIPT_KILLED_H

#include <linux/types.h>

struct netlink_ext_ack;

/**
 * kipt_killed_get() - a session wants to hear of programs that are killed
 * @extack: where a refusal is explained
 *
 * If the kernel cannot be probed the log is told so, and nothing is heard.
 * Context: may sleep, no lock that CPU hotplug takes.
 *
 * Return: 0 or -ENOMEM.
 */
int kipt_killed_get(struct netlink_ext_ack *extack);

/**
 * kipt_killed_put() - the session wants no more
 *
 * After the last one nothing is heard, and what was heard is kept. Context: as
 * kipt_killed_get().
 */
void kipt_killed_put(void);

/**
 * kipt_killed_fires() - whether it would be heard now
 * @why: if not, a sentence that says why; empty otherwise
 * @size: bytes of @why
 *
 * Context: any.
 *
 * Return: false if not.
 */
bool kipt_killed_fires(char *why, size_t size);

#endif /* KIPT_KILLED_H */
