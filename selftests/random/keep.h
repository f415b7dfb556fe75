/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is kept of a program that failed. User space.
 */
#ifndef KIPT_SELFTESTS_RANDOM_KEEP_H
#define KIPT_SELFTESTS_RANDOM_KEEP_H

#include <stdio.h>

#include "check.h"

/**
 * keep_program() - write program, configuration, trace and records to files
 * @folder: where; made if it is not there
 * @seed: the name: SEED.txt is to be read, SEED.pt is the trace
 * @walk: the walk
 * @check: records of the failed mode; NULL: none
 * @why: what is wrong
 *
 * Return: true if they were written.
 */
bool keep_program(const char *folder, u64 seed, const struct walk *walk,
		  const struct check *check, const char *why);

/**
 * keep_show() - print program, configuration and trace
 * @file: where to
 * @walk: the walk
 */
void keep_show(FILE *file, const struct walk *walk);

#endif /* KIPT_SELFTESTS_RANDOM_KEEP_H */
