/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the trace does not say and the scheduler does: which address space a
 * CR3 value is, and which thread ran when. One sideband belongs to one
 * session. Probes on sched_switch, sched_process_exec and sched_process_fork exist
 * while any session does; they are made before tracing starts and removed
 * after the last decode, because that patches kernel text.
 *
 * A CPU logs from kipt_sideband_begin_local() to kipt_sideband_end_local().
 * Both are called on the CPU itself, so when they return no probe of that CPU
 * is under way, and nobody has to wait for RCU. In an NMI the second may have
 * interrupted a probe, which then still writes the entry it is at: the log's
 * reader never takes that slot (struct kipt_switch_log), and the next
 * kipt_sideband_begin_local() cannot come before that probe is through.
 *
 * What was lost is counted by kipt_spaces_lost() for status and for records
 * (KIPT_GAP_SPACES), by kipt_sideband_switches_lost() for status, and by
 * kipt_switch_log_first() of each CPU's log (KIPT_GAP_SWITCHES), where the trace
 * begins before kipt_switch_log_known(). No task is named before that.
 */
#ifndef KIPT_SIDEBAND_H
#define KIPT_SIDEBAND_H

#include <linux/cpumask.h>
#include <linux/types.h>

#include "../shared/switch_log.h"

struct kipt_images;
struct kipt_sideband;
struct kipt_spaces;

/**
 * kipt_sideband_create() - start to listen
 * @cpus: of the session, and stay until kipt_sideband_destroy(); no other sideband
 *	listens on them
 * @size: trace bytes per CPU, which sizes the logs
 * @stops: CPUs may stop by themselves: a full buffer, TraceStop
 * @mark_switches: put a PSB+ into the trace where a thread begins to run; for
 *	traces of user code only, which do not say
 *
 * Memory is charged and accounted to who calls.
 *
 * Context: may sleep, no lock that CPU hotplug takes.
 *
 * Return: NULL without
 * memory.
 */
struct kipt_sideband *kipt_sideband_create(const struct cpumask *cpus,
					   u64 size,
					   bool stops, bool mark_switches);

/**
 * kipt_sideband_destroy() - stop listening, let go of address spaces
 * @sideband: may be NULL
 *
 * Context: as kipt_sideband_create(); waits for RCU.
 */
void kipt_sideband_destroy(struct kipt_sideband *sideband);

/**
 * kipt_sideband_reset() - forget what was heard
 * @sideband: stopped
 *
 * Context: may sleep, some milliseconds.
 */
void kipt_sideband_reset(struct kipt_sideband *sideband);

/**
 * kipt_sideband_stop() - no CPU logs any more
 * @sideband: the sideband
 *
 * For CPUs that could not be asked to call kipt_sideband_end_local(): such a
 * CPU may still write the entry it is at. Address spaces that end from now on are let
 * go of within some seconds, until kipt_sideband_reset(). Waits for nothing.
 *
 * Context: any but NMI.
 */
void kipt_sideband_stop(struct kipt_sideband *sideband);

/**
 * kipt_sideband_begin_local() - log who runs from now on, as tracing starts
 * @sideband: it was reset
 *
 * Context: this CPU, one of its CPUs, interrupts off, no NMI.
 */
void kipt_sideband_begin_local(struct kipt_sideband *sideband);

/**
 * kipt_sideband_end_local() - log no more
 *
 * Does nothing if nobody logs here. Context: this CPU, interrupts off, or an
 * NMI.
 */
void kipt_sideband_end_local(void);

/**
 * kipt_sideband_space() - name the address space of a CR3 value
 * @cr3: as in a PIP packet: PCID and the user half of a split page table
 *	differ in low bits, which the name leaves out
 *
 * Context: any.
 *
 * Return: physical address of the page table, never 0.
 */
u64 kipt_sideband_space(u64 cr3);

/**
 * kipt_sideband_spaces() - the address spaces it has seen
 * @sideband: the sideband
 *
 * Context: any.
 *
 * Return: what lives as long as @sideband.
 */
struct kipt_spaces *kipt_sideband_spaces(struct kipt_sideband *sideband);

/**
 * kipt_sideband_log() - the switches of a CPU
 * @sideband: stopped
 * @cpu: one of its CPUs
 *
 * Return: the log; stable until kipt_sideband_reset().
 */
const struct kipt_switch_log *kipt_sideband_log(struct kipt_sideband *sideband,
						unsigned int cpu);

/**
 * kipt_sideband_give() - have code read from files
 * @sideband: stopped; nobody reads code
 * @images: the sideband's from here on, until kipt_sideband_reset(); NULL: none
 *
 * Context: may sleep; the caller serialises.
 */
void kipt_sideband_give(struct kipt_sideband *sideband, struct kipt_images *images);

/**
 * kipt_sideband_images() - what kipt_sideband_give() was given
 * @sideband: the sideband
 *
 * Return: it, or NULL.
 */
const struct kipt_images *kipt_sideband_images(const struct kipt_sideband *sideband);

/**
 * kipt_sideband_switches_lost() - context switches that fell out of the logs of all CPUs
 * @sideband: the sideband
 *
 * Context: process.
 *
 * Return: exactly how many of CPUs that do not log any more.
 */
u64 kipt_sideband_switches_lost(const struct kipt_sideband *sideband);

#endif /* KIPT_SIDEBAND_H */
