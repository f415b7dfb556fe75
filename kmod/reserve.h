/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keeps perf off Intel PT on CPUs that sessions hold, by disabled per-CPU
 * events of its intel_pt PMU. Process context; not under locks that a CPU
 * hotplug callback takes.
 */
#ifndef KIPT_RESERVE_H
#define KIPT_RESERVE_H

struct perf_event;

/**
 * kipt_reserve_get() - take the intel_pt PMU of a CPU
 * @cpu: an online CPU
 * @event: what to give to kipt_reserve_put(); NULL if this kernel has no
 *	intel_pt PMU, so that there is nothing to keep off
 *
 * Return: 0; -EBUSY if perf traces there, or uses LBR on a CPU where that
 * excludes PT; or another error of perf.
 */
int kipt_reserve_get(unsigned int cpu, struct perf_event **event);

/**
 * kipt_reserve_put() - give it back
 * @event: may be NULL
 */
void kipt_reserve_put(struct perf_event *event);

#endif /* KIPT_RESERVE_H */
