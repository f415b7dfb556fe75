/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reproducible random numbers: the same seed gives the same program, walk and
 * packets on every machine. User space.
 */
#ifndef KIPT_SELFTESTS_RANDOM_RNG_H
#define KIPT_SELFTESTS_RANDOM_RNG_H

#include "../../kmod/decode/port.h"

/**
 * struct rng - one stream of random numbers
 * @state: any value is a seed
 */
struct rng {
	u64 state;
};

/**
 * rng_next() - 64 random bits
 * @rng: the stream
 *
 * Return: the bits.
 */
static inline u64 rng_next(struct rng *rng)
{
	u64 mix = rng->state += 0x9e3779b97f4a7c15ULL;

	mix = (mix ^ mix >> 30) * 0xbf58476d1ce4e5b9ULL;
	mix = (mix ^ mix >> 27) * 0x94d049bb133111ebULL;
	return mix ^ mix >> 31;
}

/**
 * rng_below() - a number
 * @rng: the stream
 * @limit: 1 or more
 *
 * Return: 0 .. @limit - 1.
 */
static inline u32 rng_below(struct rng *rng, u32 limit)
{
	return (u32)((rng_next(rng) >> 32) * limit >> 32);
}

/**
 * rng_chance() - yes or no
 * @rng: the stream
 * @permille: how often yes, of 1000
 *
 * Return: the answer.
 */
static inline bool rng_chance(struct rng *rng, u32 permille)
{
	return rng_below(rng, 1000) < permille;
}

#endif /* KIPT_SELFTESTS_RANDOM_RNG_H */
