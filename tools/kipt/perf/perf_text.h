/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Code of the kernel while perf recorded: its events say what was patched, and which
 * BPF programs and trampolines came and went. They become a log of patches, as the
 * module keeps one (kmod/shared/patch_log.h), and code is read as of a time in it.
 *
 * perf record --kcore copies the kernel after it opened its events and before it enables
 * the trace: patches may be in the copy or not. So what is in the copy counts only
 * where no event says what was there: an event has the bytes of before and after, which
 * hold up to the event before it and the one after it.
 */
#ifndef KIPT_PERF_TEXT_H
#define KIPT_PERF_TEXT_H

#include "../../../kmod/shared/text_view.h"
#include "perf_aux.h"
#include "perf_ksym.h"

struct perf_text;

/**
 * perf_text_create() - nothing changed
 *
 * Return: the caller's until perf_text_destroy(); NULL after a sentence.
 */
struct perf_text *perf_text_create(void);

/**
 * perf_text_destroy() - free it
 * @text: may be NULL
 */
void perf_text_destroy(struct perf_text *text);

/**
 * perf_text_take() - look at one event
 * @text: where to
 * @file: where it is from
 * @event: any event
 *
 * Return: true, or false after a sentence: no memory.
 */
bool perf_text_take(struct perf_text *text, const struct perf_file *file,
		    const struct perf_event *event);

/**
 * perf_text_settle() - put events in order, and make a log of them
 * @text: all events were looked at
 * @file: where they were from
 * @clock: the clock of its events
 *
 * Return: true, or false after a sentence: no memory.
 */
bool perf_text_settle(struct perf_text *text, const struct perf_file *file,
		      const struct perf_clock *clock);

/**
 * perf_text_log() - the log of changes
 * @text: was settled
 * @timed: set if its times are known; else each change may have been at any time
 *
 * Return: owned by @text; NULL: nothing changed.
 */
const struct kipt_patch_log *perf_text_log(const struct perf_text *text,
					   bool *timed);

/**
 * perf_text_slack() - from where a change may begin to where it is everywhere
 * @text: was settled
 *
 * The time of an entry of the log is half of this before that of the event: some
 * events are made before the change and some after it.
 *
 * Return: ticks.
 */
u64 perf_text_slack(const struct perf_text *text);

/**
 * perf_text_tsc() - some TSC of the recording
 * @text: was settled
 *
 * Return: that of the last change; 0: unknown.
 */
u64 perf_text_tsc(const struct perf_text *text);

/**
 * perf_text_read() - code of the kernel as of a time
 * @text: was settled; several threads may read at a time
 * @view: of its log; NULL: there is no log
 * @read: what perf_text_take() has no events of: copies up to @size bytes, returns how
 *	many
 * @ctx: its first argument
 * @ip: first address
 * @bytes: filled
 * @size: how many are wanted
 *
 * Return: how many are known, 0: none.
 */
u32 perf_text_read(const struct perf_text *text,
		   const struct kipt_text_view *view,
		   u32 (*read)(void *ctx, u64 ip, u8 *bytes, u32 size),
		   void *ctx, u64 ip, u8 *bytes, u32 size);

/**
 * perf_text_ksyms() - names of what came and went
 * @text: was settled
 *
 * Return: owned by @text, sorted.
 */
const struct perf_ksyms *perf_text_ksyms(const struct perf_text *text);

/**
 * perf_text_changes() - changes that perf recorded
 * @text: was settled
 *
 * Return: how many.
 */
u64 perf_text_changes(const struct perf_text *text);

/**
 * perf_text_crowded() - is there a page that was changed too often
 * @text: was settled
 *
 * Return: how often one can be at most if so: no code of it can be had; 0: there is none.
 */
u32 perf_text_crowded(const struct perf_text *text);

/**
 * perf_text_full() - are there more changes than are kept
 * @text: was settled
 *
 * Return: true if so: no code of the kernel can be had then.
 */
bool perf_text_full(const struct perf_text *text);

#endif /* KIPT_PERF_TEXT_H */
