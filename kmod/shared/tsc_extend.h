/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Times in packets have 56 bits, all others 64: kipt_tsc_extend() of clock.h. Any context.
 */
#ifndef KIPT_TSC_EXTEND_H
#define KIPT_TSC_EXTEND_H

#include "../decode/packet/clock.h"

/**
 * kipt_tsc_of_run() - what to extend all times of a run by
 * @start: TSC when it began
 *
 * A run is shorter than 2^56 ticks, half a year of the fastest clocks. The
 * TSCs of CPUs may be some minutes apart.
 *
 * Return: a TSC less than 2^55 ticks away from all of them.
 */
static inline u64 kipt_tsc_of_run(u64 start)
{
	return start + (1ULL << 55) - (1ULL << 40);
}

#endif /* KIPT_TSC_EXTEND_H */
