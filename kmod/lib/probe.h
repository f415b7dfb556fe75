/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is true of all kprobes: whether one fires, what it interrupts, and what they
 * are good for besides. One at a function's ftrace site is registered without an error, and counts no miss,
 * while root keeps ftrace or kprobes turned off.
 */
#ifndef KIPT_PROBE_H
#define KIPT_PROBE_H

#include <linux/kprobes.h>
#include <linux/preempt.h>

/* Why one may not fire, and what to do. */
#define KIPT_PROBES_OFF		"kprobes do not fire: the sysctl kernel.ftrace_enabled or kprobes/enabled in debugfs is 0; set it to 1"

/**
 * kipt_probe_preempt_count() - preempt_count() of what a kprobe interrupts
 * @trapped: it is a breakpoint, which counts as an NMI itself
 *
 * Context: the handler of a kprobe.
 *
 * Return: as preempt_count() has it.
 */
static inline int kipt_probe_preempt_count(bool trapped)
{
	int count = preempt_count();

	if (trapped && in_nmi())
		count -= NMI_OFFSET + HARDIRQ_OFFSET;
	return count;
}

/**
 * kipt_probe_variable() - where the kernel has a variable that it exports to nobody
 * @symbol: its name
 *
 * A kprobe on it cannot be registered, as it is no code, but says where it is.
 * Context: may sleep.
 *
 * Return: its address, to be read as memory that may not be there; NULL if the
 * kernel does not say.
 */
static inline const void *kipt_probe_variable(const char *symbol)
{
	struct kprobe probe = { .symbol_name = symbol };

	if (register_kprobe(&probe))
		return (const void *)probe.addr;
	/* That was code. */
	unregister_kprobe(&probe);
	return NULL;
}

/**
 * kipt_probe_init() - look where the kernel says whether kprobes are turned off
 *
 * Context: may sleep.
 */
void kipt_probe_init(void);

/**
 * kipt_probe_is_armed() - whether a kprobe fires
 * @probe: registered
 *
 * Where the kernel does not say where its switches are, the probed text is looked at
 * alone, and another user of the same ftrace site looks like the probe. Context: any.
 *
 * Return: false if it does not fire.
 */
bool kipt_probe_is_armed(const struct kprobe *probe);

#endif /* KIPT_PROBE_H */
