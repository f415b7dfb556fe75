// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tracing of one CPU. Code that ends in _local runs on that CPU with
 * interrupts off, or in an NMI where it says so; the rest in process context.
 *
 * A request is @wanted and @why, then a step of @asked, then a call to the CPU
 * that does not wait. The CPU obeys and copies @asked to @done. An NMI obeys
 * too, but not in the middle of a change of the registers: that code looks at
 * @asked again when it is through.
 */
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/smp.h>

#include "buffer.h"
#include "capture.h"
#include "dump_page.h"
#include "../hw/hw_regs.h"
#include "../hw/nmi_claim.h"
#include "../hw/reserve.h"
#include "trace.h"

/*
 * How long a CPU may take to answer a call, and then to answer an NMI. One
 * that a hypervisor runs may have to wait for its turn.
 */
#define START_WAIT_US	(1000 * USEC_PER_MSEC)
#define STOP_WAIT_US	(50 * USEC_PER_MSEC)
#define NMI_WAIT_US	(1000 * USEC_PER_MSEC)
/* From a start until an error of the output shows in IA32_RTIT_STATUS. */
#define LOOK_AFTER_US	100
/*
 * Where a whole machine stands still, as a virtual one may, time goes on and
 * no CPU runs. So a wait always looks this often before it is over.
 */
#define WAIT_LOOKS	200

static const struct kipt_trace_ops *ops __ro_after_init;

static DEFINE_PER_CPU(struct kipt_trace *, attached);
/* Somebody wants a copy of the end of the CPU's trace. */
static DEFINE_PER_CPU(bool, copy_wanted);
/*
 * A CPU that is stuck may take a call much later than anybody waits for it,
 * so these outlive traces.
 */
static DEFINE_PER_CPU(call_single_data_t, call);

/**
 * struct check - whether a CPU could start
 * @call: to the CPU
 * @asked: counts requests
 * @done: the last one the CPU has answered
 * @err: the answer, as of kipt_hw_save_local()
 * @failed: the answer: it could not write its trace
 */
struct check {
	call_single_data_t call;
	u32 asked;
	u32 done;
	int err;
	bool failed;
};

/* Only the session that holds a CPU asks it, and asks once at a time. */
static DEFINE_PER_CPU(struct check, checks);

static void trace_full(struct irq_work *work)
{
	struct kipt_trace *trace =
		container_of(work, struct kipt_trace, full_work);

	ops->full(trace);
}

