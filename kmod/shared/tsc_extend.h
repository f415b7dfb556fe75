/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Times in packets have 56 bits, all others 64. Any context.
 */
#ifndef KIPT_TSC_EXTEND_H
#define KIPT_TSC_EXTEND_H

#include "../decode/port.h"

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
