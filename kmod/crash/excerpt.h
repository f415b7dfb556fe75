/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The excerpt: what a CPU did before the machine died, decoded in the dying
 * kernel and put into its log. excerpt_decode.c says how much of a trace is
 * decoded, excerpt_lines.c makes the lines, excerpt_text.c writes them, this
 * lends memory, a stack, code and names; excerpt_cpus.c says whose and when.
 *
 * At a death nothing is allocated, locked or waited for. It runs on a stack of
 * its own. The log is written as the scheduler does it: no console is touched,
 * they get the lines with the next that the kernel prints.
 */
#ifndef KIPT_EXCERPT_H
#define KIPT_EXCERPT_H

#include <linux/compiler_attributes.h>
#include <linux/types.h>

struct kipt_crash_event;
struct kipt_crash_stop;
struct kipt_trace;

#define KIPT_EXCERPT_LINES_MOST	1000U
/* What kipt_excerpt_prepare() takes, roughly. */
#define KIPT_EXCERPT_BYTES	(1200ULL << 10)

/**
 * kipt_excerpt_prepare() - have all ready that printing needs
 *
 * Takes KIPT_EXCERPT_BYTES, charged and accounted, once for all who call this. Context:
 * may sleep.
 *
 * Return: 0, or -ENOMEM.
 */
int kipt_excerpt_prepare(void);

/**
 * kipt_excerpt_release() - end what kipt_excerpt_prepare() began
 *
 * The last one frees all, after what prints has ended. Context: may sleep.
 */
void kipt_excerpt_release(void);

/**
 * struct kipt_excerpt_source - the end of a trace that is printed
 * @trace: of the CPU; its session lives
 * @stop: how it stopped; nobody writes to it any more
 * @bytes: the oldest byte of the trace; the others follow it
 * @size: how many there may be
 */
struct kipt_excerpt_source {
	const struct kipt_trace *trace;
	const struct kipt_crash_stop *stop;
	const u8 *bytes;
	u64 size;
};

/**
 * kipt_excerpt_source_of() - what a CPU left that stopped for a crash
 * @trace: of the CPU
 *
 * Context: any, also NMI.
 *
 * Return: with no @bytes if there is no view of its buffer.
 */
struct kipt_excerpt_source
kipt_excerpt_source_of(const struct kipt_trace *trace);

/**
 * kipt_excerpt_print() - print what a CPU did last
 * @source: what it left
 * @event: where and when the machine died; the text ends there if it died on
 *	this CPU, or where the NMI met it, or where tracing stopped if that is
 *	not to be found
 * @lines: at most, a few more come beside them; 0: none; at most
 *	KIPT_EXCERPT_LINES_MOST
 * @ticks: of the TSC that it may take
 *
 * Does nothing if nothing is prepared, or it runs already. Mostly it takes some
 * milliseconds. User code is read on the CPU that died only, while its task
 * runs there. Context: any, also NMI and #DF; the caller does not move to another
 * CPU.
 *
 * Return: how many lines there were.
 */
u32 kipt_excerpt_print(const struct kipt_excerpt_source *source,
		       const struct kipt_crash_event *event, u32 lines,
		       u64 ticks);

/**
 * kipt_excerpt_print_all() - print what the CPUs did last, as their sessions want it
 * @event: where and when the machine died
 *
 * The CPU that died comes last: who keeps the end of the log only, as pstore
 * does, then has that. After it a line is printed as the kernel prints: it takes
 * to the consoles what is in the log by then. Takes five seconds at most. Context:
 * any, also NMI and #DF; the caller does not move to another CPU.
 */
void kipt_excerpt_print_all(const struct kipt_crash_event *event);

#endif /* KIPT_EXCERPT_H */
