// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tracing of one CPU. Code that ends in _local runs on that CPU with
 * interrupts off, or in an NMI where it says so; the rest in process context
 * with the CPU hotplug lock held, which serialises starts and stops.
 */
#include <linux/cpu.h>
#include <linux/smp.h>

#include "buffer.h"
#include "pmi.h"
#include "hw_regs.h"
#include "session.h"
#include "sideband.h"
#include "trace.h"

static void trace_full(struct irq_work *work)
{
	struct kipt_trace *trace =
		container_of(work, struct kipt_trace, full_work);

	kipt_session_wake(trace->session);
}

void kipt_trace_init(struct kipt_trace *trace, struct kipt_session *session,
		     unsigned int cpu)
{
	trace->session = session;
	trace->cpu = cpu;
	init_irq_work(&trace->full_work, trace_full);
}

void kipt_trace_clear(struct kipt_trace *trace)
{
	kipt_buffer_clear(trace->buffer);
	memset(&trace->position, 0, sizeof(trace->position));
	trace->full = false;
	trace->offline = false;
	trace->strayed = false;
	trace->wrapped = false;
	trace->head = 0;
	trace->bytes = 0;
	atomic64_set(&trace->pmis, 0);
	atomic64_set(&trace->records, 0);
}

struct start_call {
	struct kipt_trace *trace;
	int err;
};

static void start_local(void *data)
{
	struct start_call *call = data;
	struct kipt_trace *trace = call->trace;

	kipt_sideband_begin_local(trace->session->sideband);
	/* A ring has no INT: it needs no PMI and leaves the vector alone. */
	if (trace->buffer->once)
		trace->lvtpc = kipt_hw_pmi_arm_local();
	/* Before the start: the first PMI may come at any time after it. */
	WRITE_ONCE(trace->active, true);
	barrier();
	call->err = kipt_hw_start_local(trace->session->ctl | RTIT_CTL_TOPA,
					kipt_buffer_table(trace->buffer));
	if (!call->err)
		return;
	WRITE_ONCE(trace->active, false);
	kipt_sideband_end_local();
	if (trace->buffer->once)
		kipt_hw_pmi_restore_local(trace->lvtpc);
}

int kipt_trace_start(struct kipt_trace *trace)
{
	struct start_call call = { .trace = trace };
	int err;

	err = smp_call_function_single(trace->cpu, start_local, &call, 1);
	if (err || call.err)
		return err ?: call.err;
	trace->buffer->dirty = true;
	WRITE_ONCE(trace->running, true);
	return 0;
}

static void stop_local(void *data)
{
	struct kipt_trace *trace = data;

	/* A PMI from here on is acknowledged and does nothing else. */
	WRITE_ONCE(trace->active, false);
	barrier();
	kipt_hw_stop_local(&trace->position);
	kipt_sideband_end_local();
	if (!trace->buffer->once)
		return;
	kipt_pmi_stopped_local();
	kipt_hw_pmi_restore_local(trace->lvtpc);
}

static int measure(struct kipt_trace *trace)
{
	int err;

	err = kipt_buffer_head(trace->buffer, &trace->position, &trace->head);
	if (err) {
		trace->strayed = true;
		return err;
	}
	trace->full = trace->position.status & RTIT_STATUS_STOPPED;
	trace->wrapped = kipt_buffer_wrapped(trace->buffer, trace->head);
	trace->bytes = trace->wrapped ? trace->buffer->size : trace->head;
	return 0;
}

int kipt_trace_stop(struct kipt_trace *trace)
{
	if (!trace->running)
		return 0;
	smp_call_function_single(trace->cpu, stop_local, trace, 1);
	WRITE_ONCE(trace->running, false);
	return measure(trace);
}

void kipt_trace_stop_offline(struct kipt_trace *trace)
{
	unsigned long flags;

	if (!trace->running)
		return;
	local_irq_save(flags);
	stop_local(trace);
	local_irq_restore(flags);
	WRITE_ONCE(trace->running, false);
	trace->offline = true;
	measure(trace);
}

void kipt_trace_pmi_local(struct kipt_trace *trace)
{
	if (!READ_ONCE(trace->active))
		return;
	atomic64_inc(&trace->pmis);
	if (!kipt_hw_stopped_local())
		return;
	WRITE_ONCE(trace->full, true);
	irq_work_queue(&trace->full_work);
}
