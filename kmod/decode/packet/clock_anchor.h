/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Core cycles since the last TSC, MTC, CBR or overflow. Any context.
 */
#ifndef KIPT_DECODE_CLOCK_ANCHOR_H
#define KIPT_DECODE_CLOCK_ANCHOR_H

#include "clock_span.h"

/**
 * struct kipt_clock_anchor - from where on CYCs count
 * @time: estimated TSC there
 * @at: what is certain of it
 * @cycles: core cycles of the CYCs since
 * @first: those of the first of them, which may have begun before
 * @slowest: the least ratio that a part of the first may have run at
 */
struct kipt_clock_anchor {
	u64 time;
	struct kipt_clock_bound at;
	u64 cycles;
	u64 first;
	u32 slowest;
};

/**
 * kipt_clock_anchor_add() - a CYC
 * @anchor: counts it
 * @cycles: its cycles
 */
static inline void kipt_clock_anchor_add(struct kipt_clock_anchor *anchor, u64 cycles)
{
	if (!anchor->cycles)
		anchor->first = cycles;
	anchor->cycles += cycles;
}

/**
 * kipt_clock_anchor_cbr() - the ratio changed, the trace does not say when
 * @anchor: just set; the next CYC covers both sides of the change
 * @before: the anchor before, which the same CYC may have begun at
 * @cbr: ratio before
 */
static inline void kipt_clock_anchor_cbr(struct kipt_clock_anchor *anchor,
					 const struct kipt_clock_anchor *before, u32 cbr)
{
	u32 slowest = before->cycles ? cbr : before->slowest;

	if (slowest && slowest < anchor->slowest)
		anchor->slowest = slowest;
}

/**
 * kipt_clock_anchor_bound() - what CYCs say of the time now
 * @anchor: the anchor
 * @core: how far it is from there, at this ratio; its members are known
 *
 * Return: no earlier, and no later.
 */
static inline struct kipt_clock_bound
kipt_clock_anchor_bound(const struct kipt_clock_anchor *anchor, const struct kipt_clock_core *core)
{
	u64 rest = anchor->cycles - anchor->first;
	struct kipt_clock_bound bound = {
		.low = anchor->at.low + kipt_clock_least(core, rest),
		.high = KIPT_CLOCK_NEVER,
	};

	if (anchor->at.high != KIPT_CLOCK_NEVER && anchor->slowest > 1)
		bound.high = anchor->at.high + KIPT_CLOCK_ROUNDING +
			     kipt_clock_most(core, core->cbr, rest) +
			     kipt_clock_most(core, anchor->slowest, anchor->first);
	return bound;
}

#endif /* KIPT_DECODE_CLOCK_ANCHOR_H */
