// SPDX-License-Identifier: GPL-2.0-only
/*
 * Time estimation. Every estimate is derived from the whole count since an
 * anchor, so that rounding does not add up; between two PSBs time does not
 * go back. Beside it are a lower and an upper bound of the true time, which
 * the same packets move. Any context.
 */
#include "clock.h"

/* More cycles than this between two anchors are nonsense. */
#define CYCLES_BITS	48

void kipt_clock_init(struct kipt_clock *clock, u32 num, u32 den, u8 mtc_freq, u8 p1, u64 near)
{
	memset(clock, 0, sizeof(*clock));
	clock->num = den ? num : 0;
	clock->den = den;
	clock->mtc_freq = mtc_freq & 15;
	clock->core.p1 = p1;
	clock->near = near;
	clock->error = KIPT_CLOCK_UNKNOWN;
	clock->at.high = KIPT_CLOCK_NEVER;
	clock->limit = KIPT_CLOCK_NEVER;
}

void kipt_clock_reset(struct kipt_clock *clock)
{
	kipt_clock_init(clock, clock->num, clock->den, clock->mtc_freq, clock->core.p1,
			clock->near);
}

/* ART ticks to TSC ticks; whole periods first, so nothing overflows. */
static u64 art_to_tsc(const struct kipt_clock *clock, u64 ticks)
{
	return ticks / clock->den * clock->num +
	       ticks % clock->den * clock->num / clock->den;
}

static void set_now(struct kipt_clock *clock, u64 time)
{
	u64 high = clock->at.high < clock->limit ? clock->at.high : clock->limit;
	u64 error;

	clock->reckoned = time;
	if (time > clock->limit)
		time = clock->limit;
	if (time > clock->now)
		clock->now = time;
	error = clock->now > clock->at.low ? clock->now - clock->at.low :
					     clock->at.low - clock->now;
	if (high > clock->now && high - clock->now > error)
		error = high - clock->now;
	clock->error = error < KIPT_CLOCK_UNKNOWN ? (u32)error :
						    KIPT_CLOCK_UNKNOWN;
	clock->moved = true;
}

/* CYCs count from here. */
static void set_anchor(struct kipt_clock *clock, u64 time)
{
	clock->anchor = (struct kipt_clock_anchor){
		.time = time, .at = clock->at, .slowest = clock->core.cbr,
	};
}

/* CYCs and MTCs are compared from here on. */
static void start_span(struct kipt_clock *clock)
{
	clock->span = (struct kipt_clock_span){ .start = clock->at };
}

void kipt_clock_limit(struct kipt_clock *clock, u64 tsc)
{
	u64 limit = kipt_tsc_extend(clock->now, tsc);

	if (!clock->valid || limit < clock->now)
		return;
	clock->limit = limit;
	set_now(clock, clock->reckoned);
}

void kipt_clock_lost(struct kipt_clock *clock)
{
	clock->lost = true;
	clock->fresh = false;
	clock->counting &= !clock->high_unknown;
	if (!clock->valid)
		return;
	clock->at.high = KIPT_CLOCK_NEVER;
	set_anchor(clock, clock->reckoned);
	start_span(clock);
	set_now(clock, clock->reckoned);
}

static void on_tsc(struct kipt_clock *clock, u64 tsc)
{
	u64 time = clock->valid ? kipt_tsc_extend(clock->now, tsc) :
		   clock->near ? kipt_tsc_extend(clock->near, tsc) : tsc;

	clock->valid = true;
	clock->lost = false;
	clock->fresh = true;
	clock->counting = false;
	if (time > clock->limit)
		clock->limit = KIPT_CLOCK_NEVER;
	clock->base = time;
	clock->at = (struct kipt_clock_bound){ time, time };
	set_anchor(clock, time);
	start_span(clock);
	set_now(clock, time);
}

/* TMA gives 16 bits of ART: with MTCFreq above 8 they do not reach the top of
 * the 8-bit window that an MTC shows.
 */
