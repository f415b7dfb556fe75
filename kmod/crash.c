// SPDX-License-Identifier: GPL-2.0-only
/*
 * Captures a crash. Hooks and NMIs end here, on a machine of which nothing is
 * sure: the CPU may be in any code, the module's own too, and hold any lock.
 * So each CPU writes what is its own, the rest is written by the one that was
 * first. Only the work item that goes on after an oops may sleep.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/irq_work.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/printk.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/workqueue.h>
#include <asm/trapnr.h>
#include <asm/tsc.h>

#include "arm.h"
#include "buffer.h"
#include "compat.h"
#include "crash.h"
#include "crash_pages.h"
#include "excerpt_cpus.h"
#include "pmi.h"
#include "probe.h"
#include "session.h"
#include "snapshot.h"
#include "trace.h"

/* kipt_crash_event.trap of what is no exception. */
#define NO_TRAP	(~0U)

/*
 * How long the others are waited for. They answer in microseconds; one that a
 * hypervisor runs may have to wait for its turn, and where the whole machine
 * stands still only looks count.
 */
#define WAIT_MS		50
#define WAIT_LOOKS	100000
/* The same for what another CPU does in microseconds. */
#define CLEAR_LOOKS	20000

/**
 * enum phase - how far a capture is
 * @CALM: the machine is well
 * @STOPPING: the first CPU is at it
 * @STOPPED: all is written down
 * @CLEARING: the machine survived, and that is being forgotten
 */
enum phase {
	CALM,
	STOPPING,
	STOPPED,
	CLEARING,
};

static atomic_t phase = ATOMIC_INIT(CALM);
/*
 * Of the capture that is on, or 0; the next one has the next number. While it is
 * set no CPU traces.
 */
static u32 number;
static u32 last_number;
/* It will not survive. */
static bool dying;
static atomic_t told = ATOMIC_INIT(0);
/* It was a warning, and something worse came before tracing went on. */
static atomic_t replaced = ATOMIC_INIT(0);
/* The capture that is over; the work item may come when there is another. */
static u32 over;
/* Who was first, and how many oopses that thread had since. */
static struct task_struct *first_task;
static u32 first_oopses;
/* Whose oops was the last one. */
static struct task_struct *last_task;

/* This CPU is in a hook. */
static DEFINE_PER_CPU(bool, inside);
/* The last capture this CPU was asked to stop for, and has stopped for. */
static DEFINE_PER_CPU(u32, asked);
static DEFINE_PER_CPU(u32, done);
/* The last capture for which an oops of its own stopped it: its trace has that. */
static DEFINE_PER_CPU(u32, stopped_itself);
/* Where an NMI that came too early met it. */
static DEFINE_PER_CPU(u64, met);

static void go_on(struct work_struct *work);
static DECLARE_WORK(survived_work, go_on);
static void queue_go_on(struct irq_work *work);
static struct irq_work survived_irq_work = IRQ_WORK_INIT(queue_go_on);

/*
 * Stopped before the crash. Its results may not have been written down: who
 * asked for the stop does that a moment later.
 */
static void note_off_local(struct kipt_trace *trace)
{
	struct kipt_trace_result result = { .registers = trace->position };

	if (trace->crash->stop.state != KIPT_CRASH_RUNNING)
		return;
	if (kipt_buffer_measure(trace->buffer, &trace->position, &result.head,
				&result.tail))
		result.head = result.tail = 0;
	kipt_crash_pages_finish(trace, &result);
}

/* @now: there is no later, see kipt_trace_freeze_local(). */
static void stop_local(u64 ip, bool now)
{
	struct kipt_trace *trace = kipt_trace_here();
	u32 capture = READ_ONCE(number);

	if (!capture || this_cpu_read(done) == capture)
		return;
	if (trace && trace->crash) {
		if (!kipt_trace_freeze_local(trace, now)) {
			this_cpu_write(met, ip);
			return;
		}
		if (trace->state == KIPT_TRACE_OFF)
			note_off_local(trace);
		else
			kipt_crash_pages_stop_local(trace, ip);
	}
	/* Pairs with smp_load_acquire() in kipt_crash_has_stopped(). */
	smp_store_release(this_cpu_ptr(&done), capture);
}

void kipt_crash_nmi_local(const struct pt_regs *regs)
{
	stop_local(regs->ip, false);
}

void kipt_crash_catch_up_local(void)
{
	if (READ_ONCE(number))
		stop_local(this_cpu_xchg(met, 0), true);
}

bool kipt_crash_is_on(void)
{
	return READ_ONCE(number);
}

static bool is_asked(unsigned int cpu)
{
	return per_cpu(asked, cpu) == number;
}

