// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a CPU does to its own trace, see trace.h. Code that ends in _local runs on that CPU
 * with interrupts off, or in an NMI where it says so.
 *
 * The CPU obeys a request of trace.c, and copies @asked to @done. An NMI obeys too, but not in
 * the middle of a change of the registers: that code looks at @asked again when it is through.
 */
#include <linux/cpumask.h>
#include <linux/irqflags.h>
#include <linux/percpu.h>

#include "buffer.h"
#include "capture.h"
#include "dump_page.h"
#include "../hw/hw_regs.h"
#include "../hw/nmi_claim.h"
#include "../hw/reserve.h"
#include "trace_local.h"

const struct kipt_trace_ops *kipt_trace_ops __ro_after_init;

static DEFINE_PER_CPU(struct kipt_trace *, attached);
/* Somebody wants a copy of the end of the CPU's trace. */
static DEFINE_PER_CPU(bool, copy_wanted);

static void trace_over(struct irq_work *work)
{
	struct kipt_trace *trace =
		container_of(work, struct kipt_trace, over_work);

	kipt_trace_ops->over(trace);
}

void kipt_trace_init(struct kipt_trace *trace, struct kipt_group *group,
		     unsigned int cpu)
{
	trace->group = group;
	trace->cpu = cpu;
	spin_lock_init(&trace->lock);
	init_irq_work(&trace->over_work, trace_over);
}

void kipt_trace_attach(struct kipt_trace *trace)
{
	WRITE_ONCE(trace->owns_pmis, cpu_online(trace->cpu) &&
				     kipt_reserve_held(trace->cpu));
	WRITE_ONCE(per_cpu(attached, trace->cpu), trace);
}

void kipt_trace_detach(struct kipt_trace *trace)
{
	cmpxchg(&per_cpu(attached, trace->cpu), trace, NULL);
}

struct kipt_trace *kipt_trace_here(void)
{
	return READ_ONCE(*this_cpu_ptr(&attached));
}

struct kipt_trace *kipt_trace_of(unsigned int cpu)
{
	return READ_ONCE(per_cpu(attached, cpu));
}

/* Interrupts off, or an NMI. */
static void pause_local(struct kipt_trace *trace)
{
	kipt_hw_halt_local(&trace->position);
	trace->state = KIPT_TRACE_PAUSED;
}

/* Programs the CPU and, unless what it follows runs elsewhere, lets it go. */
static int program_local(struct kipt_trace *trace)
{
	bool go = true;
	int err;

	if (trace->follow)
		go = kipt_trace_ops->aim_local(trace, &trace->config.cr3_match);
	err = kipt_hw_program_local(&trace->config,
				    kipt_buffer_table(trace->buffer));
	if (err)
		return err;
	pause_local(trace);
	if (!go || kipt_capture_number())
		return 0;
	/* Before the first PMI, which may come at any time after it. */
	trace->state = KIPT_TRACE_ON;
	barrier();
	return kipt_hw_go_local(&trace->config);
}

/* Tracing is off. Interrupts off, or an NMI. */
static void give_back_local(struct kipt_trace *trace)
{
	kipt_trace_ops->run_local(trace, false);
	if (trace->buffer->once) {
		kipt_nmi_stopped_local();
		kipt_hw_pmi_disarm_local(trace->lvtpc);
	}
	kipt_hw_restore_local(&trace->saved);
}

static int start_local(struct kipt_trace *trace)
{
	int err;

	err = kipt_hw_save_local(&trace->saved);
	if (err)
		return err;
	this_cpu_write(copy_wanted, false);
	kipt_trace_ops->run_local(trace, true);
	/* One that another left is not to be met as an unknown NMI. */
	kipt_nmi_stopped_local();
	WRITE_ONCE(trace->owns_pmis, true);
	/* A ring has no INT: it needs no PMI and leaves the vector alone. */
	if (trace->buffer->once)
		trace->lvtpc = kipt_hw_pmi_arm_local();
	err = program_local(trace);
	if (err) {
		trace->state = KIPT_TRACE_OFF;
		give_back_local(trace);
	}
	return err;
}

/*
 * Interrupts off, or an NMI. Queues nothing while a capture is under way: if the machine lives on,
 * kipt_trace_thaw_local() does.
 */
static void set_over_local(struct kipt_trace *trace, enum kipt_stop_cause cause)
{
	if (trace->over == cause)
		return;
	WRITE_ONCE(trace->over, cause);
	if (!kipt_capture_number())
		irq_work_queue(&trace->over_work);
}

/* Why tracing ended by itself, as the registers say that were just read. */
static enum kipt_stop_cause over_of(const struct kipt_trace *trace, bool outside)
{
	u64 head, tail;

