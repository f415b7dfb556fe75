/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The order of events when the machine dies: the first CPU that knows stops
 * its trace, makes the others stop theirs and writes down what a dump needs,
 * before the kernel has printed a line. Leaves to crash_hooks.c how it is known,
 * to trace.c how a trace stops, to crash_pages.c what is written, and to snapshot.c
 * all events that the machine survives.
 *
 * All but kipt_crash_uninit() runs where the machine is dying: no lock, no
 * allocation, no wait without a bound.
 */
#ifndef KIPT_CRASH_H
#define KIPT_CRASH_H

#include <linux/types.h>

#include "../../uapi/linux/kipt_crash.h"

struct pt_regs;

/* kipt_crash_event.trap of what is no exception. */
#define KIPT_CRASH_NO_TRAP	(~0U)

/**
 * kipt_crash_die() - the machine dies
 * @hook: who says so
 * @regs: of this CPU at the hook; or NULL
 * @ip: the instruction that faulted, or what calls panic() or printk(), or
 *	overflowed the stack; 0 if not known
 * @trap: vector of the exception if @ip faulted, or KIPT_CRASH_NO_TRAP
 *
 * The first CPU stops all; another stops its own trace. Nothing is printed. Does
 * nothing in a fault of its own. If the machine is alive when the kernel has printed
 * nothing for ten seconds, or after five minutes, and nobody called panic(), a snapshot is
 * taken and tracing goes on.
 *
 * Context: any, also NMI. Takes 50 ms if a CPU does not answer.
 */
void kipt_crash_die(enum kipt_crash_hook hook, struct pt_regs *regs, u64 ip,
		    u32 trap);

/**
 * kipt_crash_survive() - something happened that the machine means to survive
 * @hook: what
 * @regs: of this CPU at the hook; or NULL
 * @ip: as for kipt_crash_die()
 * @trap: as for kipt_crash_die()
 *
 * Takes a snapshot, unless the machine dies already, with interrupts off
 * meanwhile. Context: any, also NMI.
 */
void kipt_crash_survive(enum kipt_crash_hook hook, struct pt_regs *regs, u64 ip,
			u32 trap);

/**
 * kipt_crash_hear() - the kernel prints a line
 *
 * Context: any, also NMI.
 */
void kipt_crash_hear(void);

/**
 * kipt_crash_fault() - the kernel said which instruction faulted
 * @ip: its address
 * @trap: vector of the exception
 *
 * Counts if this is the thread that oopsed first, or the first that is reported
 * of several that oopsed at the same moment. Context: as kipt_crash_die().
 */
void kipt_crash_fault(u64 ip, u32 trap);

/**
 * kipt_crash_print() - print what was captured, if it was not yet
 *
 * Context: any, also NMI; where the kernel prints itself.
 */
void kipt_crash_print(void);

/**
 * kipt_crash_nmi_local() - an NMI came; stop or copy if that is asked for
 * @regs: of the NMI
 *
 * Context: NMI.
 */
void kipt_crash_nmi_local(const struct pt_regs *regs);

/**
 * kipt_crash_catch_up_local() - registers may be touched again
 *
 * Stops if an NMI that asked for it came too early. Context: this CPU,
 * interrupts off.
 */
void kipt_crash_catch_up_local(void);

/**
 * kipt_crash_uninit() - nothing goes on any more
 *
 * There are no hooks. Calls to CPUs may be under way until kipt_trace_ops_uninit().
 * Context: may sleep.
 */
void kipt_crash_uninit(void);

#endif /* KIPT_CRASH_H */
