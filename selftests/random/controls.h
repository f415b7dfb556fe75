/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Negative controls: what is wrong must be found. User space.
 */
#ifndef KIPT_SELFTESTS_RANDOM_CONTROLS_H
#define KIPT_SELFTESTS_RANDOM_CONTROLS_H

#include "check.h"

enum control {
	CONTROL_BIT = 0,	/* an outcome, or a bit of a target, is flipped */
	CONTROL_PACKET,		/* a TNT or TIP is missing */
	CONTROL_TRUTH,		/* a branch of the truth goes elsewhere */
	CONTROLS,
};

extern const char *const control_names[CONTROLS];

/**
 * control_run() - make one thing wrong and compare
 * @check: the memory
 * @walk: a walk that compares well; as it was, afterwards
 * @rng: what chooses
 * @control: what to make wrong
 * @seen: the comparison failed, as it must
 *
 * Return: false if the walk has nothing that could be made wrong.
 */
bool control_run(struct check *check, struct walk *walk, struct rng *rng,
		 enum control control, bool *seen);

#endif /* KIPT_SELFTESTS_RANDOM_CONTROLS_H */
