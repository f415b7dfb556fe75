/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A file that is to be a raw trace.
 */
#ifndef KIPT_TRACE_FILE_H
#define KIPT_TRACE_FILE_H

#include "../cli/file_map.h"

/**
 * trace_file_open() - map a raw trace
 * @trace: filled on success
 * @path: its name
 *
 * Return: true, or false after a sentence, which of a folder of --save says what to do.
 */
bool trace_file_open(struct file_map *trace, const char *path);

/**
 * trace_file_check() - is there a PSB in it
 * @trace: is open
 * @path: its name
 *
 * Return: true, or false after a sentence that says what it is instead.
 */
bool trace_file_check(const struct file_map *trace, const char *path);

#endif /* KIPT_TRACE_FILE_H */
