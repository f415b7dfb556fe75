/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the ratios of some rounds say of a target. User space.
 */
#ifndef BENCH_VERDICT_H
#define BENCH_VERDICT_H

#include <stdbool.h>

/* Fewer rounds show no spread: they prove nothing. */
#define BENCH_ROUNDS_LEAST	3
#define BENCH_ROUNDS_MOST	99

/* Ratios may spread by this part of their median around a target. */
#define BENCH_SPREAD_MOST	0.20

/* In ascending order of what it means for all of it. */
enum bench_verdict {
	BENCH_MET,
	BENCH_NOISY,
	BENCH_MISSED,
};

/**
 * struct bench_ratios - ratios by round
 * @count: rounds
 * @disturbed: rounds in which other programs took time that counts
 * @round: the ratio of each
 */
struct bench_ratios {
	int count;
	int disturbed;
	double round[BENCH_ROUNDS_MOST];
};

/**
 * struct bench_spread - ratios in three numbers
 * @median: that of the rounds
 * @low: the least
 * @high: the greatest
 */
struct bench_spread {
	double median;
	double low;
	double high;
};

/**
 * bench_spread_of() - the three numbers
 * @ratios: one or more
 *
 * Return: they.
 */
struct bench_spread bench_spread_of(const struct bench_ratios *ratios);

/**
 * bench_verdict_of() - is a target met?
 * @ratios: one or more
 * @target: the ratio that is wanted
 *
 * Return:
 * BENCH_MET: every round reaches it, or the median does and the rounds are not
 *	too far apart.
 * BENCH_MISSED: no round reaches it, or the median does not, likewise.
 * BENCH_NOISY: the target lies within rounds that are further apart than
 *	BENCH_SPREAD_MOST of their median; other programs disturbed a round; or
 *	there are fewer than BENCH_ROUNDS_LEAST. A target of 0 is always met.
 */
enum bench_verdict bench_verdict_of(const struct bench_ratios *ratios,
				    double target);

#endif /* BENCH_VERDICT_H */
