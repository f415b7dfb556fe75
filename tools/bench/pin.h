/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * On which CPUs this thread, and threads it makes later, may run. User space.
 */
#ifndef BENCH_PIN_H
#define BENCH_PIN_H

/**
 * bench_pin_one() - stay on one CPU, the last of those that are allowed
 */
void bench_pin_one(void);

/**
 * bench_pin_none() - all CPUs that were allowed when the program began
 *
 * Return: how many these are.
 */
int bench_pin_none(void);

#endif /* BENCH_PIN_H */
