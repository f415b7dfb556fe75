// SPDX-License-Identifier: GPL-2.0-only
/*
 * Captures a crash. Hooks and NMIs end here, on a machine of which nothing is
 * sure: the CPU may be in any code, the module's own too, and hold any lock.
 * So each CPU writes what is its own, the rest is written by the one that was
 * first. Only the work item that finds the machine alive may sleep.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/io.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/workqueue.h>
#include <asm/tsc.h>

#include "../trace/buffer.h"
#include "../lib/compat.h"
#include "../trace/capture.h"
#include "crash.h"
#include "crash_pages.h"
#include "../trace/dump_page.h"
#include "excerpt.h"
#include "../hw/nmi_claim.h"
#include "../lib/quiet_log.h"
#include "snapshot.h"
#include "../trace/trace.h"

/*
 * How long the others are waited for. They answer in microseconds; one that a
 * hypervisor runs may have to wait for its turn, and where the whole machine
 * is halted only looks count.
 */
#define WAIT_MS		50
#define WAIT_LOOKS	1000
/* A panic comes within that time of the last line that leads to it. */
#define ALIVE_AFTER	(10 * HZ)
/* However much the kernel prints. */
#define ALIVE_MOST	(300 * HZ)
/* For the copies of CPUs that have stopped already. */
#define COPY_MS		100

/* The number of the last capture: a CPU takes one before it knows that it is the first. */
static atomic_t last_number = ATOMIC_INIT(0);
/* Somebody called panic() or kexec: it will not survive. */
static bool dying;
/* The last capture that was printed, and the last of which the event is written. */
static atomic_t printed = ATOMIC_INIT(0);
static u32 written;
/*
 * Who was first, once that is written, and how many oopses that thread had since.
 * Another CPU may read both in a hook of its own while they change, and take_over()
 * changes them on another CPU.
 */
static struct task_struct *first_task;
static u32 first_oopses;
/* When the capture began, and when the kernel printed last. */
static unsigned long began, heard;
/* CPUs that the first one asked to stop; it alone touches this. */
static struct cpumask asked;

/* What kind of hook this CPU is in. One of a death also runs inside one of an event that the machine
 * means to survive.
 */
enum { INSIDE_NONE, INSIDE_SURVIVE, INSIDE_DIE };
static DEFINE_PER_CPU(u8, inside);
/* The last capture for which an oops of its own stopped it: its trace has that. */
static DEFINE_PER_CPU(u32, stopped_itself);
/* Where an NMI that came too early met it. */
static DEFINE_PER_CPU(u64, met);

static void look_alive(struct work_struct *work);
static DECLARE_DELAYED_WORK(alive_work, look_alive);
static void queue_alive(struct irq_work *work);
static struct irq_work alive_irq_work = IRQ_WORK_INIT(queue_alive);

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
	kipt_dump_finish(trace, &result);
}

/* @now: there is no later, see kipt_trace_freeze_local(). */
static void stop_local(u64 ip, bool now)
{
	struct kipt_trace *trace = kipt_trace_here();
	u32 capture = kipt_capture_number();

	if (!capture || kipt_capture_stopped(smp_processor_id()))
		return;
	if (trace && trace->crash) {
		if (!kipt_trace_freeze_local(trace, now)) {
			this_cpu_write(met, ip);
			return;
		}
		if (trace->state == KIPT_TRACE_OFF)
			note_off_local(trace);
		else if (!kipt_dump_is_stopped(trace))
			kipt_dump_stop_local(trace, ip);
	}
	kipt_capture_stop_local(capture);
}

void kipt_crash_nmi_local(const struct pt_regs *regs)
{
	stop_local(regs->ip, false);
	kipt_snapshot_nmi_local(kipt_trace_here(), regs->ip);
}

void kipt_crash_catch_up_local(void)
{
	if (kipt_capture_number())
		stop_local(this_cpu_xchg(met, 0), true);
}

