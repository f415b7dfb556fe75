// SPDX-License-Identifier: GPL-2.0-only
/*
 * Starting and stopping traces of CPUs, see trace.h. Process context.
 *
 * A request is @wanted and @why, then a step of @asked, then a call to the CPU that does not
 * wait. The CPU obeys (trace_local.c).
 */
#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/smp.h>

#include "buffer.h"
#include "dump_page.h"
#include "../hw/hw_regs.h"
#include "../hw/nmi_claim.h"
#include "trace_local.h"

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
 * Where a whole machine is halted, as a virtual one may, time goes on and
 * no CPU runs. So a wait always looks this often before it is over.
 */
#define WAIT_LOOKS	200

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

/* Asks the CPU; does not wait. */
static int ask(struct kipt_trace *trace, bool wanted, enum kipt_stop_cause why)
{
	int err;

	WRITE_ONCE(trace->wanted, wanted);
	WRITE_ONCE(trace->why, why);
	/* Pairs with smp_load_acquire() in obey_once_local(). */
	smp_store_release(&trace->asked, trace->asked + 1);
	/*
	 * Before the look whether an earlier call is still on its way. Pairs
	 * with smp_mb() in kipt_trace_obey().
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

static void set_result(struct kipt_trace *trace,
		       const struct kipt_trace_result *result)
{
	spin_lock(&trace->lock);
	trace->result = *result;
	spin_unlock(&trace->lock);
}

/* The CPU is done; called twice it finds the same. */
static void finish(struct kipt_trace *trace)
{
	struct kipt_trace_result result = { .registers = trace->position };

	if (kipt_buffer_measure(trace->buffer, &trace->position, &result.head,
				&result.tail))
		result.lost = true;
	result.cause = result.lost ? KIPT_STOP_CAUSE_OUTSIDE : trace->over ?: trace->ended;
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
	WRITE_ONCE(trace->over, 0);
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

	/* As in kipt_trace_obey(); pairs with smp_mb() in ask_check(). */
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

void kipt_trace_forget_all(struct kipt_trace *traces, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++)
		if (kipt_trace_quiet(&traces[i]))
			forget(&traces[i]);
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
	kipt_trace_forget_all(traces, count);
	return err;
}

void kipt_trace_result(struct kipt_trace *trace,
		       struct kipt_trace_result *result)
{
	spin_lock(&trace->lock);
	*result = trace->result;
	spin_unlock(&trace->lock);
}

void kipt_trace_stop_offline(struct kipt_trace *trace)
{
	if (kipt_trace_end_offline(trace))
		finish(trace);
}

/* Per-CPU variables of modules are not relocated, so this is no initialiser. */
void kipt_trace_ops_init(const struct kipt_trace_ops *of)
{
	unsigned int cpu;

	kipt_trace_ops = of;
	for_each_possible_cpu(cpu) {
		INIT_CSD(&per_cpu(call, cpu), kipt_trace_obey, NULL);
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
