/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How far apart events are, by their TSCs. Those of two CPUs may differ a little; that
 * of a machine that has slept is younger than before, perhaps by days. Any context.
 */
#ifndef KIPT_TSC_AGE_H
#define KIPT_TSC_AGE_H

#include "../decode/port.h"

/* TSCs of two CPUs are less apart. */
#define KIPT_TSC_SKEW_MS	1000ULL

/**
 * kipt_tsc_is_near() - whether two events are close to each other
 * @a: TSC of one
 * @b: TSC of the other
 * @ticks: what is close is less than this
 *
 * Return: whether they are, whichever is the later one.
 */
static inline bool kipt_tsc_is_near(u64 a, u64 b, u64 ticks)
{
	return a - b < ticks || b - a < ticks;
}

/**
 * kipt_tsc_follows() - whether an event comes soon after another
 * @later: its TSC
 * @earlier: TSC of the other
 * @most: ticks between them, at most
 * @slack: ticks by which @later may be the smaller one: another CPU's TSC
 *
 * Return: whether it does; not if the TSC began anew between them, and is younger yet.
 */
static inline bool kipt_tsc_follows(u64 later, u64 earlier, u64 most, u64 slack)
{
	return later - earlier + slack <= most + slack;
}

#endif /* KIPT_TSC_AGE_H */
