/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The excerpt: what a CPU did before the machine died, decoded in the dying
 * kernel and put into its log. excerpt_lines.c chooses the lines,
 * excerpt_text.c writes them, this decodes, and bounds what that may take.
 *
 * At a death nothing is allocated, locked or waited for. It runs on a stack of
 * its own. The log is written as the scheduler does it: no console is touched,
 * they get the lines with the next that the kernel prints.
 */
#ifndef KIPT_EXCERPT_H
#define KIPT_EXCERPT_H

#include <linux/types.h>

struct kipt_crash_event;
struct kipt_trace;

#define KIPT_EXCERPT_LINES	32U
#define KIPT_EXCERPT_LINES_MOST	1000U
/* What kipt_excerpt_prepare() takes, roughly. */
#define KIPT_EXCERPT_BYTES	(900ULL << 10)

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
 * kipt_excerpt_print() - print what a CPU did last
 * @trace: of the CPU, which does not trace any more; its session lives
 * @view: from kipt_buffer_view(), taken before; NULL: nothing is printed
 * @head: bytes written, to the end; see struct kipt_trace_result
 * @tail: the oldest byte that is there, counted like @head
 * @event: where and when the machine died; @ip, @faulted and @trap say where
 *	the text is to end, with @ip and @faulted 0 where tracing stopped, which
 *	is for CPUs that did not die; @tsc is near the times of the trace
 * @lines: at most, a few more come beside them; 0: none; at most
 *	KIPT_EXCERPT_LINES_MOST
 *
 * Does nothing if nothing is prepared, or it runs already. Takes two seconds at
 * most, some milliseconds mostly. Context: any, also NMI and #DF; the caller
 * does not move to another CPU.
 */
void kipt_excerpt_print(const struct kipt_trace *trace, const u8 *view,
			u64 head, u64 tail,
			const struct kipt_crash_event *event, u32 lines);

/**
 * kipt_excerpt_active() - whether this CPU is printing
 *
 * An oops then comes from kipt_excerpt_print() itself, or an NMI that came
 * meanwhile. Context: any, but moving to another CPU.
 *
 * Return: true if so.
 */
bool kipt_excerpt_active(void);

#endif /* KIPT_EXCERPT_H */
