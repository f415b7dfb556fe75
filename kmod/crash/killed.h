/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Programs that a signal kills: SIGSEGV, SIGABRT, SIGILL, SIGBUS or SIGFPE,
 * if nobody handles or ignores it. What such a program did last is copied, and
 * becomes a snapshot. Exists while a session has KIPT_SESSION_FLAGS_USER.
 *
 * A probe where the kernel is about to write a core dump hears of it, in the
 * context of the thread. It has this CPU pause its trace, copy the end of it into
 * memory that exists since the session was made, and go on, and then writes down
 * the executable mappings, with preemption off: where they are, and of which file. It looks at
 * 4,096 mappings and 4,096 pages at most, which takes a millisecond, some at most. Code is not
 * copied: who reads a snapshot takes it from the files, whose build ids show whether they are
 * still those. A
 * process that may not leave a core dump (PR_SET_DUMPABLE, set-uid programs) leaves
 * nothing.
 */
#ifndef KIPT_KILLED_H
#define KIPT_KILLED_H

#include <linux/types.h>

struct kipt_refusal;

/* Of kind MAPS, which hold 240 mappings. */
#define KIPT_KILLED_MAP_PAGES	16U

/**
 * kipt_killed_get() - a session wants to hear of programs that are killed
 * @refusal: where a refusal is explained
 *
 * If the kernel cannot be probed the log says so, and nothing is heard.
 * Context: may sleep, no lock that CPU hotplug takes.
 *
 * Return: 0 or -ENOMEM.
 */
int kipt_killed_get(struct kipt_refusal *refusal);

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
