/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All the ways in which a flow test's packets can be decoded, each of which
 * must give what decoding them as a whole gives. User space.
 */
#ifndef KIPT_SELFTESTS_DECODE_FLOW_WAYS_H
#define KIPT_SELFTESTS_DECODE_FLOW_WAYS_H

#include "flow_case.h"

/**
 * flow_ways_fed() - feed the packets byte by byte, at every split, in chunks
 * @test: the test
 * @whole: its records
 *
 * Return: NULL, or a sentence about what differed.
 */
const char *flow_ways_fed(struct flow_case *test,
			  const struct record_list *whole);

/**
 * flow_ways_outputs() - decode with and without the memo, packed, counted,
 * calls and instructions only
 * @test: the test
 * @whole: its records
 *
 * Return: NULL, or a sentence about what differed.
 */
const char *flow_ways_outputs(struct flow_case *test,
			      const struct record_list *whole);

#endif /* KIPT_SELFTESTS_DECODE_FLOW_WAYS_H */
