/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All figures of a trace: what is measured in which order, and the checks that
 * what was measured is right. User space.
 */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include "trace.h"

/**
 * struct bench_plan - what to measure, and how often
 * @modes: bits of enum bench_mode_id
 * @rounds: in each of them each way to decode is measured once
 */
struct bench_plan {
	unsigned int modes;
	int rounds;
};

/**
 * bench_measure() - measure a trace, and report it
 * @trace: loaded
 * @plan: what
 *
 * Return: false after a sentence on stderr, if anything was decoded wrongly.
 */
bool bench_measure(const struct bench_trace *trace,
		   const struct bench_plan *plan);

#endif /* BENCH_MEASURE_H */
