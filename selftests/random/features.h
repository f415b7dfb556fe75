/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The names of what a walk may do, and where the peers read it in another way
 * than the manual. User space.
 */
#ifndef KIPT_SELFTESTS_RANDOM_FEATURES_H
#define KIPT_SELFTESTS_RANDOM_FEATURES_H

#include "walk.h"

/**
 * struct feature - one WALK_* bit
 * @name: what the test calls it
 * @libipt: what libipt 2.0.5 makes of it that the manual does not say; NULL:
 *	it reads it as the manual says, and is compared with the truth
 * @perf: the same of perf 6.1
 */
struct feature {
	const char *name;
	const char *libipt;
	const char *perf;
};

/* By number of the bit. */
extern const struct feature features[WALK_BITS];

/**
 * features_libipt() - what libipt reads as the manual says
 *
 * Return: WALK_* bits.
 */
u32 features_libipt(void);

/**
 * features_perf() - what perf reads as the manual says
 *
 * Return: WALK_* bits.
 */
u32 features_perf(void);

#endif /* KIPT_SELFTESTS_RANDOM_FEATURES_H */
