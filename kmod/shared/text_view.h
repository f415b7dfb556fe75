/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Kernel text as it was while a stretch of trace was made: which patches are to
 * be taken back, and where it is not known since it was patched just then. Makes
 * the decoder forget what is different from the stretch before. Pure
 * computing on a log of patches, also on one out of a dump.
 */
#ifndef KIPT_TEXT_VIEW_H
#define KIPT_TEXT_VIEW_H

#include "../decode/flow.h"

struct kipt_patch_log;

/* More than any patch takes, also where a machine is emulated. */
#define KIPT_TEXT_SLACK_MS	50

/**
 * struct kipt_text_view - text as of some time
 * @log: the patches
 * @first: number of the first patch that may matter
 * @end: number after the last; without patches, @first, nothing is looked up
 * @slack: ticks from where a patch's time is taken to where every CPU sees it,
 *	at most
 * @at: text is to be read as it was before this patch
 * @near: see @unsure
 * @unsure: text was patched, from @near to before this patch, around the time
 *	that is decoded
 */
struct kipt_text_view {
	const struct kipt_patch_log *log;
	u64 first;
	u64 end;
	u64 slack;
	u64 at;
	u64 near;
	u64 unsure;
};

/**
 * kipt_text_view_init() - text as it is at the end
 * @view: filled
 * @log: outlives it
 * @first: as there
 * @end: as there
 * @slack: as there
 */
void kipt_text_view_init(struct kipt_text_view *view,
			 const struct kipt_patch_log *log, u64 first, u64 end,
			 u64 slack);

/**
 * kipt_text_view_at() - say which stretch of time is decoded next
 * @view: the view
 * @flow: what decodes with it; forgets what is different now
 * @begin: TSC at its begin, 64 bits; 0: unknown
 * @end: TSC at its end, 64 bits; ~0: unknown
 *
 * Context: that of the flow's sink, as kipt_flow_forget().
 */
void kipt_text_view_at(struct kipt_text_view *view, struct kipt_flow *flow,
		       u64 begin, u64 end);

/**
 * kipt_text_view_sure() - text that was not patched just then
 * @view: the view
 * @ip: first address
 * @len: bytes
 *
 * Return: how many of them come before the first that was.
 */
u32 kipt_text_view_sure(const struct kipt_text_view *view, u64 ip, u32 len);

#endif /* KIPT_TEXT_VIEW_H */
