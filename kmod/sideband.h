/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the trace does not say and the scheduler does: which address space a
 * CR3 value is, and which thread ran when. One sideband belongs to one
 * session. Probes on sched_switch and sched_process_exec exist while any
 * session does; they are made before tracing starts and removed after the
 * last decode, because that patches kernel text.
 */
#ifndef KIPT_SIDEBAND_H
#define KIPT_SIDEBAND_H

#include <linux/cpumask.h>
#include <linux/types.h>

struct kipt_sideband;
struct mm_struct;

/* Address spaces one session keeps at most. */
#define KIPT_SIDEBAND_MAX_MMS	1024

/**
 * struct kipt_switch - a thread began to run
 * @tsc: when
 * @space: name of its address space, 0 for a kernel thread
 * @tid: thread
 * @tgid: process
 */
struct kipt_switch {
	u64 tsc;
	u64 space;
	u32 tid;
	u32 tgid;
};

/**
 * struct kipt_switch_log - the switches of one CPU, a ring
 * @entries: @mask + 1 of them
 * @mask: a power of two, less one
 * @written: switches logged so far; entry i is at @entries[i & @mask], and
 *	those before @written - @mask - 1 are lost
 */
struct kipt_switch_log {
	struct kipt_switch *entries;
	u32 mask;
	u64 written;
};

/**
 * kipt_sideband_create() - start to listen
 * @cpus: of the session; no other sideband listens on them
 * @size: trace bytes per CPU, which sizes the logs
 * @keep_mm: keep address spaces when their tasks exit
 * @mark_switches: put a PSB+ into the trace where a thread begins to run; for
 *	traces of user code only, which do not tell
 *
 * Context: may sleep, no lock that CPU hotplug takes.
 *
 * Return: NULL without
 * memory.
 */
struct kipt_sideband *kipt_sideband_create(const struct cpumask *cpus,
					   u64 size, bool keep_mm,
					   bool mark_switches);

/**
 * kipt_sideband_destroy() - stop listening, let go of address spaces
 * @sideband: may be NULL
 *
 * Context: as kipt_sideband_create().
 */
void kipt_sideband_destroy(struct kipt_sideband *sideband);

/**
 * kipt_sideband_reset() - forget what was heard
 * @sideband: paused
 *
 * Context: may sleep.
 */
void kipt_sideband_reset(struct kipt_sideband *sideband);

/**
 * kipt_sideband_run() - remember what is heard from now on
 * @sideband: the sideband
 */
void kipt_sideband_run(struct kipt_sideband *sideband);

/**
 * kipt_sideband_pause() - remember nothing more
 * @sideband: the sideband
 *
 * What was remembered is stable on return. Context: may sleep.
 */
void kipt_sideband_pause(struct kipt_sideband *sideband);

/**
 * kipt_sideband_begin_local() - remember who runs as tracing starts
 * @sideband: it runs
 *
 * Context: this CPU, one of its CPUs, interrupts off.
 */
void kipt_sideband_begin_local(struct kipt_sideband *sideband);

/**
 * kipt_sideband_space() - name the address space of a CR3 value
 * @cr3: as in a PIP packet: PCID and the user half of a split page table
 *	are told apart by low bits, which the name leaves out
 *
 * Context: any.
 *
 * Return: physical address of the page table, never 0.
 */
u64 kipt_sideband_space(u64 cr3);

/**
 * kipt_sideband_mm() - the address space of a name
 * @sideband: the sideband
 * @space: its name
 *
 * Context: process.
 *
 * Return: with a reference the caller drops by mmput(), or
 * NULL if it is unknown or gone.
 */
struct mm_struct *kipt_sideband_mm(struct kipt_sideband *sideband, u64 space);

/**
 * kipt_sideband_tgid() - the process of an address space
 * @sideband: the sideband
 * @space: its name
 * @tgid: the process that was first seen in it
 *
 * Context: process.
 *
 * Return: false if the space is unknown.
 */
bool kipt_sideband_tgid(struct kipt_sideband *sideband, u64 space, u32 *tgid);

/**
 * kipt_sideband_log() - the switches of a CPU
 * @sideband: paused
 * @cpu: one of its CPUs
 *
 * Return: the log; stable until kipt_sideband_reset().
 */
const struct kipt_switch_log *kipt_sideband_log(struct kipt_sideband *sideband,
						unsigned int cpu);

/**
 * kipt_sideband_running_at() - whose user code ran at a time
 * @sideband: paused
 * @cpu: one of its CPUs
 * @tsc: the time; 0: unknown
 *
 * For traces without OS, which name no address space.
 *
 * Return: its name; 0 if
 * it cannot be told: the time is unknown and more than one ran.
 */
u64 kipt_sideband_running_at(struct kipt_sideband *sideband, unsigned int cpu,
			     u64 tsc);

#endif /* KIPT_SIDEBAND_H */