bool kipt_crash_has_stopped(unsigned int cpu)
{
	/* Pairs with smp_store_release() in stop_local(). */
	return smp_load_acquire(per_cpu_ptr(&done, cpu)) == number;
}

static void ask_others(struct kipt_crash_event *event)
{
	struct kipt_trace *trace;
	unsigned int cpu;

	for_each_online_cpu(cpu) {
		trace = kipt_trace_of(cpu);
		if (cpu == event->cpu || !trace || !READ_ONCE(trace->running))
			continue;
		per_cpu(asked, cpu) = number;
		event->asked++;
		if (!kipt_crash_has_stopped(cpu))
			kipt_pmi_send_nmi(cpu);
	}
}

static u32 count_stopped(void)
{
	unsigned int cpu;
	u32 count = 0;

	for_each_online_cpu(cpu)
		count += is_asked(cpu) && kipt_crash_has_stopped(cpu);
	return count;
}

static void wait_for_others(struct kipt_crash_event *event)
{
	u64 end = event->tsc + (u64)WAIT_MS * tsc_khz;
	u32 looks = 0;

	do {
		event->answered = count_stopped();
		if (event->answered == event->asked)
			return;
		cpu_relax();
	} while (++looks < WAIT_LOOKS || rdtsc() < end);
}

/* An error that is reported before the machine dies of it, or does not. */
static bool is_report(enum kipt_crash_hook hook)
{
	return hook == KIPT_CRASH_HOOK_LOCKUP || hook == KIPT_CRASH_HOOK_HUNG ||
	       hook == KIPT_CRASH_HOOK_REPORT;
}

/* What the kernel means to survive. */
static bool is_mild(enum kipt_crash_hook hook)
{
	return hook == KIPT_CRASH_HOOK_WARN || is_report(hook);
}

/* What a warning interrupts goes on, be it a change of the registers. */
static bool is_for_good(enum kipt_crash_hook hook)
{
	return !is_mild(hook);
}

/* On the first CPU. */
static void capture(enum kipt_crash_hook hook, struct pt_regs *regs, u64 ip, u32 trap)
{
	struct kipt_crash_event event = {
		.hook = hook,
		.cpu = smp_processor_id(),
		.tsc = rdtsc(),
		.ip = ip,
		.trap = trap,
		.faulted = trap != NO_TRAP,
	};

	first_task = current;
	first_oopses = 0;
	atomic_set(&told, 0);
	atomic_set(&replaced, 0);
	WRITE_ONCE(number, ++last_number);
	stop_local(regs ? regs->ip : 0, is_for_good(hook));
	ask_others(&event);
	/* Should another CPU that dies stop this one while it waits. */
	kipt_crash_pages_set_event(&event);
	wait_for_others(&event);
	kipt_crash_pages_mend();
	kipt_crash_pages_set_event(&event);
}

/*
 * Return: whether this CPU is the first. What is being cleared is waited for;
 * if this is in vain, who clears it is below us and will not go on, or a
 * hypervisor does not let it: then what it clears later is its own capture,
 * never this one.
 */
static bool elect(void)
{
	u32 looks = 0;
	int before;

	do {
		before = atomic_cmpxchg(&phase, CALM, STOPPING);
		if (before != CLEARING)
			return before == CALM;
		cpu_relax();
	} while (++looks < CLEAR_LOOKS);
	return atomic_cmpxchg(&phase, CLEARING, STOPPING) == CLEARING;
}

static bool is_first_here(void)
{
	return atomic_read(&phase) == STOPPED && first_task == current;
}

/* What panic() says counts only if nobody knew better. */
static void add_ip(u64 ip)
{
	struct kipt_crash_event event = *kipt_crash_pages_event();

	if (!ip || event.ip || event.faulted)
		return;
	event.ip = ip;
	kipt_crash_pages_set_event(&event);
}

static bool may_survive(enum kipt_crash_hook hook)
{
	return hook == KIPT_CRASH_HOOK_OOPS || hook == KIPT_CRASH_HOOK_DIE ||
	       is_mild(hook);
}

/*
 * The machine did not die of a warning if an oops or a panic of another thread
 * comes before tracing went on. The traces end at the warning; who reads them
 * is told what it died of, and that they do not show it.
 */
static void replace_warning(enum kipt_crash_hook hook, u64 ip)
{
	struct kipt_crash_event event = *kipt_crash_pages_event();

	if (atomic_read(&phase) != STOPPED || first_task == current ||
	    !is_mild(event.hook) || atomic_xchg(&replaced, 1))
		return;
	event.hook = hook;
	event.cpu = smp_processor_id();
	event.tsc = rdtsc();
	event.ip = ip;
	event.trap = NO_TRAP;
	event.faulted = 0;
	first_task = current;
	first_oopses = 0;
	kipt_crash_pages_set_event(&event);
}

