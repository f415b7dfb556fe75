/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The NMI handlers: ToPA PMIs, NMIs that kipt_trace_stop_all() sends, and those of a
 * crash. Each looks at the trace of the CPU it runs on.
 */
#ifndef KIPT_NMI_H
#define KIPT_NMI_H

/**
 * kipt_nmi_init() - register the NMI handlers
 *
 * Context: may sleep.
 *
 * Return: 0 or what registering says.
 */
int kipt_nmi_init(void);

/**
 * kipt_nmi_uninit() - take them away; no trace is attached to a CPU
 */
void kipt_nmi_uninit(void);

#endif /* KIPT_NMI_H */