	if (outside || trace->over == KIPT_STOP_CAUSE_OUTSIDE)
		return KIPT_STOP_CAUSE_OUTSIDE;
	if (trace->position.status & RTIT_STATUS_ERROR)
		return KIPT_STOP_CAUSE_ERROR;
	if (!(trace->position.status & RTIT_STATUS_STOPPED))
		return trace->over;
	if (trace->buffer->once &&
	    !kipt_buffer_measure(trace->buffer, &trace->position, &head, &tail) &&
	    head == trace->buffer->size)
		return KIPT_STOP_CAUSE_FULL;
	return KIPT_STOP_CAUSE_FILTER;
}

/* Interrupts off, or an NMI. */
static void halt_local(struct kipt_trace *trace)
{
	struct kipt_hw_position before = trace->position;
	bool was_on = trace->state == KIPT_TRACE_ON, outside;

	pause_local(trace);
	outside = was_on ? !kipt_hw_is_ours(&trace->config, &trace->position) :
		  trace->position.ctl & RTIT_CTL_TRACEEN ||
		  !kipt_hw_same_place(&before, &trace->position);
	set_over_local(trace, over_of(trace, outside));
}

/* Interrupts off, or an NMI. */
static void stop_local(struct kipt_trace *trace, enum kipt_stop_cause why)
{
	if (trace->state == KIPT_TRACE_OFF)
		return;
	halt_local(trace);
	trace->ended = why;
	/* A PMI from here on is acknowledged and does nothing else. */
	trace->state = KIPT_TRACE_OFF;
	barrier();
	give_back_local(trace);
}

static void go_local(struct kipt_trace *trace, u64 cr3_match)
{
	int err = 0;

	if (trace->config.ctl & RTIT_CTL_CR3FILTER &&
	    cr3_match != trace->config.cr3_match) {
		trace->config.cr3_match = cr3_match;
		err = kipt_hw_aim_local(cr3_match);
	}
	if (!err) {
		trace->state = KIPT_TRACE_ON;
		barrier();
		err = kipt_hw_go_local(&trace->config);
	}
	if (!err)
		return;
	trace->state = KIPT_TRACE_PAUSED;
	set_over_local(trace, KIPT_STOP_CAUSE_ERROR);
}

bool kipt_trace_quiet(const struct kipt_trace *trace)
{
	/* Pairs with smp_store_release() in obey_once_local(). */
	return smp_load_acquire(&trace->done) == READ_ONCE(trace->asked);
}

static void obey_once_local(struct kipt_trace *trace)
{
	/* Pairs with smp_store_release() in ask(). */
	u32 asked = smp_load_acquire(&trace->asked);

	if (!READ_ONCE(trace->wanted))
		stop_local(trace, READ_ONCE(trace->why));
	else if (trace->state == KIPT_TRACE_OFF)
		trace->refused = start_local(trace);
	/* Pairs with smp_load_acquire() in kipt_trace_quiet(). */
	smp_store_release(&trace->done, asked);
}

/* @trace->changing is set. */
static void copy_asked_local(struct kipt_trace *trace)
{
	bool was_on = trace->state == KIPT_TRACE_ON;

	if (was_on)
		halt_local(trace);
	this_cpu_write(copy_wanted, false);
	barrier();
	kipt_trace_ops->copy_local(trace);
	/* What ended by itself stays ended. */
	if (was_on && !trace->over && !kipt_capture_number())
		go_local(trace, trace->config.cr3_match);
}

/* @start: for an NMI a start is none of its business; the call for it will come. */
static bool is_asked(const struct kipt_trace *trace, bool start)
{
	return (start || !READ_ONCE(trace->wanted)) && !kipt_trace_quiet(trace);
}

/*
 * Does what was asked for, and what is asked for meanwhile, one request a round: an NMI
 * that meets a change of the registers leaves it all to that. There are at
 * most two rounds for each time that a CPU asks for a snapshot: one copies, and one may
 * find that it has been; and events that replace a snapshot are a second apart.
 */
static void obey_all_local(struct kipt_trace *trace, bool start)
{
	for (;;) {
		barrier();
		WRITE_ONCE(trace->changing, false);
		barrier();
		if (!is_asked(trace, start) && !this_cpu_read(copy_wanted)) {
			kipt_trace_ops->caught_up_local();
			return;
		}
		WRITE_ONCE(trace->changing, true);
		barrier();
		if (is_asked(trace, start))
			obey_once_local(trace);
		else
			copy_asked_local(trace);
	}
}

void kipt_trace_want_copy(unsigned int cpu)
{
	/* Before the NMI: counting that as awaited is a full barrier. */
	WRITE_ONCE(per_cpu(copy_wanted, cpu), true);
}

