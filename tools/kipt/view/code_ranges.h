/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counts of what is at a place in a file: a table while they grow, then a list.
 */
#ifndef KIPT_CODE_RANGES_H
#define KIPT_CODE_RANGES_H

#include <stdbool.h>
#include <stddef.h>

#include "../../../kmod/decode/port.h"

/**
 * struct code_range - what is counted
 * @begin: offset in the file
 * @count: how often it happened; 0: there is nothing here
 * @size: its bytes, or another number
 * @file: number of its file
 * @sort: what it is, as whoever counts has it
 */
struct code_range {
	u64 begin;
	u64 count;
	u32 size;
	u16 file;
	u16 sort;
};

/**
 * struct code_ranges - counts
 * @list: an open hash table, at most half full; after code_ranges_settle() a list by file,
 *	begin, size and sort
 * @room: of the table
 * @count: ranges in it
 * @seed: of its hash: nobody who writes a file knows which ranges go to one place
 * @dropped: sum of the counts for which there was no room
 */
struct code_ranges {
	struct code_range *list;
	size_t room, count;
	u64 seed, dropped;
};

/**
 * code_ranges_init() - nothing was counted yet
 * @ranges: filled
 *
 * Return: true, or false without memory.
 */
bool code_ranges_init(struct code_ranges *ranges);

/**
 * code_ranges_free() - free the list
 * @ranges: were initialized, or all zero
 */
void code_ranges_free(struct code_ranges *ranges);

/**
 * code_ranges_count() - one happened
 * @ranges: where to
 * @range: what, with a @count of 1
 */
void code_ranges_count(struct code_ranges *ranges, const struct code_range *range);

/**
 * code_ranges_settle() - no more will come
 * @ranges: become a list in order, in which each is there once
 * @keep: may change a range; false: it is to be left out
 * @ctx: its first argument
 *
 * Return: the sum of the counts that were left out.
 */
u64 code_ranges_settle(struct code_ranges *ranges,
		       bool (*keep)(void *ctx, struct code_range *range), void *ctx);

#endif /* KIPT_CODE_RANGES_H */