static void ask_others(struct kipt_crash_event *event)
{
	const struct kipt_trace *trace;
	unsigned int cpu;

	cpumask_clear(&asked);
	for_each_online_cpu(cpu) {
		trace = kipt_trace_of(cpu);
		if (cpu == event->cpu || !trace || !READ_ONCE(trace->running))
			continue;
		cpumask_set_cpu(cpu, &asked);
		event->asked++;
		kipt_nmi_send(cpu);
	}
}

/*
 * However many CPUs there are, one bound. It is in time; looks are only a floor, for a
 * machine that a hypervisor held up as a whole.
 */
static void wait_for_others(struct kipt_crash_event *event)
{
	u64 end = event->tsc + (u64)WAIT_MS * tsc_khz;
	u32 looks = 0, answered = 0;
	unsigned int cpu;

	for_each_cpu(cpu, &asked) {
		while (!kipt_capture_stopped(cpu) &&
		       (++looks < WAIT_LOOKS || rdtsc() < end))
			cpu_relax();
		answered += kipt_capture_stopped(cpu);
	}
	event->answered = answered;
}

/* As long as the kernel prints it may be on its way to panic(). */
void kipt_crash_hear(void)
{
	WRITE_ONCE(heard, jiffies);
}

static struct kipt_crash_event make_event(enum kipt_crash_hook hook, u64 ip,
					  u32 trap)
{
	return (struct kipt_crash_event){
		.hook = hook,
		.cpu = smp_processor_id(),
		.tsc = rdtsc(),
		.ip = ip,
		.trap = trap,
		.faulted = trap != KIPT_CRASH_NO_TRAP,
	};
}

/* Whether who was first has written all down. */
static bool is_written(u32 capture)
{
	/* Pairs with smp_store_release() of who wrote it. */
	return smp_load_acquire(&written) == capture;
}

/* On the first CPU. */
static void capture(u32 number, enum kipt_crash_hook hook,
		    struct pt_regs *regs, u64 ip, u32 trap)
{
	struct kipt_crash_event event = make_event(hook, ip, trap);

	WRITE_ONCE(first_oopses, 0);
	WRITE_ONCE(began, jiffies);
	kipt_crash_hear();
	stop_local(regs ? regs->ip : 0, true);
	ask_others(&event);
	/* Should another CPU that dies stop this one while it waits. */
	kipt_crash_pages_set_event(&event);
	wait_for_others(&event);
	kipt_crash_pages_mend();
	kipt_crash_pages_set_event(&event);
	WRITE_ONCE(first_task, current);
	/* Pairs with smp_load_acquire() in is_written(). */
	smp_store_release(&written, number);
	irq_work_queue(&alive_irq_work);
}

static bool is_first_here(void)
{
	u32 number = kipt_capture_number();

	return number && is_written(number) &&
	       READ_ONCE(first_task) == current;
}

/*
 * Another CPU that dies at the same moment may be writing it: then some members are
 * old and others new; who writes it back seals what it wrote.
 */
static struct kipt_crash_event read_event(void)
{
	/* Each member is whole. */
	return data_race(kipt_crash_header->event);
}

/* What panic() says counts only if nobody knew better. */
static void add_ip(u64 ip)
{
	struct kipt_crash_event event = read_event();

	if (!ip || event.ip || event.faulted)
		return;
	event.ip = ip;
	kipt_crash_pages_set_event(&event);
}

static bool is_certain(enum kipt_crash_hook hook)
{
	return hook == KIPT_CRASH_HOOK_PANIC || hook == KIPT_CRASH_HOOK_KEXEC ||
	       hook == KIPT_CRASH_HOOK_NOTIFIER;
}

/* On a CPU that is not the first. */
static void follow(enum kipt_crash_hook hook, struct pt_regs *regs)
{
	struct kipt_trace *trace = kipt_trace_here();
	bool traced = trace && READ_ONCE(trace->state) == KIPT_TRACE_ON;

	stop_local(regs ? regs->ip : 0, true);
	if (hook == KIPT_CRASH_HOOK_OOPS && traced)
		this_cpu_write(stopped_itself, kipt_capture_number());
}