void kipt_trace_copy_local(struct kipt_trace *trace)
{
	if (!READ_ONCE(trace->changing))
		obey_all_local(trace, false);
}

static void begin_change_local(struct kipt_trace *trace)
{
	lockdep_assert_irqs_disabled();
	WRITE_ONCE(trace->changing, true);
	barrier();
}

void kipt_trace_obey(void *unused)
{
	struct kipt_trace *trace = kipt_trace_here();

	if (!trace)
		return;
	/*
	 * Who finds the call still under way relies on it to see the request;
	 * the kernel says that it is over before it comes here. Pairs with
	 * smp_mb() in ask().
	 */
	smp_mb();
	begin_change_local(trace);
	obey_all_local(trace, true);
}

void kipt_trace_nmi_local(struct kipt_trace *trace)
{
	if (READ_ONCE(trace->changing) || kipt_trace_quiet(trace))
		return;
	/* Starting is no work for an NMI; the call will come. */
	if (!READ_ONCE(trace->wanted))
		obey_once_local(trace);
}

void kipt_trace_steer_local(struct kipt_trace *trace, bool go, u64 cr3_match,
			    bool psb)
{
	bool aim = trace->config.ctl & RTIT_CTL_CR3FILTER &&
		   trace->config.cr3_match != cr3_match;

	if (trace->state == KIPT_TRACE_OFF)
		return;
	if (trace->state == KIPT_TRACE_ON ? go && !aim && !psb : !go)
		return;
	begin_change_local(trace);
	/* An NMI may have stopped it since; a start is not for a switch. */
	if (trace->state == KIPT_TRACE_OFF) {
		obey_all_local(trace, false);
		return;
	}
	halt_local(trace);
	if (go && !trace->over && !kipt_capture_number()) {
		/* After a crash that was none a switch may come before the thaw. */
		if (kipt_dump_is_stopped(trace))
			kipt_dump_running(trace);
		go_local(trace, cr3_match);
	}
	obey_all_local(trace, true);
}

bool kipt_trace_freeze_local(struct kipt_trace *trace, bool now)
{
	bool changing = READ_ONCE(trace->changing);

	if (changing && !now)
		return false;
	WRITE_ONCE(trace->changing, true);
	barrier();
	/* Amid a change of the registers what they have says nothing of other programs. */
	if (trace->state == KIPT_TRACE_ON && changing)
		pause_local(trace);
	else if (trace->state == KIPT_TRACE_ON)
		halt_local(trace);
	barrier();
	WRITE_ONCE(trace->changing, changing);
	return true;
}

/* As program_local(), but the ring goes on where it was. */
static void resume_local(struct kipt_trace *trace)
{
	u64 cr3_match = trace->config.cr3_match;
	bool go = true;

	kipt_dump_running(trace);
	if (trace->follow)
		go = kipt_trace_ops->aim_local(trace, &cr3_match);
	if (go && !trace->over)
		go_local(trace, cr3_match);
}

void kipt_trace_thaw_local(void *unused)
{
	struct kipt_trace *trace = kipt_trace_here();

	if (!trace)
		return;
	begin_change_local(trace);
	if (trace->state == KIPT_TRACE_PAUSED && !kipt_capture_number()) {
		resume_local(trace);
		if (trace->over)
			irq_work_queue(&trace->over_work);
	}
	obey_all_local(trace, true);
}

void kipt_trace_pmi_local(struct kipt_trace *trace)
{
	if (trace->state == KIPT_TRACE_OFF)
		return;
	atomic64_inc(&trace->pmis);
	if (!trace->over && kipt_hw_status_local() & RTIT_STATUS_STOPPED)
		set_over_local(trace, KIPT_STOP_CAUSE_FULL);
}

void kipt_trace_look_local(struct kipt_trace *trace)
{
	/*
	 * A trace that has not been started may have no buffer. Where the registers are being
	 * changed, that code reads their state, too.
	 */
	if (trace->state == KIPT_TRACE_ON && trace->buffer->once && !trace->over &&
	    !READ_ONCE(trace->changing) && kipt_hw_status_local() & RTIT_STATUS_STOPPED)
		halt_local(trace);
}

bool kipt_trace_end_offline(struct kipt_trace *trace)
{
	unsigned long flags;
	bool stopped;

	local_irq_save(flags);
	begin_change_local(trace);
	stopped = trace->state != KIPT_TRACE_OFF;
	stop_local(trace, KIPT_STOP_CAUSE_OFFLINE);
	obey_all_local(trace, true);
	/* The trace stays attached, for a CPU that asks this one just now. */
	WRITE_ONCE(trace->owns_pmis, false);
	local_irq_restore(flags);
	return stopped;
}
