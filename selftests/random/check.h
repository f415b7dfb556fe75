/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Our decoder on one walk, in all its modes, against the truth and against
 * itself. Owns the memory the decoders run in. User space.
 */
#ifndef KIPT_SELFTESTS_RANDOM_CHECK_H
#define KIPT_SELFTESTS_RANDOM_CHECK_H

#include <stdio.h>

#include "walk.h"

/* Programs that one decoder sees in a row, and the records these make. */
#define CHECK_GROUP	32
#define CHECK_RECORDS	(1U << 18)

/**
 * struct check - what one thread checks with
 * @arena: for decoders that live for one trace
 * @kept_arena: for the decoder that sees a group of programs
 * @kept: that decoder, or NULL
 * @kept_program: the regions of the program it last saw
 * @kept_packed: all it said
 * @kept_made: how many plain records that was before the current walk
 * @packed: what the current decoder said
 * @into: where the current decoder appends
 * @plain: what it says unpacked
 * @want: records expected
 * @got: records made, inside @plain
 * @program: code the current decoder reads
 * @hidden: a region of it that cannot be read, or NULL
 * @what: current mode
 * @error: what went wrong, or NULL
 */
struct check {
	void *arena;
	void *kept_arena;
	struct kipt_flow *kept;
	struct program kept_program;
	struct record_list kept_packed;
	u64 kept_made;
	struct record_list packed;
	struct record_list *into;
	struct record_list plain;
	struct record_list want;
	struct record_list got;
	const struct program *program;
	const struct region *hidden;
	const char *what;
	const char *error;
};

/**
 * check_init() - get memory
 * @check: filled
 */
void check_init(struct check *check);

/**
 * check_walk() - all modes of our decoder on one walk
 * @check: on failure @what, @error, @want and @got say what is wrong
 * @walk: the walk
 * @group: the walk is the first of a group of CHECK_GROUP
 *
 * Return: true if all is right.
 */
bool check_walk(struct check *check, const struct walk *walk, bool group);

/**
 * check_differs() - does a changed trace give other records than the truth
 * @check: the memory
 * @walk: the walk
 * @bytes: the changed trace
 * @size: its bytes
 *
 * Return: true if the change is seen.
 */
bool check_differs(struct check *check, const struct walk *walk,
		   const u8 *bytes, u32 size);

/**
 * check_show() - print where @want and @got part
 * @check: after a failure
 * @file: where to
 * @all: print all of both
 */
void check_show(const struct check *check, FILE *file, bool all);

/**
 * check_show_packed() - print what the decoder really said
 * @check: after a failure
 * @file: where to
 */
void check_show_packed(const struct check *check, FILE *file);

#endif /* KIPT_SELFTESTS_RANDOM_CHECK_H */
