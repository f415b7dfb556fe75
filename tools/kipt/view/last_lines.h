/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A file for writing that keeps the last lines of what is written to it.
 */
#ifndef KIPT_LAST_LINES_H
#define KIPT_LAST_LINES_H

#include <stdio.h>

#include "../../../kmod/decode/port.h"

struct last_lines;

/**
 * last_lines_create() - nothing is written yet
 * @count: lines that are kept, at least 1
 *
 * Return: the caller's until last_lines_destroy(); NULL without memory.
 */
struct last_lines *last_lines_create(u32 count);

/**
 * last_lines_file() - where to write
 * @lines: lines
 *
 * Return: a file, the lines' own.
 */
FILE *last_lines_file(struct last_lines *lines);

/**
 * last_lines_show() - write what is kept to another file
 * @lines: lines
 * @out: the file
 *
 * Return: how many lines are not kept any more.
 */
u64 last_lines_show(struct last_lines *lines, FILE *out);

/**
 * last_lines_destroy() - free it all
 * @lines: may be NULL
 */
void last_lines_destroy(struct last_lines *lines);

#endif /* KIPT_LAST_LINES_H */
