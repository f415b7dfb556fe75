/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The names of what a walk may do, and where libipt reads it in another way
 * than the manual. User space.
 */
#ifndef KIPT_SELFTESTS_RANDOM_FEATURES_H
#define KIPT_SELFTESTS_RANDOM_FEATURES_H

#include "walk.h"

/**
 * struct feature - one WALK_* bit
 * @name: what the test calls it
 * @differs: what libipt 2.0.5 makes of it that the manual does not say; NULL:
 *	it reads it as the manual says, and is held against the truth
 */
struct feature {
	const char *name;
	const char *differs;
};

/* By number of the bit. */
extern const struct feature features[WALK_BITS];

/**
 * features_peer() - what libipt reads as the manual says
 *
 * Return: WALK_* bits.
 */
u32 features_peer(void);

#endif /* KIPT_SELFTESTS_RANDOM_FEATURES_H */
