/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The pages of uapi/linux/kipt_crash.h: one for the module, one or more for
 * each CPU of a session. Knows how they are filled, chained and sealed; leaves
 * to trace.c and crash.c when. A page is in the chain only while it is whole.
 */
#ifndef KIPT_CRASH_PAGES_H
#define KIPT_CRASH_PAGES_H

#include <linux/types.h>

#include "../../uapi/linux/kipt_crash.h"

struct kipt_trace;

/*
 * The page of kind HEADER. If its @nr_cpus is 0 there is nothing to be saved at a crash. Only
 * kipt_crash_pages_set_event() and _forget_event() write its @event; all may read it.
 */
extern struct kipt_crash_header *kipt_crash_header;

/**
 * kipt_crash_pages_init() - make the page of kind HEADER
 *
 * Context: may sleep.
 *
 * Return: 0 or -ENOMEM.
 */
int kipt_crash_pages_init(void);

/**
 * kipt_crash_pages_uninit() - free it; the chain is empty
 */
void kipt_crash_pages_uninit(void);

/**
 * kipt_crash_pages_create() - make the pages of a CPU
 * @trace: its buffer is whole; @trace->crash becomes the page of kind CPU
 *
 * All memory is charged, as that of buffers is. Context: may sleep.
 *
 * Return: 0 or -ENOMEM; what was made is @trace->crash's then too.
 */
int kipt_crash_pages_create(struct kipt_trace *trace);

/**
 * kipt_crash_pages_destroy() - free the pages of a CPU
 * @trace: its pages have not been in the chain for a grace period; or it has
 *	none
 *
 * Context: may sleep.
 */
void kipt_crash_pages_destroy(struct kipt_trace *trace);

/**
 * kipt_crash_pages_link() - put the pages of a CPU into the chain
 * @trace: its pages are whole
 *
 * Context: may sleep.
 */
void kipt_crash_pages_link(struct kipt_trace *trace);

/**
 * kipt_crash_pages_unlink() - take the pages of a CPU out of the chain
 * @trace: they need not be in it
 *
 * Who looks at them in an NMI or a hook is through after a grace period.
 * Context: may sleep.
 */
void kipt_crash_pages_unlink(struct kipt_trace *trace);

/**
 * kipt_crash_pages_set_event() - write down the crash
 * @event: all but its checksum
 *
 * Context: any, also NMI; one caller at a time.
 */
void kipt_crash_pages_set_event(const struct kipt_crash_event *event);

/**
 * kipt_crash_pages_forget_event() - it is over
 * @event: a copy; another than this is left alone
 *
 * Takes away its hook and checksum, at once. Context: any, also NMI.
 */
void kipt_crash_pages_forget_event(const struct kipt_crash_event *event);

/**
 * kipt_crash_pages_mend() - make checksums right that a crash left wrong
 *
 * A page that was being changed as the machine died has the new content and
 * the old checksum. Context: any, also NMI; bounded by the number of CPUs.
 */
void kipt_crash_pages_mend(void);

/**
 * kipt_crash_pages_reseal() - make all checksums right again
 *
 * kipt_crash_pages_mend() may have met a change that went on. Context: may
 * sleep; the machine survived.
 */
void kipt_crash_pages_reseal(void);

/**
 * kipt_crash_pages_header() - copy the page of kind HEADER
 * @copy: a page; its rest is left alone
 *
 * Context: may sleep.
 */
void kipt_crash_pages_header(struct kipt_crash_header *copy);

/**
 * kipt_crash_pages_mark() - give a page the magic of snapshots
 * @page: a copy
 *
 * Context: any, also NMI.
 */
void kipt_crash_pages_mark(struct kipt_crash_page *page);

/**
 * kipt_crash_pages_hide() - make a page one of a snapshot
 * @page: a copy, changed in any way since
 *
 * Makes its checksums right, and has it begin with KIPT_CRASH_SNAPSHOT_MAGIC:
 * who looks for the pages of a crash in a dump does not find it. Context: any.
 */
void kipt_crash_pages_hide(struct kipt_crash_page *page);

#endif /* KIPT_CRASH_PAGES_H */
