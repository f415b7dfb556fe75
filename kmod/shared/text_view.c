// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which patches a stretch of trace is before, and which it may be in the middle
 * of, see text_view.h. A patch takes a while from where its time is taken to
 * where every CPU sees it.
 */
#include "patch_log.h"
#include "text_view.h"

/* The first time that a place is forgotten all nodes are looked through: of more patches than
 * this all text is forgotten instead.
 */
#define FORGET_MAX	64

void kipt_text_view_init(struct kipt_text_view *view,
			 const struct kipt_patch_log *log, u64 first, u64 end,
			 u64 slack)
{
	*view = (struct kipt_text_view) {
		.log = log,
		.first = first,
		.end = end,
		.slack = slack,
		.at = end,
	};
}

static bool is_unsure(const struct kipt_text_view *view, u64 ip, u32 len)
{
	return view->near < view->unsure &&
	       kipt_patch_log_touches(view->log, view->near, view->unsure, ip,
				      len);
}

u32 kipt_text_view_sure(const struct kipt_text_view *view, u64 ip, u32 len)
{
	u32 sure = 0, middle;

	if (!is_unsure(view, ip, len))
		return len;
	while (len - sure > 1) {
		middle = sure + (len - sure) / 2;
		if (is_unsure(view, ip, middle))
			len = middle;
		else
			sure = middle;
	}
	return sure;
}

/* What the decoder remembers of the places of the patches from number @one to @other, of which
 * either may be the smaller, is wrong now.
 */
static void forget(const struct kipt_text_view *view, struct kipt_flow *flow,
		   u64 one, u64 other)
{
	u64 number = one < other ? one : other, last = one < other ? other : one;
	u64 begin, end;

	for (; number < last; number++) {
		if (last - number <= FORGET_MAX &&
		    kipt_patch_log_range(view->log, number, &begin, &end)) {
			kipt_flow_forget(flow, 0, begin, end);
			continue;
		}
		kipt_flow_forget(flow, 0, 0, ~0ULL);
		break;
	}
}

/* What is between these patches is not to be read from now on, all else is. Windows that
 * overlap differ at their ends only.
 */
static void set_unsure(struct kipt_text_view *view, struct kipt_flow *flow,
		       u64 near, u64 unsure)
{
	bool overlap = near < view->unsure && view->near < unsure;

	forget(view, flow, near, overlap ? view->near : unsure);
	forget(view, flow, view->unsure, overlap ? unsure : view->near);
	view->near = near;
	view->unsure = unsure;
}

void kipt_text_view_at(struct kipt_text_view *view, struct kipt_flow *flow,
		       u64 begin, u64 end)
{
	const struct kipt_patch_log *log = view->log;
	u64 first = view->first, last = view->end, at, near, unsure;

	if (first == last)
		return;
	at = begin ? kipt_patch_log_at(log, first, last, begin) : last;
	forget(view, flow, view->at, at);
	view->at = at;
	near = begin > view->slack ?
	       kipt_patch_log_at(log, first, last, begin - view->slack) :
	       first;
	/* Without a begin the stretch may lie anywhere in the run. */
	unsure = !begin || end == ~0ULL ? last :
		 kipt_patch_log_at(log, first, last, end);
	/* The log does not know: any may have been near. */
	set_unsure(view, flow, near, unsure < near ? last : unsure);
}