/* On a CPU that is not the first. */
static void follow(enum kipt_crash_hook hook, struct pt_regs *regs, u64 ip)
{
	struct kipt_trace *trace = kipt_trace_here();
	bool traced = trace && READ_ONCE(trace->state) == KIPT_TRACE_ON;

	stop_local(regs ? regs->ip : 0, is_for_good(hook));
	if (hook == KIPT_CRASH_HOOK_OOPS && traced)
		this_cpu_write(stopped_itself, READ_ONCE(number));
	if (!is_mild(hook))
		replace_warning(hook, ip);
}

static void meet(enum kipt_crash_hook hook, struct pt_regs *regs, u64 ip, u32 trap)
{
	if (!may_survive(hook))
		/* Before the look at the phase; pairs with smp_mb() in forget(). */
		smp_store_mb(dying, true);
	else if (!is_mild(hook))
		WRITE_ONCE(last_task, current);
	if (elect()) {
		capture(hook, regs, ip, trap);
		atomic_set(&phase, STOPPED);
	} else {
		follow(hook, regs, ip);
	}
	if (!is_first_here())
		return;
	/* A BUG knows its place, and then comes oops_enter(). */
	if (hook == KIPT_CRASH_HOOK_OOPS && !ip)
		first_oopses++;
	else if (hook == KIPT_CRASH_HOOK_PANIC)
		add_ip(ip);
}

static void hit(enum kipt_crash_hook hook, struct pt_regs *regs, u64 ip, u32 trap)
{
	unsigned long flags;

	if (!kipt_crash_pages_any())
		return;
	raw_local_irq_save(flags);
	if (!this_cpu_read(inside)) {
		this_cpu_write(inside, true);
		meet(hook, regs, ip, trap);
		this_cpu_write(inside, false);
	}
	raw_local_irq_restore(flags);
}

void kipt_crash_hit(enum kipt_crash_hook hook, struct pt_regs *regs, u64 ip)
{
	hit(hook, regs, ip, NO_TRAP);
}

void kipt_crash_bug(struct pt_regs *regs, u64 ip)
{
	hit(KIPT_CRASH_HOOK_OOPS, regs, ip, X86_TRAP_UD);
}

/*
 * Two CPUs that die at the same moment: the kernel reports one after the other,
 * and not always first the one that was first here. If both traces have their
 * fault, it is the reported one that the crash is said to be, and ends the text
 * in the log. The kernel's lock around its reports is held.
 */
static void take_over(void)
{
	struct kipt_crash_event event = *kipt_crash_pages_event();

	if (atomic_read(&phase) != STOPPED || first_task == current ||
	    this_cpu_read(stopped_itself) != READ_ONCE(number) ||
	    event.hook != KIPT_CRASH_HOOK_OOPS || atomic_read(&told))
		return;
	/* What is known of the place, of a BUG, is the first CPU's. */
	event.cpu = smp_processor_id();
	event.ip = 0;
	event.trap = NO_TRAP;
	event.faulted = 0;
	first_task = current;
	first_oopses = 1;
	kipt_crash_pages_set_event(&event);
}

/* A second oops of the same thread is of what the kernel did at the first. */
void kipt_crash_fault(u64 ip, u32 trap)
{
	struct kipt_crash_event event;

	take_over();
	if (!is_first_here() || first_oopses > 1)
		return;
	event = *kipt_crash_pages_event();
	if (atomic_read(&told) || !may_survive(event.hook) ||
	    (event.faulted && is_mild(event.hook)))
		return;
	/* The trace ends at the report, before this fault. */
	if (is_report(event.hook)) {
		kipt_crash_tell();
		return;
	}
	event.ip = ip;
	event.trap = trap;
	event.faulted = 1;
	kipt_crash_pages_set_event(&event);
	kipt_crash_tell();
}

/* Of a machine that has other sessions only, nobody asked for snapshots. */
static bool is_armed_here(void)
{
	const struct kipt_trace *trace = kipt_trace_here();

	return trace && READ_ONCE(trace->running) &&
	       kipt_arm_is_armed(trace->session);
}

void kipt_crash_warn(struct pt_regs *regs, u64 ip, bool faulted)
{
	if (is_armed_here() && kipt_snapshot_wanted() && atomic_read(&phase) == CALM)
		hit(KIPT_CRASH_HOOK_WARN, regs, ip, faulted ? X86_TRAP_UD : NO_TRAP);
}

