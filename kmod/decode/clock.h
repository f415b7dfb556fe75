/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From TSC, TMA, MTC, CYC and CBR packets to an estimated TSC (Intel SDM
 * Vol. 3C, "Tracing Time and Timing Packets"). Integers only. The clock starts
 * anew at every PSB. Any context.
 */
#ifndef KIPT_DECODE_CLOCK_H
#define KIPT_DECODE_CLOCK_H

#include "packet.h"

#define KIPT_CLOCK_UNKNOWN	0xffffffffU

/**
 * struct kipt_clock - estimated time
 * @num: TSC ticks per ART tick, numerator; 0: MTCs cannot be used
 * @den: its denominator
 * @mtc_freq: RTIT_CTL.MTCFreq
 * @p1: maximum non-turbo ratio; 0: CYCs cannot be used
 * @now: estimated TSC; valid if @valid
 * @error: bound of its error in ticks, or KIPT_CLOCK_UNKNOWN
 * @valid: a TSC was seen
 * @moved: @now or @error changed since the user last cleared this
 * @counting: MTCs can be converted: a TMA was seen since the last loss
 * @high_unknown: TMA did not hold the upper bits of @last_mtc
 * @last_mtc: payload of the last MTC, or what it would have been at @base
 * @cbr: core:bus ratio, 0: unknown
 * @base: TSC at an ART count that an MTC could have been sent at
 * @ticks: ART ticks since @base
 * @anchor: TSC when @cycles was 0
 * @cycles: core cycles since @anchor
 */
struct kipt_clock {
	u32 num;
	u32 den;
	u8 mtc_freq;
	u8 p1;
	u64 now;
	u32 error;
	bool valid;
	bool moved;
	bool counting;
	bool high_unknown;
	u8 last_mtc;
	u32 cbr;
	u64 base;
	u64 ticks;
	u64 anchor;
	u64 cycles;
};

/**
 * kipt_clock_init() - set what does not change
 * @clock: the clock
 * @num: CPUID.15H:EBX, 0 if unknown
 * @den: CPUID.15H:EAX, 0 if unknown
 * @mtc_freq: RTIT_CTL.MTCFreq, 0..15
 * @p1: MSR_PLATFORM_INFO[15:8], 0 if unknown
 */
void kipt_clock_init(struct kipt_clock *clock, u32 num, u32 den, u8 mtc_freq,
		     u8 p1);

/**
 * kipt_clock_reset() - forget the time: a PSB
 * @clock: the clock
 */
void kipt_clock_reset(struct kipt_clock *clock);

/**
 * kipt_clock_lost() - packets were lost: keep the time, trust no count
 * @clock: the clock
 */
void kipt_clock_lost(struct kipt_clock *clock);

/**
 * kipt_clock_packet() - account a packet
 * @clock: the clock
 * @packet: any packet; those that tell no time are ignored
 */
void kipt_clock_packet(struct kipt_clock *clock,
		       const struct kipt_packet *packet);

#endif /* KIPT_DECODE_CLOCK_H */