void kipt_trace_init(struct kipt_trace *trace, struct kipt_group *group,
		     unsigned int cpu)
{
	trace->group = group;
	trace->cpu = cpu;
	spin_lock_init(&trace->lock);
	init_irq_work(&trace->full_work, trace_full);
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

/* Programs the CPU and, unless what it follows runs elsewhere, lets it go. */
static int program_local(struct kipt_trace *trace)
{
	bool go = true;
	int err;

	if (trace->follow)
		go = ops->aim_local(trace, &trace->config.cr3_match);
	err = kipt_hw_program_local(&trace->config,
				    kipt_buffer_table(trace->buffer));
	if (err)
		return err;
	kipt_hw_halt_local(&trace->position);
	trace->state = KIPT_TRACE_PAUSED;
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
	ops->run_local(trace, false);
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
	ops->run_local(trace, true);
	/* One that another left behind is not to be met as an unknown NMI. */
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

/* Interrupts off, or an NMI. */
static void halt_local(struct kipt_trace *trace)
{
	struct kipt_hw_position before = trace->position;
	bool was_on = trace->state == KIPT_TRACE_ON;

	kipt_hw_halt_local(&trace->position);
	if (was_on ? !kipt_hw_is_ours(&trace->config, &trace->position) :
	    trace->position.ctl & RTIT_CTL_TRACEEN ||
	    !kipt_hw_same_place(&before, &trace->position))
		trace->outside = true;
	trace->state = KIPT_TRACE_PAUSED;
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

static void go_local(struct kipt_trace *trace, u64 cr3_match);
static bool may_go(const struct kipt_trace *trace);

/* @trace->changing is set. */
static void copy_asked_local(struct kipt_trace *trace)
{
	bool was_on = trace->state == KIPT_TRACE_ON;

	if (was_on)
		halt_local(trace);
	this_cpu_write(copy_wanted, false);
	barrier();
	ops->copy_local(trace);
	if (was_on && may_go(trace) && !kipt_capture_number())
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
			ops->caught_up_local();
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

static void end_change_local(struct kipt_trace *trace)
{
	obey_all_local(trace, true);
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

static void obey_call(void *unused)
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
	end_change_local(trace);
}

void kipt_trace_nmi_local(struct kipt_trace *trace)
{
	if (READ_ONCE(trace->changing) || kipt_trace_quiet(trace))
		return;
	/* Starting is no work for an NMI; the call will come. */
	if (!READ_ONCE(trace->wanted))
		obey_once_local(trace);
}

/* Tells the CPU; does not wait. */
static int ask(struct kipt_trace *trace, bool wanted, enum kipt_stop_cause why)
{
	int err;

	WRITE_ONCE(trace->wanted, wanted);
	WRITE_ONCE(trace->why, why);
	/* Pairs with smp_load_acquire() in obey_once_local(). */
	smp_store_release(&trace->asked, trace->asked + 1);
	/*
	 * Before the look whether an earlier call is still on its way. Pairs
	 * with smp_mb() in obey_call().
	 */
	smp_mb();
	err = smp_call_function_single_async(trace->cpu,
					     &per_cpu(call, trace->cpu));
	if (err != -ENXIO)
		return 0;
	/* The hotplug callback has stopped it already. */
	WRITE_ONCE(trace->done, trace->asked);
	return err;
}

/**
 * struct wait - a wait for CPUs
 * @end: when it is over, if it has looked WAIT_LOOKS times by then
 * @looks: how often it has
 */
struct wait {
	ktime_t end;
	u32 looks;
};

static struct wait begin_wait(u64 us)
{
	return (struct wait){ .end = ktime_add_us(ktime_get(), us) };
}

/* Return: false if it is over. */
static bool wait_more(struct wait *wait)
{
	if (++wait->looks > WAIT_LOOKS && ktime_after(ktime_get(), wait->end))
		return false;
	usleep_range(10, 50);
	return true;
}

static bool all_quiet(const struct kipt_trace *traces, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++)
		if (!kipt_trace_quiet(&traces[i]))
			return false;
	return true;
}

static bool wait_quiet(const struct kipt_trace *traces, u32 count, u64 us)
{
	struct wait wait = begin_wait(us);

	might_sleep();
	while (!all_quiet(traces, count))
		if (!wait_more(&wait))
			return all_quiet(traces, count);
	return true;
}

static void send_nmis(const struct kipt_trace *traces, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++)
		if (!kipt_trace_quiet(&traces[i]))
			kipt_nmi_send(traces[i].cpu);
}

static enum kipt_stop_cause cause_of(const struct kipt_trace *trace,
				     const struct kipt_trace_result *result)
{
	u64 status = trace->position.status;

	if (result->lost || trace->outside)
		return KIPT_STOP_CAUSE_OUTSIDE;
	if (trace->failed || status & RTIT_STATUS_ERROR)
		return KIPT_STOP_CAUSE_ERROR;
	if (!(status & RTIT_STATUS_STOPPED))
		return trace->ended;
	if (trace->buffer->once && result->head == trace->buffer->size)
		return KIPT_STOP_CAUSE_FULL;
	return KIPT_STOP_CAUSE_FILTER;
}

static void set_result(struct kipt_trace *trace,
		       const struct kipt_trace_result *result)
{
	spin_lock(&trace->lock);
	trace->result = *result;
	spin_unlock(&trace->lock);
}

/* The CPU is done; told twice it finds the same. */
static void finish(struct kipt_trace *trace)
{
	struct kipt_trace_result result = { .registers = trace->position };

	if (kipt_buffer_measure(trace->buffer, &trace->position, &result.head,
				&result.tail))
		result.lost = true;
	result.cause = cause_of(trace, &result);
	set_result(trace, &result);
	kipt_dump_finish(trace, &result);
	WRITE_ONCE(trace->running, false);
}

static void give_up(struct kipt_trace *trace)
{
	struct kipt_trace_result result = {
		.cause = KIPT_STOP_CAUSE_STUCK,
		.lost = true,
	};

	set_result(trace, &result);
	WRITE_ONCE(trace->running, false);
}

struct kipt_trace *kipt_trace_stop_all(struct kipt_trace *traces, u32 count,
				       enum kipt_stop_cause cause)
{
	struct kipt_trace *stuck = NULL;
	u32 i;

	for (i = 0; i < count; i++)
		if (READ_ONCE(traces[i].running) ||
		    !kipt_trace_quiet(&traces[i]))
			ask(&traces[i], false, cause);
	if (!wait_quiet(traces, count, STOP_WAIT_US)) {
		send_nmis(traces, count);
		wait_quiet(traces, count, NMI_WAIT_US);
	}
	for (i = 0; i < count; i++) {
		if (!kipt_trace_quiet(&traces[i])) {
			give_up(&traces[i]);
			stuck = stuck ?: &traces[i];
		} else if (READ_ONCE(traces[i].running)) {
			finish(&traces[i]);
		}
	}
	return stuck;
}

static void forget(struct kipt_trace *trace)
{
	const struct kipt_trace_result none = {};

	set_result(trace, &none);
	trace->ended = 0;
	trace->refused = 0;
	trace->outside = false;
	trace->failed = false;
	WRITE_ONCE(trace->full, false);
	memset(&trace->position, 0, sizeof(trace->position));
	kipt_dump_finish(trace, &none);
	atomic64_set(&trace->pmis, 0);
}

static int first_refusal(struct kipt_trace *traces, u32 count,
			 struct kipt_trace **failed)
{
	u32 i;

	for (i = 0; i < count; i++) {
		*failed = &traces[i];
		if (!kipt_trace_quiet(&traces[i]))
			return -ETIMEDOUT;
		if (traces[i].refused)
			return traces[i].refused;
	}
	return 0;
}

static void check_call(void *unused)
{
	struct check *check = this_cpu_ptr(&checks);
	struct kipt_hw_saved scratch;
	u32 asked;

	/* As in obey_call(); pairs with smp_mb() in ask_check(). */
	smp_mb();
	/* Pairs with smp_store_release() in ask_check(). */
	asked = smp_load_acquire(&check->asked);
	check->err = kipt_hw_save_local(&scratch);
	check->failed = kipt_hw_status_local() & RTIT_STATUS_ERROR;
	/* Pairs with smp_load_acquire() in answered(). */
	smp_store_release(&check->done, asked);
}

static void ask_check(unsigned int cpu)
{
	struct check *check = per_cpu_ptr(&checks, cpu);

	/* Pairs with smp_load_acquire() in check_call(). */
	smp_store_release(&check->asked, check->asked + 1);
	/* As in ask(); pairs with smp_mb() in check_call(). */
	smp_mb();
	if (smp_call_function_single_async(cpu, &check->call) != -ENXIO)
		return;
	check->err = -ENXIO;
	check->failed = false;
	check->done = check->asked;
}

static bool answered(unsigned int cpu)
{
	struct check *check = per_cpu_ptr(&checks, cpu);

	/* Pairs with smp_store_release() in check_call(). */
	return smp_load_acquire(&check->done) == check->asked;
}

static int wait_answer(unsigned int cpu, struct wait *wait)
{
	while (!answered(cpu))
		if (!wait_more(wait))
			return -ETIMEDOUT;
	return per_cpu_ptr(&checks, cpu)->err;
}

int kipt_trace_check_all(struct kipt_trace *traces, u32 count,
			 struct kipt_trace **failed)
{
	struct wait wait;
	int err = 0, answer;
	u32 i;

	for (i = 0; i < count; i++)
		ask_check(traces[i].cpu);
	wait = begin_wait(START_WAIT_US);
	for (i = 0; i < count && err != -ETIMEDOUT; i++) {
		answer = wait_answer(traces[i].cpu, &wait);
		if (!answer || (err && answer != -ETIMEDOUT))
			continue;
		*failed = &traces[i];
		err = answer;
	}
	return err;
}

/*
 * A CPU that cannot write its trace says so a moment after the start, and in no other
 * way ("ToPA Errors"). That of a CPU which does not answer now is seen at the
 * stop.
 */
static int first_failure(struct kipt_trace *traces, u32 count,
			 struct kipt_trace **failed)
{
	u32 i;

	usleep_range(LOOK_AFTER_US, 2 * LOOK_AFTER_US);
	kipt_trace_check_all(traces, count, failed);
	for (i = 0; i < count; i++) {
		*failed = &traces[i];
		if (answered(traces[i].cpu) &&
		    per_cpu_ptr(&checks, traces[i].cpu)->failed)
			return -EIO;
	}
	return 0;
}

int kipt_trace_start_all(struct kipt_trace *traces, u32 count,
			 struct kipt_trace **failed)
{
	u32 i;
	int err;

	/* One that was given up on may be writing still. */
	err = first_refusal(traces, count, failed);
	if (err == -ETIMEDOUT)
		return err;
	for (i = 0; i < count; i++) {
		forget(&traces[i]);
		kipt_buffer_mark(traces[i].buffer);
		kipt_dump_start(&traces[i]);
	}
	for (i = 0; i < count; i++) {
		WRITE_ONCE(traces[i].running, true);
		if (ask(&traces[i], true, 0))
			traces[i].refused = -ENXIO;
	}
	wait_quiet(traces, count, START_WAIT_US);
	err = first_refusal(traces, count, failed) ?:
	      first_failure(traces, count, failed);
	if (!err)
		return 0;
	kipt_trace_stop_all(traces, count, KIPT_STOP_CAUSE_USER);
	for (i = 0; i < count; i++)
		if (kipt_trace_quiet(&traces[i]))
			forget(&traces[i]);
	return err;
}

void kipt_trace_stop_offline(struct kipt_trace *trace)
{
	unsigned long flags;
	bool stopped;

	local_irq_save(flags);
	begin_change_local(trace);
	stopped = trace->state != KIPT_TRACE_OFF;
	stop_local(trace, KIPT_STOP_CAUSE_OFFLINE);
	end_change_local(trace);
	/* The trace stays attached, for who asks the CPU just now. */
	WRITE_ONCE(trace->owns_pmis, false);
	local_irq_restore(flags);
	if (stopped)
		finish(trace);
}

void kipt_trace_result(struct kipt_trace *trace,
		       struct kipt_trace_result *result)
{
	spin_lock(&trace->lock);
	*result = trace->result;
	spin_unlock(&trace->lock);
}

/* What ended by itself stays ended. */
static bool may_go(const struct kipt_trace *trace)
{
	return !trace->outside && !trace->failed &&
	       !(trace->position.status &
		 (RTIT_STATUS_ERROR | RTIT_STATUS_STOPPED));
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
	trace->failed = true;
	trace->state = KIPT_TRACE_PAUSED;
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
		WRITE_ONCE(trace->changing, false);
		barrier();
		ops->caught_up_local();
		return;
	}
	halt_local(trace);
	if (go && may_go(trace) && !kipt_capture_number()) {
		/* After a crash that was none a switch may come before the thaw. */
		if (kipt_dump_is_stopped(trace))
			kipt_dump_running(trace);
		go_local(trace, cr3_match);
	}
	end_change_local(trace);
}

bool kipt_trace_freeze_local(struct kipt_trace *trace, bool now)
{
	bool changing = READ_ONCE(trace->changing);

	if (changing && !now)
		return false;
	WRITE_ONCE(trace->changing, true);
	barrier();
	if (trace->state == KIPT_TRACE_ON)
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
		go = ops->aim_local(trace, &cr3_match);
	if (go && may_go(trace))
		go_local(trace, cr3_match);
}

void kipt_trace_thaw_local(void)
{
	struct kipt_trace *trace = kipt_trace_here();

	if (!trace)
		return;
	begin_change_local(trace);
	if (trace->state == KIPT_TRACE_PAUSED && !kipt_capture_number())
		resume_local(trace);
	end_change_local(trace);
}

void kipt_trace_pmi_local(struct kipt_trace *trace)
{
	if (trace->state == KIPT_TRACE_OFF)
		return;
	atomic64_inc(&trace->pmis);
	if (!(kipt_hw_status_local() & RTIT_STATUS_STOPPED))
		return;
	WRITE_ONCE(trace->full, true);
	irq_work_queue(&trace->full_work);
}

/* Per-CPU variables of modules are not relocated, so this is no initialiser. */
void kipt_trace_ops_init(const struct kipt_trace_ops *of)
{
	unsigned int cpu;

	ops = of;
	for_each_possible_cpu(cpu) {
		INIT_CSD(&per_cpu(call, cpu), obey_call, NULL);
		INIT_CSD(&per_cpu(checks, cpu).call, check_call, NULL);
	}
}

static void nothing(void *unused)
{
}

/*
 * A CPU runs the calls somebody waits for first, in the same interrupt as
 * ours: after the grace period that is over.
 */
void kipt_trace_ops_uninit(void)
{
	on_each_cpu(nothing, NULL, 1);
	synchronize_rcu();
}
