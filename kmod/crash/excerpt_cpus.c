// SPDX-License-Identifier: GPL-2.0-only
/*
 * Excerpts of several CPUs: whose a dying machine prints, in which order, and how much of
 * the log and of time they may take. All of them are made with the one decoder that there
 * is, one after the other, on the CPU that died. Leaves how one is made to excerpt.c.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpumask.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <asm/tsc.h>

#include "../trace/capture.h"
#include "../trace/config.h"
#include "excerpt.h"
#include "../lib/quiet_log.h"
#include "../watch/sideband.h"
#include "snapshot.h"
#include "../shared/switch_log.h"
#include "../trace/trace.h"
#include "../../uapi/linux/kipt_crash.h"

/* Of an event shortly before, of the CPU that died, and of all others together. */
#define BEFORE_MS	1000ULL
#define DIED_MS		2000ULL
#define OTHERS_MS	2000ULL
#define OTHERS_LINES	1000U
/* Of each CPU, and of all, where a CPU hangs and nobody said how many. */
#define HANGS_LINES	8U
#define HANGS_LINES_ALL	64U
/* Switches since a CPU stopped that are passed over. */
#define SWITCHES_LATER	64U

/**
 * struct others - the CPUs that did not die
 * @event: where and when the machine died
 * @end: TSC after which no more are printed
 * @lines: that there is room for
 * @left: CPUs that have not had their turn
 */
struct others {
	const struct kipt_crash_event *event;
	u64 end;
	u32 lines;
	u32 left;
};

/* Not printed yet; that did not answer; for which there was no room or time; whose tracing had
 * ended by itself, kipt_trace_is_old().
 */
static struct cpumask waiting, silent, left_out, old;
/* TSC since which a CPU has run one task; ~0: it is idle, or nobody knows. */
static DEFINE_PER_CPU(u64, busy_since);

/*
 * The report of a lockup or a stall comes from the CPU that noticed, whose calls do not show
 * why another one hangs. So the other one is printed, too, even if print-cpus is 0. No register
 * says which it is: it is among those that have not switched tasks for the longest time.
 */
static u32 lines_of(const struct kipt_group *group,
		    const struct kipt_crash_event *event)
{
	if (!group->config.print_branches)
		return 0;
	if (!group->config.print_cpus && event->hook == KIPT_CRASH_HOOK_LOCKUP)
		return HANGS_LINES;
	return group->config.print_cpus;
}

/* Return: the trace of a CPU that did not die and is to be printed, or NULL. */
static const struct kipt_trace *other(unsigned int cpu,
				      const struct kipt_crash_event *event)
{
	const struct kipt_trace *trace = kipt_trace_of(cpu);

	if (cpu == event->cpu || !trace || !trace->view || !trace->crash ||
	    !lines_of(trace->group, event))
		return NULL;
	return trace;
}

/*
 * The CPU may go on after its NMI, and log switches while this reads: what is newer
 * than the stop is passed over. All this decides is an order.
 */
static u64 busy_since_of(const struct kipt_trace *trace)
{
	const struct kipt_switch_log *log =
		kipt_sideband_log(trace->group->sideband, trace->cpu);
	u64 number = READ_ONCE(log->written), stop = trace->crash->stop.tsc;
	u32 looked;

	for (looked = 0; number && looked < SWITCHES_LATER; looked++) {
		const struct kipt_crash_switch *entry =
			&log->entries[--number & log->mask];

		if (READ_ONCE(entry->tsc) <= stop)
			return READ_ONCE(entry->tid) ? READ_ONCE(entry->tsc) :
						       ~0ULL;
	}
	return ~0ULL;
}

/* Return: the next CPU in order, or nr_cpu_ids. */
static unsigned int take_next(void)
{
	unsigned int cpu, first = cpumask_first(&waiting);

	for_each_cpu(cpu, &waiting)
		if (per_cpu(busy_since, cpu) < per_cpu(busy_since, first))
			first = cpu;
	if (first < nr_cpu_ids)
		cpumask_clear_cpu(first, &waiting);
	return first;
}

/* Each that is left has the same share of the time that is left. */
static void print_other(const struct kipt_trace *trace, struct others *others)
{
	u32 lines = min(lines_of(trace->group, others->event), others->lines);
	s64 ticks = others->end - rdtsc();
	struct kipt_excerpt_source source;
	u32 printed;

	if (!lines || ticks <= 0) {
		cpumask_set_cpu(trace->cpu, &left_out);
		return;
	}
	source = kipt_excerpt_source_of(trace);
	printed = kipt_excerpt_print(&source, others->event, lines,
				     div_u64(ticks, max(others->left, 1U)));
	if (!printed)
		cpumask_set_cpu(trace->cpu, &left_out);
	others->lines -= min(printed, others->lines);
}

