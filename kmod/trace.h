/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One CPU of a session: starts and stops it, and knows what its buffer holds.
 * Leaves to session.c which CPUs start together.
 */
#ifndef KIPT_TRACE_H
#define KIPT_TRACE_H

#include <linux/atomic.h>
#include <linux/irq_work.h>
#include <linux/types.h>

#include "hw.h"

struct kipt_buffer;
struct kipt_session;
struct perf_event;

/**
 * struct kipt_trace - tracing of one CPU
 * @session: whose CPU it is
 * @cpu: its number
 * @buffer: where the trace goes
 * @reserved: what keeps perf off; the hotplug callback takes it away, so it
 *	is exchanged atomically
 * @lvtpc: what the PMI vector entry was before the start
 * @position: output registers at the last stop
 * @active: the PMI handler may act; written on @cpu only
 * @running: started and not stopped; changes under the CPU hotplug lock
 * @full: STOP took effect
 * @offline: stopped because the CPU went offline
 * @strayed: the registers pointed outside @buffer at the stop
 * @wrapped: older trace stands from @head on
 * @head: offset of the next byte to be written, as of the last stop
 * @bytes: trace bytes in @buffer, as of the last stop
 * @pmis: PMIs taken since the start
 * @records: records made by the current or last fetch
 * @full_work: carries @full out of the NMI
 */
struct kipt_trace {
	struct kipt_session *session;
	unsigned int cpu;
	struct kipt_buffer *buffer;
	struct perf_event *reserved;
	u32 lvtpc;
	struct kipt_hw_position position;
	bool active;
	bool running;
	bool full;
	bool offline;
	bool strayed;
	bool wrapped;
	u64 head;
	u64 bytes;
	atomic64_t pmis;
	atomic64_t records;
	struct irq_work full_work;
};

/**
 * kipt_trace_init() - ready a trace in zeroed memory
 * @trace: the memory
 * @session: whose it is
 * @cpu: what to trace
 */
void kipt_trace_init(struct kipt_trace *trace, struct kipt_session *session,
		     unsigned int cpu);

/**
 * kipt_trace_clear() - forget the last run: zero the buffer and the figures
 * @trace: stopped
 *
 * Context: may sleep.
 */
void kipt_trace_clear(struct kipt_trace *trace);

/**
 * kipt_trace_start() - start tracing
 * @trace: cleared; its CPU is online and stays so
 *
 * Context: may sleep, CPU hotplug lock held.
 *
 * Return: as
 * kipt_hw_start_local().
 */
int kipt_trace_start(struct kipt_trace *trace);

/**
 * kipt_trace_stop() - stop tracing and find out what there is
 * @trace: may be stopped already
 *
 * Context: may sleep, CPU hotplug lock held.
 *
 * Return: 0, or -EFAULT if
 * someone else wrote the registers (the trace is lost then).
 */
int kipt_trace_stop(struct kipt_trace *trace);

/**
 * kipt_trace_stop_offline() - the CPU is going away
 * @trace: of this CPU
 *
 * Context: the CPU hotplug callback, on the CPU itself.
 */
void kipt_trace_stop_offline(struct kipt_trace *trace);

/**
 * kipt_trace_pmi_local() - a ToPA PMI came
 * @trace: of this CPU
 *
 * Context: NMI.
 */
void kipt_trace_pmi_local(struct kipt_trace *trace);

#endif /* KIPT_TRACE_H */
