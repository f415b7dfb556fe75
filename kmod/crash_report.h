/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Errors that the kernel reports before it dies of them, if it does: soft
 * lockups, hung tasks, lists that are corrupt. Knows them by the first words
 * of what is about to be printed, and when such a report is over. Leaves to
 * crash.c what is captured.
 */
#ifndef KIPT_CRASH_REPORT_H
#define KIPT_CRASH_REPORT_H

#include <linux/types.h>

#include "../uapi/linux/kipt_crash.h"

struct pt_regs;

/**
 * kipt_crash_report_find() - does a report begin with the line
 * @format: of the line, as printk() takes it
 *
 * Context: any, also NMI.
 *
 * Return: what it is, OOPS for an oops of which the kernel says a line first; 0
 * for all other lines.
 */
enum kipt_crash_hook kipt_crash_report_find(const char *format);

/**
 * kipt_crash_report_begin() - the kernel is about to print a report
 * @hook: what it is; no OOPS
 * @regs: of this CPU at the hook
 * @ip: the call of printk()
 * @trapped: the caller may run in a breakpoint's handler
 *
 * Captures all if this CPU's session is armed; where there is no room for a
 * snapshot a second after the last one was over at the soonest, and so that four
 * fifths of the time are traced. Has tracing go on when the report is over and
 * the machine lives.
 *
 * Context: any, also NMI. As kipt_crash_hit().
 */
void kipt_crash_report_begin(enum kipt_crash_hook hook, struct pt_regs *regs,
			     u64 ip, bool trapped);

/**
 * kipt_crash_report_uninit() - nothing is waited for any more
 *
 * There are no hooks. Context: may sleep.
 */
void kipt_crash_report_uninit(void);

#endif /* KIPT_CRASH_REPORT_H */
