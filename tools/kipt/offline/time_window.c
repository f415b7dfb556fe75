// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bytes of a stretch of time, see time_window.h. Reads PSB+s and nothing else.
 */
#include "../../../kmod/decode/packet/psb.h"
#include "../../../kmod/decode/packet/sync.h"
#include "../view/view.h"
#include "time_window.h"

/* A TSC packet has that many bits. */
#define TSC_BITS	56

/* PSBs that were passed. */
struct passed {
	u64 count;
	/* The second one of all. */
	u64 second;
	/* The last two that are too early, as long as no other came. */
	u64 early, earlier;
	bool begun;
	/* The first two of those that are too late, if no other came since. */
	u64 late, later;
};

static s64 ticks_since(u64 tsc, u64 base)
{
	return (s64)((tsc - base) << (64 - TSC_BITS)) >> (64 - TSC_BITS);
}

static void psb_pass(struct passed *passed, const struct time_stretch *stretch,
		     u64 offset, s64 ticks)
{
	passed->begun |= ticks >= stretch->from;
	if (!passed->begun) {
		passed->earlier = passed->early;
		passed->early = offset;
	}
	if (ticks <= stretch->to) {
		passed->late = 0;
		passed->later = 0;
	} else if (!passed->late) {
		passed->late = offset;
	} else if (!passed->later) {
		passed->later = offset;
	}
}

/* False: nobody knows when the trace of the CPU begins. */
static bool psb_look(struct passed *passed, struct time_stretch *stretch,
		     const u8 *trace, u64 size, u64 offset)
{
	u64 tsc;
	bool timed = kipt_psb_tsc(trace, size, offset, &tsc);

	if (++passed->count == 2)
		passed->second = offset;
	if (timed && !stretch->base_known) {
		stretch->base_known = true;
		stretch->base = tsc;
	}
	if (timed)
		psb_pass(passed, stretch, offset,
			 ticks_since(tsc, stretch->base));
	return stretch->base_known;
}

static void stretch_find(struct time_window *window,
			 struct time_stretch *stretch, const u8 *trace,
			 u64 size)
{
	bool first = !stretch->base_known;
	struct passed passed = { 0 };
	u64 offset = kipt_sync_next(trace, size, 0);

	for (; offset < size;
	     offset = kipt_sync_next(trace, size, offset + KIPT_PSB_BYTES)) {
		if (!psb_look(&passed, stretch, trace, size, offset))
			return;
	}
	if (passed.later)
		window->to = passed.later;
	if (!first)
		window->from = passed.earlier;
	else if (passed.earlier > passed.second)
		window->from = passed.earlier;
	if (first && window->from)
		window->head = passed.second;
}

void time_window_find(struct time_window *window,
		      const struct view_options *options,
		      struct time_stretch *stretch, const u8 *trace, u64 size)
{
	*window = (struct time_window){ .to = size };
	if (!time_range_any(&options->narrow.time))
		return;
	stretch_find(window, stretch, trace, size);
	if (options->syms)
		window->head = window->from = 0;
}