static void on_tma(struct kipt_clock *clock, u32 ctc, u32 fast)
{
	u32 rem = ctc & ((1U << clock->mtc_freq) - 1);

	if (!clock->fresh || !clock->num)
		return;
	clock->fresh = false;
	clock->base -= fast + art_to_tsc(clock, rem);
	clock->ticks = 0;
	clock->last_mtc = (u8)(ctc >> clock->mtc_freq);
	clock->high_unknown = clock->mtc_freq > 8;
	clock->counting = true;
}

static u32 mtc_delta(struct kipt_clock *clock, u8 mtc)
{
	u32 known, delta;

	if (!clock->high_unknown)
		return (u8)(mtc - clock->last_mtc);
	known = 1U << (16 - clock->mtc_freq);
	delta = (u8)(mtc - clock->last_mtc) & (known - 1);
	clock->high_unknown = false;
	return delta ? delta : known;
}

/* What CYCs say about the time before an MTC holds, unless it is refuted. */
static void bound_by_mtc(struct kipt_clock *clock, u64 time)
{
	u64 slack = art_to_tsc(clock, 1) + KIPT_CLOCK_ROUNDING;
	struct kipt_clock_bound mtc = { time > slack ? time - slack : 0, time + slack };

	if (!clock->lost)
		kipt_clock_span_compare(&clock->span, &clock->core, mtc, time);
	if (clock->at.low < mtc.low || (!clock->lost && clock->at.low > mtc.high))
		clock->at.low = mtc.low;
	clock->at.high = clock->lost ? KIPT_CLOCK_NEVER : mtc.high;
	if (clock->span.start.high == KIPT_CLOCK_NEVER)
		start_span(clock);
}

/* An MTC that repeats the last is a duplicate, or exactly 256 were lost: then
 * the next TSC sets it right.
 */
static void on_mtc(struct kipt_clock *clock, u8 mtc)
{
	u32 delta;
	u64 time;

	if (!clock->counting)
		return;
	delta = mtc_delta(clock, mtc);
	if (!delta)
		return;
	clock->ticks += (u64)delta << clock->mtc_freq;
	clock->last_mtc = mtc;
	time = clock->base + art_to_tsc(clock, clock->ticks);
	bound_by_mtc(clock, time);
	set_anchor(clock, time);
	set_now(clock, time);
}

static void on_cyc(struct kipt_clock *clock, u64 cycles)
{
	clock->spent += cycles;
	if (!clock->valid || cycles >> CYCLES_BITS ||
	    (clock->span.cycles + cycles) >> CYCLES_BITS)
		return;
	kipt_clock_anchor_add(&clock->anchor, cycles);
	kipt_clock_span_add(&clock->span, cycles);
	if (clock->core.p1 && clock->core.cbr && !clock->lost &&
	    (!clock->counting || clock->span.confirmed))
		clock->at = kipt_clock_anchor_bound(&clock->anchor, &clock->core);
	else
		clock->at = (struct kipt_clock_bound){ clock->anchor.at.low, KIPT_CLOCK_NEVER };
	set_now(clock, clock->anchor.time + kipt_clock_span_ticks(&clock->span, &clock->core,
								  clock->anchor.cycles));
}

static void on_cbr(struct kipt_clock *clock, u32 cbr)
{
	struct kipt_clock_anchor before = clock->anchor;
	u32 ratio = clock->core.cbr;

	if (cbr == ratio)
		return;
	clock->core.cbr = cbr;
	set_anchor(clock, clock->reckoned);
	start_span(clock);
	kipt_clock_anchor_cbr(&clock->anchor, &before, ratio);
}

void kipt_clock_packet(struct kipt_clock *clock,
		       const struct kipt_packet *packet)
{
	if (packet->flags & KIPT_PF_BROKEN)
		return;
	switch (packet->type) {
	case KIPT_PACKET_TSC:
		on_tsc(clock, packet->value);
		break;
	case KIPT_PACKET_TMA:
		on_tma(clock, (u32)packet->value, packet->aux);
		break;
	case KIPT_PACKET_MTC:
		on_mtc(clock, (u8)packet->value);
		break;
	case KIPT_PACKET_CYC:
		on_cyc(clock, packet->value);
		break;
	case KIPT_PACKET_CBR:
		on_cbr(clock, (u32)packet->value);
		break;
	default:
		break;
	}
}
