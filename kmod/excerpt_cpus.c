// SPDX-License-Identifier: GPL-2.0-only
/*
 * Excerpts of several CPUs, see excerpt_cpus.h. All of them are made with the one
 * decoder that there is, one after the other, on the CPU that died.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpumask.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/printk.h>
#include <asm/tsc.h>

#include "crash.h"
#include "excerpt.h"
#include "excerpt_cpus.h"
#include "session.h"
#include "trace.h"
#include "../uapi/linux/kipt_crash.h"

/* Of the CPU that died, and of all others together. */
#define DIED_MS		2000ULL
#define OTHERS_MS	2000ULL
#define OTHERS_LINES	1000U

/**
 * struct others - the CPUs that did not die
 * @end: TSC after which no more are printed
 * @lines: that there is room for
 * @left: CPUs that have not had their turn
 */
struct others {
	u64 end;
	u32 lines;
	u32 left;
};

/* Those that did not answer, and those for which there was no room or time. */
static struct cpumask silent, left_out;

/* Return: the trace of a CPU that did not die and is to be printed, or NULL. */
static const struct kipt_trace *other(unsigned int cpu,
				      const struct kipt_crash_event *event)
{
	const struct kipt_trace *trace = kipt_trace_of(cpu);

	if (cpu == event->cpu || !trace || !trace->view || !trace->crash ||
	    !trace->session->print_cpus)
		return NULL;
	return trace;
}

/* Each that is left has the same share of the time that is left. */
static void print_other(const struct kipt_trace *trace,
			const struct kipt_crash_event *event,
			struct others *others)
{
	u32 lines = min(trace->session->print_cpus, others->lines);
	s64 ticks = others->end - rdtsc();
	u32 printed;

	if (!lines || ticks <= 0) {
		cpumask_set_cpu(trace->cpu, &left_out);
		return;
	}
	printed = kipt_excerpt_print(trace, event, lines,
				     div_u64(ticks, max(others->left, 1U)));
	others->lines -= min(printed, others->lines);
}

static void print_others(const struct kipt_crash_event *event)
{
	struct others others = {
		.end = rdtsc() + OTHERS_MS * tsc_khz,
		.lines = OTHERS_LINES,
	};
	const struct kipt_trace *trace;
	unsigned int cpu;

	cpumask_clear(&silent);
	cpumask_clear(&left_out);
	for_each_online_cpu(cpu)
		others.left += !!other(cpu, event);
	for_each_online_cpu(cpu) {
		trace = other(cpu, event);
		if (!trace)
			continue;
		if (kipt_crash_has_stopped(cpu))
			print_other(trace, event, &others);
		else if (READ_ONCE(trace->running))
			cpumask_set_cpu(cpu, &silent);
		others.left--;
	}
	if (!cpumask_empty(&silent))
		kipt_excerpt_log(KERN_ALERT pr_fmt("CPUs %*pbl did not answer\n"),
				 cpumask_pr_args(&silent));
	if (!cpumask_empty(&left_out))
		kipt_excerpt_log(KERN_ALERT pr_fmt("CPUs %*pbl are left out\n"),
				 cpumask_pr_args(&left_out));
}

void kipt_excerpt_print_all(const struct kipt_crash_event *event)
{
	const struct kipt_trace *trace = kipt_trace_of(event->cpu);
	u32 lines = 0;

	print_others(event);
	if (trace && trace->view && trace->crash)
		lines = kipt_excerpt_print(trace, event,
					   trace->session->print_branches,
					   DIED_MS * tsc_khz);
	/*
	 * Takes the lines before it to the consoles. Before a crash kernel
	 * starts the kernel itself may have nothing more to say.
	 */
	if (lines)
		pr_alert("there is more in a dump: kipt crash FILE\n");
}
