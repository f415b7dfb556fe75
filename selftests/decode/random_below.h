/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Random numbers for tests, the same in each run of a program. User space.
 */
#ifndef KIPT_SELFTESTS_DECODE_RANDOM_BELOW_H
#define KIPT_SELFTESTS_DECODE_RANDOM_BELOW_H

#include "../../kmod/decode/port.h"

/* The next of 64 bits. */
static inline u64 random_bits(void)
{
	static u64 state = 88172645463325252ULL;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* The next of 32 bits. */
static inline u32 next_random(void)
{
	return (u32)(random_bits() >> 16);
}

/**
 * random_below() - the next number
 * @bound: more than any result; not 0
 *
 * Return: 0..@bound - 1.
 */
static inline u32 random_below(u32 bound)
{
	return (u32)((random_bits() >> 32) * bound >> 32);
}

#endif /* KIPT_SELFTESTS_DECODE_RANDOM_BELOW_H */
