/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keeps perf off Intel PT on CPUs that sessions hold, by disabled per-CPU
 * events of its intel_pt PMU, which it owns. Process context; not under locks
 * that a CPU hotplug callback takes, unless said otherwise.
 */
#ifndef KIPT_RESERVE_H
#define KIPT_RESERVE_H

#include <linux/types.h>

struct kipt_refusal;

/**
 * kipt_reserve_init() - find perf's intel_pt PMU, once
 *
 * Prints what it found if that is not the usual. Later kipt_reserve_get()
 * refuses if nothing shows whether there is such a PMU.
 */
void kipt_reserve_init(void);

/**
 * kipt_reserve_get() - take the intel_pt PMU of a CPU
 * @cpu: held by the calling session; taken already is no error
 * @refusal: where a refusal is explained
 *
 * Without an intel_pt PMU there is nothing to take.
 *
 * Return:
 * 0: perf cannot use PT on @cpu.
 * -EBUSY: perf traces there, or uses LBR on a CPU where that excludes PT.
 * -ENXIO: the CPU is offline.
 * -ENODEV: nothing shows whether perf has such a PMU.
 * Or another error of perf.
 */
int kipt_reserve_get(unsigned int cpu, struct kipt_refusal *refusal);

/**
 * kipt_reserve_held() - whether perf is still kept off
 * @cpu: of the calling session
 *
 * Context: the CPU hotplug lock is held for reading; true as long as it is.
 *
 * Return: false if the CPU went away since kipt_reserve_get(), also if it came
 * back.
 */
bool kipt_reserve_held(unsigned int cpu);

/**
 * kipt_reserve_put() - give it back; or the CPU goes away, and perf drops its events
 * @cpu: need not be reserved; kipt_reserve_get() takes it anew
 *
 * Context: may sleep, also the CPU hotplug callback.
 */
void kipt_reserve_put(unsigned int cpu);

#endif /* KIPT_RESERVE_H */
