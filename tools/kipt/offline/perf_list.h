/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The packets of all trace in a recording of perf.
 */
#ifndef KIPT_PERF_LIST_H
#define KIPT_PERF_LIST_H

#include <stdbool.h>

/**
 * perf_list() - list the packets of a recording, CPU by CPU
 * @path: perf_file_is()
 * @json: as JSON Lines
 *
 * Return: true, or false after a sentence.
 */
bool perf_list(const char *path, bool json);

#endif /* KIPT_PERF_LIST_H */
