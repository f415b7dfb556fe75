/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * NMIs: the ToPA PMI, those that kipt_trace_stop_all() sends, and those of a
 * crash. One handler for all CPUs asks whose CPU it is on and tells that trace.
 */
#ifndef KIPT_PMI_H
#define KIPT_PMI_H

/**
 * kipt_pmi_init() - register the NMI handlers
 *
 * Context: may sleep.
 *
 * Return: 0 or what registering says.
 */
int kipt_pmi_init(void);

/**
 * kipt_pmi_uninit() - take them away; no trace is attached to a CPU
 */
void kipt_pmi_uninit(void);

/**
 * kipt_pmi_stopped_local() - tracing is off on this CPU, perhaps just now
 *
 * Takes a pending PMI off the register and remembers that its NMI may still
 * arrive, once. Context: this CPU, interrupts off or an NMI.
 */
void kipt_pmi_stopped_local(void);

/**
 * kipt_pmi_send_nmi() - make a CPU that takes no interrupts look at its trace
 * @cpu: the CPU
 *
 * Context: any, also NMI.
 */
void kipt_pmi_send_nmi(unsigned int cpu);

#endif /* KIPT_PMI_H */
