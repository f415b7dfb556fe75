/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whether the core runs at the ratio that CBR gives: over a span from one known time on, the
 * cycles of CYCs are compared with the time of MTCs. Any context.
 */
#ifndef KIPT_DECODE_CLOCK_SPAN_H
#define KIPT_DECODE_CLOCK_SPAN_H

#include "../port.h"

/* No upper bound is known. */
#define KIPT_CLOCK_NEVER	0xffffffffffffffffULL

/**
 * struct kipt_clock_bound - what is certain of a time
 * @low: TSC, it is this or later
 * @high: and not later than this
 */
struct kipt_clock_bound {
	u64 low;
	u64 high;
};

/**
 * struct kipt_clock_core - at what ratio to the bus the core runs
 * @cbr: the last CBR's, 0: unknown
 * @p1: maximum non-turbo ratio, that of the TSC; 0: unknown
 */
struct kipt_clock_core {
	u32 cbr;
	u8 p1;
};

/**
 * struct kipt_clock_span - cycles and time since the last TSC, CBR or overflow, or the first MTC
 *	after an overflow
 * @start: when that was
 * @cycles: core cycles of the CYCs since
 * @first: those of the first of them, which may have begun before
 * @most: those of the longest of them
 * @confirmed: MTCs came when CYCs and CBR said
 * @refuted: they did not: CYCs are measured against MTCs
 * @measured_ticks: TSC ticks from @start to the last MTC
 * @measured_cycles: core cycles from @start to the last MTC; 0: not measured
 */
struct kipt_clock_span {
	struct kipt_clock_bound start;
	u64 cycles;
	u64 first;
	u64 most;
	bool confirmed;
	bool refuted;
	u64 measured_ticks;
	u64 measured_cycles;
};

/**
 * kipt_clock_least() - how long the core took at least
 * @core: its ratio may be one more than CBR's
 * @cycles: it has run
 *
 * Return: TSC ticks.
 */
static inline u64 kipt_clock_least(const struct kipt_clock_core *core, u64 cycles)
{
	return cycles ? (cycles - 1) * core->p1 / (core->cbr + 1) : 0;
}

/**
 * kipt_clock_most() - how long the core took at most
 * @core: its P1
 * @cbr: its ratio may be one less than this, which is at least 2
 * @cycles: it has run
 *
 * Return: TSC ticks, rounded down.
 */
static inline u64 kipt_clock_most(const struct kipt_clock_core *core, u32 cbr, u64 cycles)
{
	return (cycles + 1) * core->p1 / (cbr - 1);
}

/* TSC, FastCounter and three products are rounded down. */
#define KIPT_CLOCK_ROUNDING	3

/**
 * kipt_clock_span_add() - a CYC
 * @span: counts it
 * @cycles: its cycles
 */
void kipt_clock_span_add(struct kipt_clock_span *span, u64 cycles);

/**
 * kipt_clock_span_compare() - an MTC: did the core run as CBR said since the span began
 * @span: confirmed or refuted afterwards, if it has CYCs, and the ratio is known
 * @core: the ratio
 * @mtc: bound of when the MTC was due
 * @time: the estimate of that
 */
void kipt_clock_span_compare(struct kipt_clock_span *span, const struct kipt_clock_core *core,
			     struct kipt_clock_bound mtc, u64 time);

/**
 * kipt_clock_span_ticks() - how long the core took, most likely
 * @span: the comparison
 * @core: the ratio
 * @cycles: it has run
 *
 * Return: TSC ticks; 0 if nothing is known.
 */
u64 kipt_clock_span_ticks(const struct kipt_clock_span *span, const struct kipt_clock_core *core,
			  u64 cycles);

#endif /* KIPT_DECODE_CLOCK_SPAN_H */
