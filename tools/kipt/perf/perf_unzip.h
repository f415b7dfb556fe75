/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events that perf record -z compressed: one zstd stream over all of a file,
 * cut into pieces anywhere.
 */
#ifndef KIPT_PERF_UNZIP_H
#define KIPT_PERF_UNZIP_H

#include <stdbool.h>

#include "../../../kmod/decode/port.h"

struct perf_unzip;

/**
 * perf_unzip_create() - nothing came yet
 * @path: the file, for sentences; must live as long
 *
 * Return: the caller's until perf_unzip_destroy(); NULL after a sentence, for
 * one if kipt was built without zstd.
 */
struct perf_unzip *perf_unzip_create(const char *path);

/**
 * perf_unzip_destroy() - free it
 * @unzip: may be NULL
 */
void perf_unzip_destroy(struct perf_unzip *unzip);

/**
 * perf_unzip() - the next piece
 * @unzip: knows those before
 * @bytes: compressed
 * @size: how many
 * @take: gets plain bytes, those that it left last time first; returns how many
 *	it took, or -1 to end
 * @ctx: its first argument
 *
 * Return: true, or false after a sentence, or if @take ended it.
 */
bool perf_unzip(struct perf_unzip *unzip, const u8 *bytes, u64 size,
		s64 (*take)(void *ctx, const u8 *bytes, u64 size), void *ctx);

/**
 * perf_unzip_left() - is something left that is no whole event
 * @unzip: got all pieces; may be NULL
 *
 * Return: true if bytes are left, or some of a block are missing.
 */
bool perf_unzip_left(const struct perf_unzip *unzip);

#endif /* KIPT_PERF_UNZIP_H */
