/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ToPA PMI: one NMI handler for all CPUs, which looks whose CPU it is on
 * and tells that trace. Owns the table from CPU to trace.
 */
#ifndef KIPT_PMI_H
#define KIPT_PMI_H

struct kipt_trace;

/**
 * kipt_pmi_init() - register the NMI handler
 *
 * Context: may sleep.
 *
 * Return: 0 or what registering says.
 */
int kipt_pmi_init(void);

/**
 * kipt_pmi_uninit() - take it away; no CPU is watched any more
 */
void kipt_pmi_uninit(void);

/**
 * kipt_pmi_watch() - PMIs of a CPU are for a trace from now on
 * @cpu: the CPU; no other trace watches it
 * @trace: lives until kipt_pmi_unwatch() and a grace period
 */
void kipt_pmi_watch(unsigned int cpu, struct kipt_trace *trace);

/**
 * kipt_pmi_unwatch() - PMIs of a CPU are nobody's
 * @cpu: the CPU; its tracing is off
 *
 * A handler may still run: wait for a grace period before the trace is freed.
 */
void kipt_pmi_unwatch(unsigned int cpu);

/**
 * kipt_pmi_stopped_local() - tracing was just turned off on this CPU
 *
 * Takes a pending PMI off the register and remembers that its NMI may still
 * arrive. Context: this CPU, interrupts off.
 */
void kipt_pmi_stopped_local(void);

#endif /* KIPT_PMI_H */
