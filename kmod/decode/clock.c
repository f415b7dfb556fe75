// SPDX-License-Identifier: GPL-2.0-only
/*
 * Time estimation. Every estimate is derived from the whole count since an
 * anchor, so that rounding does not add up; between two PSBs time does not
 * go back. Any context.
 */
#include "clock.h"

void kipt_clock_init(struct kipt_clock *clock, u32 num, u32 den, u8 mtc_freq,
		     u8 p1)
{
	memset(clock, 0, sizeof(*clock));
	clock->num = den ? num : 0;
	clock->den = den;
	clock->mtc_freq = mtc_freq & 15;
	clock->p1 = p1;
	clock->error = KIPT_CLOCK_UNKNOWN;
}

void kipt_clock_reset(struct kipt_clock *clock)
{
	kipt_clock_init(clock, clock->num, clock->den, clock->mtc_freq,
			clock->p1);
}

void kipt_clock_lost(struct kipt_clock *clock)
{
	clock->counting = false;
	clock->cycles = 0;
	clock->anchor = clock->now;
	clock->error = KIPT_CLOCK_UNKNOWN;
	clock->moved = clock->valid;
}

/* ART ticks to TSC ticks; whole periods first, so nothing overflows. */
static u64 art_to_tsc(const struct kipt_clock *clock, u64 ticks)
{
	return ticks / clock->den * clock->num +
	       ticks % clock->den * clock->num / clock->den;
}

static void set_now(struct kipt_clock *clock, u64 time, u64 error)
{
	if (time > clock->now)
		clock->now = time;
	clock->error = error < KIPT_CLOCK_UNKNOWN ? (u32)error :
						    KIPT_CLOCK_UNKNOWN;
	clock->moved = true;
}

/* Small steps back are noise of the counters, not a new time base. */
static void on_tsc(struct kipt_clock *clock, u64 tsc)
{
	clock->valid = true;
	clock->counting = false;
	clock->base = tsc;
	clock->anchor = tsc;
	clock->cycles = 0;
	set_now(clock, tsc, 0);
}

/* TMA gives 16 bits of ART: with MTCFreq above 8 they do not reach the top of
 * the 8-bit window that an MTC shows.
 */
static void on_tma(struct kipt_clock *clock, u32 ctc, u32 fast)
{
	u32 rem = ctc & ((1U << clock->mtc_freq) - 1);

	if (!clock->valid || !clock->num)
		return;
	clock->base = clock->anchor - fast - art_to_tsc(clock, rem);
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

static void on_mtc(struct kipt_clock *clock, u8 mtc)
{
	u64 time;

	if (!clock->counting)
		return;
	clock->ticks += (u64)mtc_delta(clock, mtc) << clock->mtc_freq;
	clock->last_mtc = mtc;
	time = clock->base + art_to_tsc(clock, clock->ticks);
	clock->cycles = 0;
	clock->anchor = time > clock->now ? time : clock->now;
	set_now(clock, time, art_to_tsc(clock, 1) + 1);
}

/* The rate is only as good as CBR says: all of the distance may be wrong. */
static void on_cyc(struct kipt_clock *clock, u64 cycles)
{
	u64 ticks;

	clock->cycles += cycles;
	if (!clock->valid || !clock->p1 || !clock->cbr ||
	    clock->cycles >> 48)
		return;
	ticks = clock->cycles * clock->p1 / clock->cbr;
	set_now(clock, clock->anchor + ticks, ticks);
}

static void on_cbr(struct kipt_clock *clock, u32 cbr)
{
	if (cbr == clock->cbr)
		return;
	clock->cbr = cbr;
	clock->anchor = clock->now;
	clock->cycles = 0;
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
