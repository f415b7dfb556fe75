/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A perf.data as `perf record` would have left it: many processes, each
 * traced by itself, each with one walk's trace, and the code of all of them in
 * one ELF file. User space.
 */
#ifndef KIPT_SELFTESTS_RANDOM_PERF_DATA_H
#define KIPT_SELFTESTS_RANDOM_PERF_DATA_H

#include <stdio.h>

#include "walk.h"

#define PERF_DATA_NAME	256

/**
 * struct perf_data - the files in the making
 * @data: perf.data
 * @code: the ELF file
 * @code_name: its name
 * @code_size: its bytes so far
 * @failed: a file could not be written
 */
struct perf_data {
	FILE *data;
	FILE *code;
	char code_name[PERF_DATA_NAME];
	u64 code_size;
	bool failed;
};

/**
 * perf_data_begin() - make both files
 * @data: filled
 * @folder: where they are: perf.data and code
 * @disretc: RETs are not compressed in these traces
 *
 * Return: false if that cannot be done.
 */
bool perf_data_begin(struct perf_data *data, const char *folder, bool disretc);

/**
 * perf_data_add() - add a walk
 * @data: the files
 * @pid: of its process
 * @walk: of a program in 64-bit mode, without a kernel
 */
void perf_data_add(struct perf_data *data, u32 pid, const struct walk *walk);

/**
 * perf_data_end() - finish both files
 * @data: the files
 *
 * Return: false if something could not be written.
 */
bool perf_data_end(struct perf_data *data);

#endif /* KIPT_SELFTESTS_RANDOM_PERF_DATA_H */
