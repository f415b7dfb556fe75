// SPDX-License-Identifier: GPL-2.0-only
/*
 * CYCs compared with MTCs, see clock_span.h. Any context.
 */
#include "clock_span.h"

/* So many of the longest CYC must agree with MTCs before CYCs are believed. */
#define SPAN_CYCS	4

void kipt_clock_span_add(struct kipt_clock_span *span, u64 cycles)
{
	if (!span->cycles)
		span->first = cycles;
	span->cycles += cycles;
	if (cycles > span->most)
		span->most = cycles;
}

/* The core may have gone on for as long as the longest CYC since the last. Some CYCs have to agree
 * before it is believed.
 */
static void judge(struct kipt_clock_span *span, const struct kipt_clock_core *core,
		  struct kipt_clock_bound mtc)
{
	bool agree;

	if (core->cbr < 2 || !core->p1 || span->start.high == KIPT_CLOCK_NEVER)
		return;
	agree = span->start.low + kipt_clock_least(core, span->cycles - span->first) <= mtc.high &&
		mtc.low <= span->start.high + KIPT_CLOCK_ROUNDING +
			   kipt_clock_most(core, core->cbr, span->cycles + span->most);
	span->refuted = !agree;
	span->confirmed = agree && span->cycles / SPAN_CYCS >= span->most;
}

void kipt_clock_span_compare(struct kipt_clock_span *span, const struct kipt_clock_core *core,
			     struct kipt_clock_bound mtc, u64 time)
{
	u64 ticks = time - span->start.low;

	if (!span->cycles)
		return;
	judge(span, core, mtc);
	if (time <= span->start.low || ticks >> 32)
		return;
	span->measured_ticks = ticks;
	span->measured_cycles = span->cycles;
}

u64 kipt_clock_span_ticks(const struct kipt_clock_span *span, const struct kipt_clock_core *core,
			  u64 cycles)
{
	if (core->p1 && core->cbr && !span->refuted)
		return cycles * core->p1 / core->cbr;
	if (span->measured_cycles && !(cycles >> 32))
		return cycles * span->measured_ticks / span->measured_cycles;
	return 0;
}
