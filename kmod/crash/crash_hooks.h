/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How the module learns that the machine dies, or that something happened which it
 * survives: probes where the kernel has printed nothing yet, notifiers should those
 * not fire, and the tracepoint through which each line of the log goes. They are
 * set while a session is armed. Leaves to crash_report.c whether it dies, to crash.c
 * what is done then. The module works without any of them.
 */
#ifndef KIPT_CRASH_HOOKS_H
#define KIPT_CRASH_HOOKS_H

#include <linux/types.h>

/**
 * kipt_crash_hooks_get() - an armed session wants them set
 *
 * The log says which could not be had. Context: may sleep, no lock that CPU
 * hotplug takes.
 */
void kipt_crash_hooks_get(void);

/**
 * kipt_crash_hooks_put() - the session wants them no more
 *
 * When the last one has gone none of them runs any more. Context: as
 * kipt_crash_hooks_get().
 */
void kipt_crash_hooks_put(void);

/**
 * kipt_crash_hooks_fire() - whether all of them are heard
 * @why: if not, a sentence that says what is missing or was missed, and what to do
 *	if there is something; empty otherwise
 * @size: bytes of @why
 *
 * Root may turn kprobes off at any time, and none fires in the handler of another.
 * What is new of that is logged, too. Context: any.
 *
 * Return: false if a crash may be seen late, when the other CPUs have been
 * stopped already, or not at all, or something was missed since they were set.
 */
bool kipt_crash_hooks_fire(char *why, size_t size);

#endif /* KIPT_CRASH_HOOKS_H */
