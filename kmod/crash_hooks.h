/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How the module learns that the machine dies: probes where the kernel has
 * printed nothing yet, and notifiers should those not fire. Leaves to crash.c
 * what is done then. The module works without any of them.
 */
#ifndef KIPT_CRASH_HOOKS_H
#define KIPT_CRASH_HOOKS_H

#include <linux/types.h>

/**
 * kipt_crash_hooks_init() - set them
 *
 * The log is told which could not be had. Context: may sleep.
 */
void kipt_crash_hooks_init(void);

/**
 * kipt_crash_hooks_uninit() - take them away; on return none runs any more
 *
 * Context: may sleep.
 */
void kipt_crash_hooks_uninit(void);

/**
 * kipt_crash_hooks_fire() - whether all of them would be heard now
 * @why: if not, a sentence that says what is missing, and what to do if there
 *	is something; empty otherwise
 * @size: bytes of @why
 *
 * Root may turn kprobes off at any time. Context: any.
 *
 * Return: false if a crash may be seen late, when the other CPUs have been
 * stopped already, or not at all.
 */
bool kipt_crash_hooks_fire(char *why, size_t size);

#endif /* KIPT_CRASH_HOOKS_H */
