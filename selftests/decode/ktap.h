/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Test results in KTAP, for the decoder's user-space tests. The plan comes
 * last, so that tests can be found while running.
 */
#ifndef KIPT_SELFTESTS_DECODE_KTAP_H
#define KIPT_SELFTESTS_DECODE_KTAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

/**
 * struct ktap - results so far
 * @passed: tests that passed
 * @failed: tests that failed
 * @skipped: tests that could not be made
 */
struct ktap {
	unsigned int passed;
	unsigned int failed;
	unsigned int skipped;
};

/**
 * ktap_start() - the first line
 */
static inline void ktap_start(void)
{
	printf("KTAP version 1\n");
}

/**
 * ktap_result() - one test's result
 * @ktap: counts it
 * @good: passed
 * @format: the test's name
 */
static inline void __attribute__((format(printf, 3, 4)))
ktap_result(struct ktap *ktap, bool good, const char *format, ...)
{
	unsigned int number = ktap->passed + ktap->failed + ktap->skipped + 1;
	va_list args;

	if (good)
		ktap->passed++;
	else
		ktap->failed++;
	printf("%s %u ", good ? "ok" : "not ok", number);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
}

/**
 * ktap_skip() - a test that cannot be made here
 * @ktap: counts it
 * @name: the test's name
 * @reason: why
 */
static inline void ktap_skip(struct ktap *ktap, const char *name,
			     const char *reason)
{
	ktap->skipped++;
	printf("ok %u %s # SKIP %s\n",
	       ktap->passed + ktap->failed + ktap->skipped, name, reason);
}

/**
 * ktap_end() - the plan and the totals
 * @ktap: the results
 *
 * Return: the exit status: 0 passed, 1 failed, 4 nothing could be tested.
 */
static inline int ktap_end(const struct ktap *ktap)
{
	printf("1..%u\n", ktap->passed + ktap->failed + ktap->skipped);
	printf("# Totals: pass:%u fail:%u xfail:0 xpass:0 skip:%u error:0\n",
	       ktap->passed, ktap->failed, ktap->skipped);
	if (ktap->failed)
		return 1;
	return ktap->passed ? 0 : 4;
}

#endif /* KIPT_SELFTESTS_DECODE_KTAP_H */
