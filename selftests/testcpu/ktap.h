/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAP output for the user-space tests of the test CPU: one numbered line per
 * case, diagnostics after '#'. Owns the counters of one test program, single
 * thread.
 */
#ifndef TESTCPU_KTAP_H
#define TESTCPU_KTAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

/** ktap_case - report one case; Return: @ok */
bool __attribute__((format(printf, 2, 3)))
ktap_case(bool ok, const char *format, ...);

/** ktap_finish - the plan, and the exit status of the program */
int ktap_finish(void);

#endif /* TESTCPU_KTAP_H */
