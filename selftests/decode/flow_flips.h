/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A flow test with each of its bits flipped. User space.
 */
#ifndef KIPT_SELFTESTS_DECODE_FLOW_FLIPS_H
#define KIPT_SELFTESTS_DECODE_FLOW_FLIPS_H

#include "flow_case.h"

/**
 * flow_flips() - flip one bit after the other
 * @test: the test; its packets are as they were afterwards
 * @whole: its records
 *
 * A bit that means nothing must change nothing, one that the test lists under
 * [unseen] does not, and every other one must change a record.
 *
 * Return: NULL, or a sentence about the first that is not so.
 */
const char *flow_flips(struct flow_case *test, const struct record_list *whole);

#endif /* KIPT_SELFTESTS_DECODE_FLOW_FLIPS_H */