/* The log names such a CPU and prints none of its calls; a dump has its trace. */
static bool is_old(unsigned int cpu)
{
	const struct kipt_trace *trace = kipt_trace_of(cpu);

	return trace && trace->view && READ_ONCE(trace->running) && kipt_trace_is_old(trace);
}

/* Which CPUs are printed; those that did not stop are not. */
static void choose(struct others *others)
{
	const struct kipt_trace *trace;
	bool asked = false;
	unsigned int cpu;

	cpumask_clear(&waiting);
	cpumask_clear(&silent);
	cpumask_clear(&left_out);
	cpumask_clear(&old);
	for_each_online_cpu(cpu) {
		if (is_old(cpu))
			cpumask_set_cpu(cpu, &old);
		trace = other(cpu, others->event);
		if (!trace || cpumask_test_cpu(cpu, &old))
			continue;
		asked |= trace->group->config.print_cpus;
		if (kipt_capture_stopped(cpu)) {
			per_cpu(busy_since, cpu) = busy_since_of(trace);
			cpumask_set_cpu(cpu, &waiting);
			others->left++;
		} else if (READ_ONCE(trace->running)) {
			cpumask_set_cpu(cpu, &silent);
		}
	}
	others->lines = asked ? OTHERS_LINES : HANGS_LINES_ALL;
}

static void print_others(const struct kipt_crash_event *event)
{
	struct others others = {
		.event = event,
		.end = rdtsc() + OTHERS_MS * tsc_khz,
	};
	const struct kipt_trace *trace;
	unsigned int cpu;

	for (choose(&others); others.left; others.left--) {
		cpu = take_next();
		trace = cpu < nr_cpu_ids ? other(cpu, event) : NULL;
		if (trace)
			print_other(trace, &others);
	}
	if (!cpumask_empty(&silent))
		kipt_quiet_log(KERN_ALERT pr_fmt("CPUs %*pbl did not answer\n"),
			       cpumask_pr_args(&silent));
	if (!cpumask_empty(&old))
		kipt_quiet_log(KERN_ALERT pr_fmt("CPUs %*pbl had stopped tracing before; a dump has their older traces\n"),
			       cpumask_pr_args(&old));
	if (!cpumask_empty(&left_out))
		kipt_quiet_log(KERN_ALERT pr_fmt("CPUs %*pbl are left out\n"),
			       cpumask_pr_args(&left_out));
}

/* The thread that found a task that hangs has no call of its own to show. */
static void print_died(const struct kipt_trace *trace,
		       const struct kipt_crash_event *event)
{
	struct kipt_excerpt_source source = kipt_excerpt_source_of(trace);
	u32 lines = trace->group->config.print_branches;

	if (lines && event->hook == KIPT_CRASH_HOOK_HUNG)
		kipt_quiet_log(KERN_ALERT pr_fmt("the task that hangs waits, no CPU runs it: its calls are the stack in the kernel's report\n"));
	else
		kipt_excerpt_print(&source, event, lines, DIED_MS * tsc_khz);
}

/*
 * What the machine may survive, by hook. Only KIPT_CRASH_HOOK_OOPS and _DIE have no name
 * here, and both are an oops; each new hook that calls kipt_crash_survive() needs one.
 */
static const char *const hook_names[] = {
	[KIPT_CRASH_HOOK_WARN] = "a warning",
	[KIPT_CRASH_HOOK_LOCKUP] = "a lockup",
	[KIPT_CRASH_HOOK_HUNG] = "a task that hangs",
	[KIPT_CRASH_HOOK_REPORT] = "a report of an error",
};

/* What the machine meant to survive, just before it died, is often why it did. */
static void print_before(const struct kipt_crash_event *death)
{
	struct kipt_excerpt_source source;
	struct kipt_crash_event event;
	u32 id = kipt_snapshot_before(death, &event, &source), lines;
	const char *name;

	if (!id)
		return;
	lines = source.trace->group->config.print_branches;
	if (!lines || event.hook == KIPT_CRASH_HOOK_HUNG)
		return;
	name = event.hook < ARRAY_SIZE(hook_names) ? hook_names[event.hook] : NULL;
	kipt_quiet_log(KERN_ALERT pr_fmt("%llu ms before this, %s on CPU %u (snapshot %u):\n"),
		       div_u64(max((s64)(death->tsc - event.tsc), 0LL),
			       max(tsc_khz, 1U)),
		       name ?: "an oops", event.cpu, id);
	kipt_excerpt_print(&source, &event, lines, BEFORE_MS * tsc_khz);
}

void kipt_excerpt_print_all(const struct kipt_crash_event *event)
{
	const struct kipt_trace *trace = kipt_trace_of(event->cpu);

	print_before(event);
	print_others(event);
	if (trace && trace->view && trace->crash)
		print_died(trace, event);
	/*
	 * Takes the lines before it to the consoles, that of the crash header at
	 * least. Before a crash kernel starts the kernel itself may have nothing
	 * more to say.
	 */
	pr_alert("there is more in a dump: kipt crash FILE\n");
}