static void capture_or_follow(enum kipt_crash_hook hook, struct pt_regs *regs,
			      u64 ip, u32 trap)
{
	u32 number = atomic_inc_return(&last_number);

	if (is_certain(hook))
		/* Before the look at the capture; pairs with smp_mb() in forget(). */
		smp_store_mb(dying, true);
	if (kipt_capture_begin(number))
		capture(number, hook, regs, ip, trap);
	else
		follow(hook, regs);
	if (!is_first_here())
		return;
	/* A BUG knows its place, and then comes oops_enter(). */
	if (hook == KIPT_CRASH_HOOK_OOPS && !ip)
		WRITE_ONCE(first_oopses, READ_ONCE(first_oopses) + 1);
	else if (hook == KIPT_CRASH_HOOK_PANIC)
		add_ip(ip);
}

/* @before: what this CPU was in, for leave(). Return: false inside a hook of the same kind, or of a
 * death.
 */
static bool enter(u8 what, u8 *before, unsigned long *flags)
{
	raw_local_irq_save(*flags);
	*before = this_cpu_read(inside);
	if (*before < what) {
		this_cpu_write(inside, what);
		return true;
	}
	raw_local_irq_restore(*flags);
	return false;
}

static void leave(u8 before, unsigned long flags)
{
	this_cpu_write(inside, before);
	raw_local_irq_restore(flags);
}

void kipt_crash_die(enum kipt_crash_hook hook, struct pt_regs *regs, u64 ip,
		    u32 trap)
{
	unsigned long flags;
	u8 before;

	if (!READ_ONCE(kipt_crash_header->nr_cpus) || !enter(INSIDE_DIE, &before, &flags))
		return;
	capture_or_follow(hook, regs, ip, trap);
	leave(before, flags);
}

void kipt_crash_survive(enum kipt_crash_hook hook, struct pt_regs *regs, u64 ip,
			u32 trap)
{
	struct kipt_crash_event event;
	unsigned long flags;
	u8 before;

	if (kipt_capture_number() || !enter(INSIDE_SURVIVE, &before, &flags)) {
		kipt_snapshot_miss();
		return;
	}
	event = make_event(hook, ip, trap);
	kipt_snapshot_take(&event, regs ? regs->ip : 0);
	leave(before, flags);
}

static bool is_printed(u32 number)
{
	return (u32)atomic_read(&printed) == number;
}

/*
 * Two CPUs that die at the same moment: the kernel reports one after the other,
 * and not always first the one that was first here. If both traces have their
 * fault, it is the reported one that the crash is said to be, and ends the text
 * in the log. The kernel's lock around its reports is held.
 */
static void take_over(void)
{
	u32 number = kipt_capture_number();
	struct kipt_crash_event event;

	if (!is_written(number) || READ_ONCE(first_task) == current ||
	    this_cpu_read(stopped_itself) != number || is_printed(number))
		return;
	event = read_event();
	if (event.hook != KIPT_CRASH_HOOK_OOPS)
		return;
	/* What is known of the place, of a BUG, is the first CPU's. */
	event.cpu = smp_processor_id();
	event.ip = 0;
	event.trap = KIPT_CRASH_NO_TRAP;
	event.faulted = 0;
	WRITE_ONCE(first_task, current);
	WRITE_ONCE(first_oopses, 1);
	kipt_crash_pages_set_event(&event);
}

/*
 * A second oops of the same thread is of what the kernel did at the first; and
 * where the trace ends at a warning or a report, it ends before this fault.
 */
