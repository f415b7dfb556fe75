/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The order of events when the machine dies: the first CPU that knows stops
 * its trace, makes the others stop theirs and writes down what a dump needs,
 * before the kernel has printed a line. And how tracing goes on if the machine
 * survives. Leaves to crash_hooks.c how it is known, to trace.c how a trace
 * stops, to crash_pages.c what is written.
 *
 * All but kipt_crash_init() and _uninit() runs where the machine is dying: no lock, no
 * allocation, no wait without a bound.
 */
#ifndef KIPT_CRASH_H
#define KIPT_CRASH_H

#include <linux/types.h>

#include "../uapi/linux/kipt_crash.h"

struct pt_regs;

/**
 * kipt_crash_hit() - the machine may be dying
 * @hook: who says so
 * @regs: of this CPU at the hook; or NULL
 * @ip: what calls panic(), or overflowed the stack; 0 if not known
 *
 * The first CPU captures all; another stops its own trace. Nothing is
 * printed. Does nothing in a fault of its own.
 *
 * Context: any, also NMI. Takes 50 ms if a CPU does not answer.
 */
void kipt_crash_hit(enum kipt_crash_hook hook, struct pt_regs *regs, u64 ip);

/**
 * kipt_crash_bug() - the kernel is about to say that it met a BUG
 * @regs: of this CPU at the hook
 * @ip: the BUG's UD2
 *
 * An oops, of which is known where it was before the kernel says so: of two CPUs
 * that meet one at once, one may never come to say it. Context: as
 * kipt_crash_hit().
 */
void kipt_crash_bug(struct pt_regs *regs, u64 ip);

/**
 * kipt_crash_is_on() - whether a capture is on, and no CPU is to trace
 *
 * What is started meanwhile is paused. Context: any, also NMI.
 */
bool kipt_crash_is_on(void);

/**
 * kipt_crash_fault() - the kernel said which instruction faulted
 * @ip: its address
 * @trap: vector of the exception
 *
 * Counts if this is the thread that oopsed first, or the first that is reported
 * of several that oopsed at the same moment. Context: as kipt_crash_hit().
 */
void kipt_crash_fault(u64 ip, u32 trap);

/**
 * kipt_crash_tell() - print what was captured, if it was not yet
 *
 * Context: any, also NMI; where the kernel prints itself.
 */
void kipt_crash_tell(void);

/**
 * kipt_crash_warn() - the kernel is about to print a warning
 * @regs: of this CPU at the hook
 * @ip: the instruction that warns, or calls what prints its text
 * @faulted: it is the former
 *
 * Captures all, if this CPU's session is armed and there is room for one more
 * snapshot. Context: as kipt_crash_hit().
 */
void kipt_crash_warn(struct pt_regs *regs, u64 ip, bool faulted);

/**
 * kipt_crash_warned() - the kernel has printed a warning, and goes on
 *
 * Then tracing does, too, and a snapshot is kept. Context: any.
 */
void kipt_crash_warned(void);

/**
 * kipt_crash_may_report() - whether a report would be captured
 *
 * Context: any, also NMI.
 *
 * Return: false if this CPU's session is not armed, or a capture is on.
 */
bool kipt_crash_may_report(void);

/**
 * kipt_crash_report() - the kernel is about to report an error
 * @hook: LOCKUP, HUNG or REPORT
 * @regs: of this CPU at the hook
 * @ip: what calls printk()
 *
 * Context: as kipt_crash_hit().
 *
 * Return: number of what was captured, for kipt_crash_report_over(); 0: nothing
 * was.
 */
u32 kipt_crash_report(enum kipt_crash_hook hook, struct pt_regs *regs, u64 ip);

/**
 * kipt_crash_report_is_on() - whether a report is all that happened
 * @capture: from kipt_crash_report()
 *
 * Context: any.
 *
 * Return: false if tracing went on, or something worse came.
 */
bool kipt_crash_report_is_on(u32 capture);

/**
 * kipt_crash_report_over() - the kernel has printed a report, and goes on
 * @capture: from kipt_crash_report()
 *
 * Then tracing does, too, and a snapshot is kept if one more of a warning would
 * be. Context: any.
 */
void kipt_crash_report_over(u32 capture);

/**
 * kipt_crash_survived() - the thread that oopsed is about to exit
 * @trapped: the caller may run in a breakpoint's handler
 *
 * If it was the last that did, tracing goes on. Context: any.
 */
void kipt_crash_survived(bool trapped);

/**
 * kipt_crash_nmi_local() - an NMI came; stop if that is asked for
 * @regs: of the NMI
 *
 * Context: NMI.
 */
void kipt_crash_nmi_local(const struct pt_regs *regs);

/**
 * kipt_crash_has_stopped() - whether a CPU has stopped for the crash
 * @cpu: any; there is a crash
 *
 * Context: any, also NMI.
 *
 * Return: true if so: what it wrote down then can be read.
 */
bool kipt_crash_has_stopped(unsigned int cpu);

/**
 * kipt_crash_catch_up_local() - registers may be touched again
 *
 * Stops if an NMI that asked for it came too early. Context: this CPU,
 * interrupts off.
 */
void kipt_crash_catch_up_local(void);

/**
 * kipt_crash_init() - ready for hooks
 *
 * Calls to CPUs may be under way until kipt_trace_calls_uninit().
 */
void kipt_crash_init(void);

/**
 * kipt_crash_uninit() - nothing goes on any more
 *
 * There are no hooks. Context: may sleep.
 */
void kipt_crash_uninit(void);

#endif /* KIPT_CRASH_H */
