/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which file the code of a process was mapped from at a time, in the tables of
 * uapi/linux/kipt_raw.h. They are a caller's word: a search in one that is not in
 * order finds nothing or something wrong, and always ends.
 *
 * Pure: knows tables, no kernel. Lookups may run side by side.
 */
#ifndef KIPT_IMAGE_TABLE_H
#define KIPT_IMAGE_TABLE_H

#include "../decode/port.h"
#include "../../uapi/linux/kipt_raw.h"

/**
 * struct kipt_image_table - what is known
 * @spaces: address spaces, by process and time
 * @ranges: their ranges
 * @bases: of each space, the first of those since the last fork or exec
 * @changes: when spaces begin that are not new, in order; room for @nr_spaces
 * @nr_spaces: how many address spaces
 * @nr_ranges: how many ranges
 * @nr_changes: how many changes
 */
struct kipt_image_table {
	struct kipt_raw_space *spaces;
	struct kipt_raw_range *ranges;
	u32 *bases;
	u64 *changes;
	u32 nr_spaces;
	u32 nr_ranges;
	u32 nr_changes;
};

/**
 * struct kipt_image_place - where code is
 * @file: number of a file, or KIPT_RAW_VDSO
 * @offset: in it
 */
struct kipt_image_place {
	u32 file;
	u64 offset;
};

/**
 * enum kipt_image_found - what is known of an address
 * @KIPT_IMAGE_NONE: nothing, or that it was memory of no file
 * @KIPT_IMAGE_FILE: a file
 * @KIPT_IMAGE_UNSURE: several things in the course of the time that is asked for
 */
enum kipt_image_found {
	KIPT_IMAGE_NONE,
	KIPT_IMAGE_FILE,
	KIPT_IMAGE_UNSURE,
};

/**
 * kipt_image_table_settle() - check the tables, and fill @bases and @changes
 * @table: the rest is set; the caller sorts @changes afterwards
 * @files: how many files there are
 *
 * Return: false if something is not as kipt_raw.h says.
 */
bool kipt_image_table_settle(struct kipt_image_table *table, u32 files);

/**
 * kipt_image_table_find() - which file an address was mapped from
 * @table: settled
 * @tgid: process
 * @born: TSC from which on its address space runs user code
 * @begin: TSC of the stretch of time that is meant; 0: unknown
 * @end: TSC at its end; ~0: unknown
 * @ip: address
 * @place: set with KIPT_IMAGE_FILE
 *
 * Return: enum kipt_image_found.
 */
enum kipt_image_found
kipt_image_table_find(const struct kipt_image_table *table, u32 tgid, u64 born,
		      u64 begin, u64 end, u64 ip, struct kipt_image_place *place);

/**
 * kipt_image_table_changes() - how often something else came to be at an address
 * @table: settled
 * @tsc: until when
 *
 * Return: a number that grows with @tsc; between two times with one number, code of
 * each address space stays what it is.
 */
u32 kipt_image_table_changes(const struct kipt_image_table *table, u64 tsc);

#endif /* KIPT_IMAGE_TABLE_H */