void kipt_crash_fault(u64 ip, u32 trap)
{
	struct kipt_crash_event event;

	if (!kipt_capture_number()) {
		kipt_snapshot_fault(ip, trap);
		return;
	}
	take_over();
	if (!is_first_here() || READ_ONCE(first_oopses) > 1)
		return;
	event = read_event();
	if (is_certain(event.hook))
		return;
	/* If a fault is in the event already, that came first and stays. */
	if (!event.faulted && (event.hook == KIPT_CRASH_HOOK_OOPS ||
			       event.hook == KIPT_CRASH_HOOK_DIE)) {
		event.ip = ip;
		event.trap = trap;
		event.faulted = 1;
		kipt_crash_pages_set_event(&event);
	}
	kipt_crash_print();
}

/* As long as who was first waits for others; it may have died of that itself. */
static void wait_until_written(u32 number)
{
	u64 end = rdtsc() + 2ULL * WAIT_MS * tsc_khz;
	u32 looks = 0;

	while (!is_written(number) && (++looks < WAIT_LOOKS || rdtsc() < end))
		cpu_relax();
}

void kipt_crash_print(void)
{
	u32 number = kipt_capture_number();

	if (!number)
		return;
	wait_until_written(number);
	if ((u32)atomic_xchg(&printed, number) == number)
		return;
	kipt_quiet_log(KERN_EMERG pr_fmt("crash header at 0x%llx\n"),
		       (u64)virt_to_phys(kipt_crash_header));
	if (kipt_crash_header->event.hook)
		kipt_excerpt_print_all(&kipt_crash_header->event);
}

static void queue_alive(struct irq_work *work)
{
	schedule_delayed_work(&alive_work, ALIVE_AFTER);
}

/*
 * CPUs may have gone on meanwhile: a capture with another number stops each of them
 * again, and leaves as it is what the others wrote.
 */
static void put_back(u32 capture, struct kipt_crash_event event)
{
	u32 number = atomic_inc_return(&last_number);
	unsigned long flags;

	local_irq_save(flags);
	if (kipt_capture_begin(number)) {
		event.cpu = smp_processor_id();
		stop_local(0, true);
		ask_others(&event);
		if (is_printed(capture))
			atomic_set(&printed, number);
		/* Pairs with smp_load_acquire() in is_written(). */
		smp_store_release(&written, number);
	}
	local_irq_restore(flags);
}

/*
 * Each step takes away what belongs to this capture, in one instruction: there may be
 * a next one before any of them. Who called panic() meanwhile found this one on and left
 * it at that: it is put back.
 *
 * Return: false if the machine is dying after all.
 */
static bool forget(u32 capture, const struct kipt_crash_event *event)
{
	kipt_capture_end(capture);
	/* Pairs with smp_store_mb() in capture_or_follow(). */
	smp_mb();
	if (READ_ONCE(dying)) {
		put_back(capture, *event);
		return false;
	}
	kipt_crash_pages_forget_event(event);
	return true;
}

/*
 * Something else handled what should have been the end: a debugger, say. Should
 * the machine die meanwhile, each CPU is stopped, whether it went on or not.
 */
static void look_alive(struct work_struct *work)
{
	u32 capture = kipt_capture_number();
	struct kipt_crash_event event;
	unsigned long flags;

	if (!capture || !is_written(capture) || READ_ONCE(dying))
		return;
	event = read_event();
	if (time_before(jiffies, READ_ONCE(heard) + ALIVE_AFTER) &&
	    time_before(jiffies, READ_ONCE(began) + ALIVE_MOST)) {
		schedule_delayed_work(&alive_work, ALIVE_AFTER);
		return;
	}
	local_irq_save(flags);
	kipt_snapshot_take(&event, 0);
	local_irq_restore(flags);
	msleep(COPY_MS);
	kipt_crash_pages_reseal();
	if (!forget(capture, &event))
		return;
	/* Nobody waits: a CPU may spin for what the thread that oopsed held. */
	on_each_cpu(kipt_trace_thaw_local, NULL, 0);
	pr_notice("the machine did not die of what it should have: tracing goes on\n");
}

void kipt_crash_uninit(void)
{
	irq_work_sync(&alive_irq_work);
	cancel_delayed_work_sync(&alive_work);
}
