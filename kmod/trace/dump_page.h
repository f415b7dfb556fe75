/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One CPU's page of uapi/linux/kipt_crash.h: what the CPU can do, whether it traces, and
 * where its trace ended. Leaves to crash_pages.c how pages are made and chained.
 */
#ifndef KIPT_DUMP_PAGE_H
#define KIPT_DUMP_PAGE_H

#include <linux/types.h>

#include "../../uapi/linux/kipt_crash.h"

struct kipt_trace;
struct kipt_trace_result;

/**
 * kipt_dump_seal() - make the checksum of a page right
 * @page: the page; of kind CPU, its &struct kipt_crash_stop has one of its own
 *
 * Context: any, also NMI.
 */
void kipt_dump_seal(struct kipt_crash_page *page);

/**
 * kipt_dump_seal_part() - make the checksum of a part of a page right
 * @part: a &struct kipt_crash_stop or &struct kipt_crash_event. Its first member is the
 *	checksum, of the members after it
 * @size: bytes of @part
 *
 * Context: any, also NMI.
 */
void kipt_dump_seal_part(void *part, size_t size);

/**
 * kipt_dump_change_begin() - pages and the chain of them may be changed
 *
 * Context: may sleep; takes the lock that kipt_dump_change_end() releases.
 */
void kipt_dump_change_begin(void);

/**
 * kipt_dump_change_end() - all pages are sealed again
 */
void kipt_dump_change_end(void);

/**
 * kipt_dump_is_changing() - whether checksums may be wrong
 *
 * Context: any, also NMI.
 */
bool kipt_dump_is_changing(void);

/**
 * kipt_dump_fill_caps() - what a CPU can do
 * @page: of the CPU
 * @cpu: its number; one that was never online has no features yet
 */
void kipt_dump_fill_caps(struct kipt_crash_cpu *page, unsigned int cpu);

/**
 * kipt_dump_start() - a CPU is about to start
 * @trace: its buffer is marked
 *
 * Context: may sleep.
 */
void kipt_dump_start(struct kipt_trace *trace);

/**
 * kipt_dump_running() - say that a CPU traces, and that where its trace ends is not known
 * @trace: is about to trace
 *
 * Context: the CPU of @trace with NMIs kept from it by @trace->changing, or one
 * that starts it.
 */
void kipt_dump_running(struct kipt_trace *trace);

/**
 * kipt_dump_is_stopped() - whether a dump would say that a CPU was stopped for a crash
 * @trace: of this CPU
 *
 * Context: this CPU, interrupts off, or an NMI.
 */
bool kipt_dump_is_stopped(const struct kipt_trace *trace);

/**
 * kipt_dump_finish() - a CPU stopped, and not for a crash
 * @trace: stopped
 * @result: what it left
 *
 * Context: any, also NMI.
 */
void kipt_dump_finish(struct kipt_trace *trace,
		      const struct kipt_trace_result *result);

/**
 * kipt_dump_stop_local() - a CPU stopped for a crash
 * @trace: of this CPU; it has stopped
 * @ip: where the CPU was met, 0 if that is not known
 *
 * Context: this CPU, interrupts off or an NMI.
 */
void kipt_dump_stop_local(struct kipt_trace *trace, u64 ip);

/**
 * kipt_dump_copy_local() - what a snapshot has of this CPU
 * @trace: of this CPU; it is paused
 * @ip: where the CPU is
 * @copy: filled but for its regions, and not sealed; alone in its chain
 *
 * How it is now, or how it was when it stopped for a crash that was none.
 *
 * Context: this CPU, interrupts off.
 */
void kipt_dump_copy_local(const struct kipt_trace *trace, u64 ip,
			  struct kipt_crash_cpu *copy);

#endif /* KIPT_DUMP_PAGE_H */
