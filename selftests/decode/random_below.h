/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Random numbers for tests, the same in each run of a program. User space.
 */
#ifndef KIPT_SELFTESTS_DECODE_RANDOM_BELOW_H
#define KIPT_SELFTESTS_DECODE_RANDOM_BELOW_H

#include "../../kmod/decode/port.h"

/**
 * random_below() - the next number
 * @bound: more than any result; not 0
 *
 * Return: 0..@bound - 1.
 */
static inline u32 random_below(u32 bound)
{
	static u64 state = 88172645463325252ULL;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (u32)((state >> 32) * bound >> 32);
}

#endif /* KIPT_SELFTESTS_DECODE_RANDOM_BELOW_H */
