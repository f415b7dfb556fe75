/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Packed records, which name paths and then say which were taken, and the
 * plain ones they stand for. Packed records may come from a file: nothing
 * they say is trusted.
 */
#ifndef KIPT_UNPACK_PATHS_H
#define KIPT_UNPACK_PATHS_H

#include <stdbool.h>

#include "summary.h"

struct unpack;

/**
 * unpack_create() - no path is known
 *
 * Return: the caller's until unpack_destroy(); NULL without memory.
 */
struct unpack *unpack_create(void);

/**
 * unpack_destroy() - free it
 * @unpack: may be NULL
 */
void unpack_destroy(struct unpack *unpack);

/**
 * unpack_records() - the plain records that packed ones stand for
 * @unpack: knows the paths that came before
 * @records: any records, in order; plain ones come out as they are
 * @count: how many
 * @take: gets the plain ones, in batches; false ends it
 * @ctx: its first argument
 *
 * Return: true, or false after a sentence, or if @take returned false.
 */
bool unpack_records(struct unpack *unpack, const struct kipt_record *records,
		    u32 count,
		    bool (*take)(void *ctx, const struct kipt_record *records,
				 u32 count), void *ctx);

/**
 * unpack_tally() - count the plain records without making them
 * @unpack: as for unpack_records(), but not used for both
 * @records: any records, in order
 * @count: how many
 * @tally: its hash is left alone
 *
 * Return: true, or false after a sentence.
 */
bool unpack_tally(struct unpack *unpack, const struct kipt_record *records,
		  u32 count, struct tally *tally);

#endif /* KIPT_UNPACK_PATHS_H */