bool kipt_crash_may_report(void)
{
	return atomic_read(&phase) == CALM && is_armed_here();
}

u32 kipt_crash_report(enum kipt_crash_hook hook, struct pt_regs *regs, u64 ip)
{
	kipt_crash_hit(hook, regs, ip);
	if (!is_first_here() || kipt_crash_pages_event()->hook != hook)
		return 0;
	return READ_ONCE(number);
}

bool kipt_crash_report_is_on(u32 capture)
{
	return READ_ONCE(number) == capture &&
	       atomic_read(&phase) == STOPPED && !READ_ONCE(dying) &&
	       is_report(kipt_crash_pages_event()->hook);
}

static void queue_survived(void)
{
	WRITE_ONCE(over, READ_ONCE(number));
	irq_work_queue(&survived_irq_work);
}

void kipt_crash_warned(void)
{
	if (!is_first_here() || READ_ONCE(dying) ||
	    kipt_crash_pages_event()->hook != KIPT_CRASH_HOOK_WARN)
		return;
	queue_survived();
}

void kipt_crash_report_over(u32 capture)
{
	if (kipt_crash_report_is_on(capture))
		queue_survived();
}

void kipt_crash_tell(void)
{
	if (!READ_ONCE(number) || atomic_xchg(&told, 1))
		return;
	pr_emerg("crash header at 0x%llx\n", kipt_crash_pages_address());
	kipt_excerpt_print_all(kipt_crash_pages_event());
}

/* As make_task_dead() decides. Those that it panics for are not survived. */
void kipt_crash_survived(bool trapped)
{
	const int interrupt = NMI_MASK | HARDIRQ_MASK | SOFTIRQ_MASK;

	if (current != READ_ONCE(last_task) || READ_ONCE(dying))
		return;
	if (kipt_probe_preempt_count(trapped) & interrupt || !current->pid ||
	    is_global_init(current))
		return;
	queue_survived();
}

static void queue_go_on(struct irq_work *work)
{
	queue_work(system_unbound_wq, &survived_work);
}

/*
 * Each step takes away what belongs to this capture, in one instruction: this
 * CPU may be held up before any of them for so long that there is a next one.
 */
static bool clear(u32 capture)
{
	struct kipt_crash_event event = *kipt_crash_pages_event();

	/* The next capture has its number before its event; no CPU reorders that. */
	barrier();
	if (READ_ONCE(number) != capture)
		return false;
	kipt_crash_pages_forget_event(&event);
	cmpxchg(&number, capture, 0);
	return atomic_cmpxchg(&phase, CLEARING, CALM) == CLEARING;
}

/* Return: false if the machine is dying after all. */
static bool forget(u32 capture)
{
	unsigned long flags;
	bool alive;

	local_irq_save(flags);
	alive = atomic_cmpxchg(&phase, STOPPED, CLEARING) == STOPPED;
	/* Pairs with smp_store_mb() in meet(). */
	smp_mb();
	if (alive && READ_ONCE(dying)) {
		atomic_cmpxchg(&phase, CLEARING, STOPPED);
		alive = false;
	}
	if (alive)
		alive = clear(capture);
	local_irq_restore(flags);
	return alive;
}

static DEFINE_PER_CPU(call_single_data_t, thaw_call);

static void thaw_local(void *unused)
{
	kipt_trace_thaw_local();
}

/* Nobody waits: a CPU may spin for what the thread that oopsed held. */
static void thaw_all(void)
{
	unsigned int cpu;

	cpus_read_lock();
	for_each_online_cpu(cpu)
		if (kipt_trace_of(cpu))
			smp_call_function_single_async(cpu,
						       &per_cpu(thaw_call, cpu));
	cpus_read_unlock();
}

/* Should it die meanwhile, each CPU is stopped, whether it went on or not. */
static void go_on(struct work_struct *work)
{
	u32 capture = READ_ONCE(over);

	if (atomic_read(&phase) != STOPPED || READ_ONCE(dying) ||
	    capture != READ_ONCE(number))
		return;
	/* Reports are captured also where there is no room for them. */
	if (!is_report(kipt_crash_pages_event()->hook) ||
	    kipt_snapshot_wanted())
		kipt_snapshot_take();
	kipt_crash_pages_reseal();
	if (!forget(capture))
		return;
	thaw_all();
	pr_info("the machine survived, tracing goes on\n");
}

/* Per-CPU variables of modules are not relocated, so this is no initialiser. */
void kipt_crash_init(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		INIT_CSD(&per_cpu(thaw_call, cpu), thaw_local, NULL);
}

void kipt_crash_uninit(void)
{
	irq_work_sync(&survived_irq_work);
	cancel_work_sync(&survived_work);
}
