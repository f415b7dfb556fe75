/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which bytes of a trace a stretch of time needs, by the times of its PSBs.
 */
#ifndef KIPT_TIME_WINDOW_H
#define KIPT_TIME_WINDOW_H

#include <stdbool.h>

#include "../../../kmod/decode/port.h"

struct view_options;

/**
 * struct time_window - bytes of a trace, each end at a PSB or at an end of it
 * @head: the first ones, which have the first time of the trace; 0: they are not
 *	needed, or in the rest
 * @from: where the rest begins
 * @to: after the rest; @head <= @from <= @to
 */
struct time_window {
	u64 head;
	u64 from, to;
};

/**
 * struct time_stretch - what is wanted of the traces of a CPU
 * @from, @to: ticks after its first time, both included
 * @base_known: its first time is @base
 * @base: 56 bits of the TSC
 */
struct time_stretch {
	s64 from, to;
	bool base_known;
	u64 base;
};

/**
 * struct time_seen - PSBs in those bytes of a trace that time_window_find() was given before
 * @begun: one was not too early
 * @late: how many were too late since the last one that was not; 2 for more
 */
struct time_seen {
	bool begun;
	u32 late;
};

/**
 * time_window_find() - which bytes are needed of what is shown
 * @window: filled; where @from and @to are the same, nothing is needed
 * @options: which stretch of time is shown, and which calls; those began before it
 * @stretch: its base is set by the first trace of the CPU
 * @seen: all zero before the first bytes of a trace; what was in them is added
 * @trace: a trace, or those bytes of it that follow the ones seen; that begin with a PSB then
 * @size: how many, not 0
 * @end: bytes that are there, at least @size. Where more of the trace follows than @size, they
 *	have the two PSBs from there on, and @stretch has a base
 *
 * No estimated time is beyond that of the next PSB: what is before the last PSB that
 * is too early, and after the first that is too late, is not needed. One PSB more is
 * taken on either side. Where the first PSB has no time all is needed.
 */
void time_window_find(struct time_window *window,
		      const struct view_options *options,
		      struct time_stretch *stretch, struct time_seen *seen,
		      const u8 *trace, u64 size, u64 end);

/**
 * time_window_bytes() - how many bytes are needed
 * @window: was filled
 */
static inline u64 time_window_bytes(const struct time_window *window)
{
	return window->head + window->to - window->from;
}

#endif /* KIPT_TIME_WINDOW_H */
