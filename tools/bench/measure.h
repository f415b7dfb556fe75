/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All figures of a trace: what is measured in which order, and the checks that
 * what was measured is right. User space.
 */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include "trace.h"

/**
 * struct bench_plan - what to measure, and how long
 * @modes: bits of enum bench_mode
 * @rounds: the best of so many measurements counts, after one that does not
 */
struct bench_plan {
	unsigned int modes;
	int rounds;
};

/**
 * bench_measure() - measure a trace, and report it
 * @trace: loaded; its name is used by the report
 * @plan: what
 *
 * Return: false after a sentence on stderr, if anything was decoded wrongly.
 */
bool bench_measure(const struct bench_trace *trace,
		   const struct bench_plan *plan);

#endif /* BENCH_MEASURE_H */
