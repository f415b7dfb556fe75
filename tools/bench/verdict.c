// SPDX-License-Identifier: GPL-2.0-only
/*
 * Judging ratios, see verdict.h.
 */
#include <stdlib.h>
#include <string.h>

#include "verdict.h"

static int ascending(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

struct bench_spread bench_spread_of(const struct bench_ratios *ratios)
{
	double sorted[BENCH_ROUNDS_MOST];
	int count = ratios->count;

	memcpy(sorted, ratios->round, (size_t)count * sizeof(*sorted));
	qsort(sorted, (size_t)count, sizeof(*sorted), ascending);
	return (struct bench_spread){
		.median = (sorted[count / 2] + sorted[(count - 1) / 2]) / 2,
		.low = sorted[0],
		.high = sorted[count - 1],
	};
}

enum bench_verdict bench_verdict_of(const struct bench_ratios *ratios,
				    double target)
{
	struct bench_spread spread = bench_spread_of(ratios);
	bool within = spread.low < target && target <= spread.high;

	if (target <= 0)
		return BENCH_MET;
	if (ratios->count < BENCH_ROUNDS_LEAST || ratios->disturbed ||
	    (within && spread.high - spread.low >
		       BENCH_SPREAD_MOST * spread.median))
		return BENCH_NOISY;
	return spread.median >= target ? BENCH_MET : BENCH_MISSED;
}
