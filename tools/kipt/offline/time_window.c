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
	/* The last two, or more, are too late: from @later on, the second of them, nothing is
	 * needed. It is 0 if that was in earlier bytes.
	 */
	bool ended;
	u64 later;
};

static s64 ticks_since(u64 tsc, u64 base)
{
	return (s64)((tsc - base) << (64 - TSC_BITS)) >> (64 - TSC_BITS);
}

static void late_pass(struct passed *passed, struct time_seen *seen, u64 offset, bool late)
{
	if (!late) {
		seen->late = 0;
		passed->ended = false;
	} else if (seen->late < 2 && ++seen->late == 2) {
		passed->ended = true;
		passed->later = offset;
	}
}

/* False: nobody knows when the trace of the CPU begins. */
static bool psb_look(struct passed *passed, struct time_stretch *stretch,
		     struct time_seen *seen, const u8 *trace, u64 end, u64 offset)
{
	u64 tsc;
	bool timed = kipt_psb_tsc(trace, end, offset, &tsc);
	s64 ticks;

	if (++passed->count == 2)
		passed->second = offset;
	if (timed && !stretch->base_known) {
		stretch->base_known = true;
		stretch->base = tsc;
	}
	if (!timed)
		return stretch->base_known;
	ticks = ticks_since(tsc, stretch->base);
	seen->begun |= ticks >= stretch->from;
	if (!seen->begun) {
		passed->earlier = passed->early;
		passed->early = offset;
	}
	late_pass(passed, seen, offset, ticks > stretch->to);
	return true;
}

static void stretch_find(struct time_window *window, struct time_stretch *stretch,
			 struct time_seen *seen, const u8 *trace, u64 size, u64 end)
{
	bool first = !stretch->base_known;
	struct passed passed = { .ended = seen->late == 2 };
	struct time_seen ahead;
	u64 offset, at;

	for (offset = kipt_sync_next(trace, size, 0); offset < size;
	     offset = kipt_sync_next(trace, size, offset + KIPT_PSB_BYTES)) {
		if (!psb_look(&passed, stretch, seen, trace, end, offset))
			return;
	}
	if (passed.ended)
		window->to = passed.later;
	/* The first PSB that is not too early may come after these bytes. */
	ahead = *seen;
	for (at = kipt_sync_next(trace, end, size); at < end && !ahead.begun;
	     at = kipt_sync_next(trace, end, at + KIPT_PSB_BYTES))
		psb_look(&passed, stretch, &ahead, trace, end, at);
	if (!first)
		window->from = passed.earlier;
	else if (passed.earlier > passed.second)
		window->from = passed.earlier;
	if (window->from > size)
		window->from = size;
	if (first && window->from)
		window->head = passed.second;
}

void time_window_find(struct time_window *window,
		      const struct view_options *options,
		      struct time_stretch *stretch, struct time_seen *seen,
		      const u8 *trace, u64 size, u64 end)
{
	*window = (struct time_window){ .to = size };
	if (!time_range_any(&options->narrow.time))
		return;
	stretch_find(window, stretch, seen, trace, size, end);
	if (options->syms)
		window->head = window->from = 0;
	if (window->from > window->to)
		window->from = window->to;
}
