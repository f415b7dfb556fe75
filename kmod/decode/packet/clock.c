// SPDX-License-Identifier: GPL-2.0-only
/*
 * Time estimation. Every estimate is derived from the whole count since an
 * anchor, so that rounding does not add up; between two PSBs time does not
 * go back. Beside it are a lower and an upper bound of the true time, which
 * the same packets move. Any context.
 */
#include "clock.h"

/* TSC, FastCounter and three products are rounded down. */
#define ROUNDING	3
/* So many of the longest CYC must agree with MTCs before CYCs are believed. */
#define SPAN_CYCS	4
/* More cycles than this between two anchors are nonsense. */
#define CYCLES_BITS	48

void kipt_clock_init(struct kipt_clock *clock, u32 num, u32 den, u8 mtc_freq, u8 p1, u64 near)
{
	memset(clock, 0, sizeof(*clock));
	clock->num = den ? num : 0;
	clock->den = den;
	clock->mtc_freq = mtc_freq & 15;
	clock->p1 = p1;
	clock->near = near;
	clock->error = KIPT_CLOCK_UNKNOWN;
	clock->high = KIPT_CLOCK_NEVER;
	clock->limit = KIPT_CLOCK_NEVER;
}

void kipt_clock_reset(struct kipt_clock *clock)
{
	kipt_clock_init(clock, clock->num, clock->den, clock->mtc_freq, clock->p1, clock->near);
}

/* ART ticks to TSC ticks; whole periods first, so nothing overflows. */
static u64 art_to_tsc(const struct kipt_clock *clock, u64 ticks)
{
	return ticks / clock->den * clock->num +
	       ticks % clock->den * clock->num / clock->den;
}

static void set_now(struct kipt_clock *clock, u64 time)
{
	u64 high = clock->high < clock->limit ? clock->high : clock->limit;
	u64 error;

	clock->reckoned = time;
	if (time > clock->limit)
		time = clock->limit;
	if (time > clock->now)
		clock->now = time;
	error = clock->now > clock->low ? clock->now - clock->low :
					  clock->low - clock->now;
	if (high > clock->now && high - clock->now > error)
		error = high - clock->now;
	clock->error = error < KIPT_CLOCK_UNKNOWN ? (u32)error :
						    KIPT_CLOCK_UNKNOWN;
	clock->moved = true;
}

/* CYCs count from here. */
static void set_anchor(struct kipt_clock *clock, u64 time)
{
	clock->anchor = time;
	clock->anchor_low = clock->low;
	clock->anchor_high = clock->high;
	clock->cycles = 0;
	clock->first = 0;
	clock->slowest = clock->cbr;
}

/* CYCs and MTCs are compared from here on. */
static void start_span(struct kipt_clock *clock)
{
	clock->confirmed = false;
	clock->refuted = false;
	clock->span_low = clock->low;
	clock->span_high = clock->high;
	clock->span_cycles = 0;
	clock->span_first = 0;
	clock->span_most = 0;
	clock->measured_cycles = 0;
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
	clock->high = KIPT_CLOCK_NEVER;
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
	clock->low = time;
	clock->high = time;
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

/* The time in which the core has run @cycles at least, at a ratio one more than
 * CBR's; and at most, at one less.
 */
static u64 least_ticks(const struct kipt_clock *clock, u64 cycles)
{
	return cycles ? (cycles - 1) * clock->p1 / (clock->cbr + 1) : 0;
}

static u64 most_ticks(const struct kipt_clock *clock, u64 cycles)
{
	return (cycles + 1) * clock->p1 / (clock->cbr - 1) + ROUNDING;
}

/* Did the core run as CBR said, from the last TSC or CBR up to this MTC? It may
 * have gone on for as long as the longest CYC since the last. Some CYCs have to
 * agree before it is believed.
 */
static void compare_cycles(struct kipt_clock *clock, u64 low, u64 high)
{
	u64 rest = clock->span_cycles - clock->span_first;
	bool agree;

	if (!clock->span_cycles || clock->lost || clock->cbr < 2 ||
	    !clock->p1 || clock->span_high == KIPT_CLOCK_NEVER)
		return;
	agree = clock->span_low + least_ticks(clock, rest) <= high &&
		low <= clock->span_high +
			       most_ticks(clock, clock->span_cycles +
						 clock->span_most);
	clock->refuted = !agree;
	clock->confirmed = agree &&
			   clock->span_cycles / SPAN_CYCS >= clock->span_most;
}

static void measure_cycles(struct kipt_clock *clock, u64 time)
{
	u64 ticks = time - clock->span_low;

	if (clock->lost || !clock->span_cycles || time <= clock->span_low ||
	    ticks >> 32)
		return;
	clock->measured_ticks = ticks;
	clock->measured_cycles = clock->span_cycles;
}

/* What CYCs say about the time before an MTC holds, unless it is refuted. */
static void bound_by_mtc(struct kipt_clock *clock, u64 time)
{
	u64 slack = art_to_tsc(clock, 1) + ROUNDING;
	u64 low = time > slack ? time - slack : 0;

	compare_cycles(clock, low, time + slack);
	measure_cycles(clock, time);
	if (clock->low < low || (!clock->lost && clock->low > time + slack))
		clock->low = low;
	clock->high = clock->lost ? KIPT_CLOCK_NEVER : time + slack;
	if (clock->span_high == KIPT_CLOCK_NEVER)
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

/* CYCs say how far it is from the anchor, at the ratio that CBR said. The first
 * may have begun before the anchor, and at another ratio.
 */
static void bound_by_cyc(struct kipt_clock *clock)
{
	u64 rest = clock->cycles - clock->first;

	clock->low = clock->anchor_low;
	clock->high = KIPT_CLOCK_NEVER;
	if (!clock->p1 || !clock->cbr || clock->lost || (clock->counting && !clock->confirmed))
		return;
	clock->low += least_ticks(clock, rest);
	if (clock->anchor_high != KIPT_CLOCK_NEVER && clock->slowest > 1)
		clock->high = clock->anchor_high + most_ticks(clock, rest) +
			      (clock->first + 1) * clock->p1 /
				      (clock->slowest - 1);
}

static u64 cycles_to_tsc(const struct kipt_clock *clock)
{
	if (clock->p1 && clock->cbr && !clock->refuted)
		return clock->cycles * clock->p1 / clock->cbr;
	if (clock->measured_cycles && !(clock->cycles >> 32))
		return clock->cycles * clock->measured_ticks /
		       clock->measured_cycles;
	return 0;
}

static void on_cyc(struct kipt_clock *clock, u64 cycles)
{
	bool first = !clock->cycles;

	clock->spent += cycles;
	if (!clock->valid || cycles >> CYCLES_BITS ||
	    (clock->span_cycles + cycles) >> CYCLES_BITS)
		return;
	clock->cycles += cycles;
	clock->span_cycles += cycles;
	if (first)
		clock->first = cycles;
	if (clock->span_cycles == cycles)
		clock->span_first = cycles;
	if (cycles > clock->span_most)
		clock->span_most = cycles;
	bound_by_cyc(clock);
	set_now(clock, clock->anchor + cycles_to_tsc(clock));
}

/* The trace does not say when the ratio changed: the next CYC covers both sides of it. */
static void on_cbr(struct kipt_clock *clock, u32 cbr)
{
	u32 slowest = clock->cycles ? clock->cbr : clock->slowest;

	if (cbr == clock->cbr)
		return;
	clock->cbr = cbr;
	set_anchor(clock, clock->reckoned);
	start_span(clock);
	if (slowest && slowest < cbr)
		clock->slowest = slowest;
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
