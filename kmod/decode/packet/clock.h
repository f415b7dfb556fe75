/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From TSC, TMA, MTC, CYC and CBR packets to an estimated TSC and a bound of
 * its error (Intel SDM Vol. 3C, "Tracing Time and Timing Packets"). Integers
 * only. The clock starts anew at every PSB. Packets, and what MTCs say, are clock.c's; what CYCs
 * say is clock_anchor.h's; whether that is to be believed, clock_span.h's. Any context.
 *
 * What is estimated is when the last timing packet was due: an MTC at its ART
 * edge, a CYC at the packet after it. What the bound rests on: TSC packets and
 * CPUID.15H are exact; between two CBR packets the core runs at the ratio of the
 * first, give or take one, unless MTCs refute it. Until they confirm it, and
 * after an overflow, which may hide any number of windows of the MTC and any
 * change of the ratio, the bound is what TSC the next PSB+ has, if there is one.
 */
#ifndef KIPT_DECODE_CLOCK_H
#define KIPT_DECODE_CLOCK_H

#include "clock_anchor.h"
#include "packet.h"

#define KIPT_CLOCK_UNKNOWN	0xffffffffU

/**
 * struct kipt_clock - estimated time
 * @num: TSC ticks per ART tick, numerator; 0: MTCs cannot be used
 * @den: its denominator
 * @mtc_freq: RTIT_CTL.MTCFreq
 * @core: the ratio; without its P1 CYCs are measured against MTCs
 * @near: a TSC near the trace's, for its upper 8 bits; 0: unknown
 * @now: estimated TSC; valid if @valid. Never goes back between two PSBs
 * @error: bound of its error in ticks, or KIPT_CLOCK_UNKNOWN
 * @valid: a TSC was seen
 * @moved: @now or @error changed since the user last cleared this
 * @spent: core cycles of the CYCs since the user last cleared this, or since the PSB
 * @lost: an overflow came after the last TSC
 * @fresh: the last of TSC, TMA and MTC was a TSC: a TMA belongs to it
 * @counting: MTCs can be converted: a TMA was seen
 * @high_unknown: TMA did not hold the upper bits of @last_mtc
 * @last_mtc: payload of the last MTC, or what it would have been at @base
 * @base: TSC at an ART count that an MTC could have been sent at
 * @ticks: ART ticks since @base
 * @reckoned: @now, if it could go back and beyond @limit
 * @at: what is certain of the time that the last timing packet was due
 * @limit: TSC of the next PSB+
 * @anchor: CYCs count from here
 * @span: CYCs and MTCs are compared
 */
struct kipt_clock {
	u32 num;
	u32 den;
	u8 mtc_freq;
	struct kipt_clock_core core;
	u64 near;
	u64 now;
	u32 error;
	bool valid;
	bool moved;
	bool lost;
	bool fresh;
	bool counting;
	bool high_unknown;
	u8 last_mtc;
	u64 spent;
	u64 base;
	u64 ticks;
	u64 reckoned;
	struct kipt_clock_bound at;
	u64 limit;
	struct kipt_clock_anchor anchor;
	struct kipt_clock_span span;
};

/**
 * kipt_tsc_extend() - the 64 bits of a time in a TSC packet
 * @near: a TSC less than 2^55 ticks away from it
 * @value: the 56 bits
 *
 * Return: the TSC next to @near with these lower 56 bits.
 */
static inline u64 kipt_tsc_extend(u64 near, u64 value)
{
	const u64 span = 1ULL << 56;
	u64 time = (near & ~(span - 1)) | (value & (span - 1));

	if (time < near && near - time > span / 2)
		return time + span;
	if (time > near && time - near > span / 2 && time >= span)
		return time - span;
	return time;
}

/**
 * kipt_clock_init() - set what does not change
 * @clock: the clock
 * @num: CPUID.15H:EBX, 0 if unknown
 * @den: CPUID.15H:EAX, 0 if unknown
 * @mtc_freq: RTIT_CTL.MTCFreq, 0..15
 * @p1: MSR_PLATFORM_INFO[15:8], 0 if unknown
 * @near: a TSC less than 2^55 ticks from the trace's, for the upper 8 bits, which packets
 *	do not have; 0: unknown, they count from 0
 */
void kipt_clock_init(struct kipt_clock *clock, u32 num, u32 den, u8 mtc_freq, u8 p1, u64 near);

/**
 * kipt_clock_reset() - forget the time: a PSB
 * @clock: the clock
 */
void kipt_clock_reset(struct kipt_clock *clock);

/**
 * kipt_clock_limit() - what follows, up to the next reset, was before this
 * @clock: after the packets of a PSB+
 * @tsc: value of the TSC packet of the next PSB+
 *
 * Ignored where it contradicts the TSC of this PSB+: the guest of a virtual
 * machine and its host count differently.
 */
void kipt_clock_limit(struct kipt_clock *clock, u64 tsc);

/**
 * kipt_clock_lost() - packets were lost: MTCs and CYCs too, maybe
 * @clock: the clock
 */
void kipt_clock_lost(struct kipt_clock *clock);

/**
 * kipt_clock_packet() - account a packet
 * @clock: the clock
 * @packet: any packet; those without time are ignored
 */
void kipt_clock_packet(struct kipt_clock *clock,
		       const struct kipt_packet *packet);

#endif /* KIPT_DECODE_CLOCK_H */
