/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Packed records, and the plain ones they mean. Packed records may come from a
 * file, also one of an earlier version: nothing they say is trusted.
 */
#ifndef KIPT_UNPACK_H
#define KIPT_UNPACK_H

#include <stdbool.h>

#include "../../../kmod/decode/port.h"

struct unpack;

/**
 * unpack_create() - no node and no path is known
 *
 * Return: the caller's until unpack_destroy(); NULL without memory, after a sentence.
 */
struct unpack *unpack_create(void);

/**
 * unpack_destroy() - free it
 * @unpack: may be NULL
 */
void unpack_destroy(struct unpack *unpack);

/**
 * unpack_wants() - are records for unpack_records() alone
 * @records: any
 * @count: how many
 *
 * Return: true if one is packed, or says what packed ones mean.
 */
bool unpack_wants(const struct kipt_record *records, u32 count);

/**
 * unpack_records() - the plain records that packed ones mean
 * @unpack: knows what came before
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

#endif /* KIPT_UNPACK_H */
