/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records on their way, of which those after a place are held back: it may be
 * the last of its kind, and then they are not shown.
 */
#ifndef KIPT_HOLD_BACK_H
#define KIPT_HOLD_BACK_H

#include <stdbool.h>

#include "../../../kmod/decode/port.h"
#include "../../../uapi/linux/kipt_record.h"

/* More than a CPU executes between such a place and its stop, interrupts included. */
#define HELD_MAX	262144U

/**
 * struct held - records that are held back
 * @is_place: whether a record is such a place
 * @give: where records go; false ends it
 * @ctx: first argument of both
 * @found: there was a place, and what came after it is held
 * @count: how many are held
 * @list: they
 *
 * The first three are set, the rest is zero at first.
 */
struct held {
	bool (*is_place)(void *ctx, const struct kipt_record *record);
	bool (*give)(void *ctx, const struct kipt_record *records, u32 count);
	void *ctx;
	bool found;
	u32 count;
	struct kipt_record *list;
};

/**
 * held_take() - records
 * @held: where to; without memory nothing is held back
 * @records: what, in order
 * @count: how many
 *
 * After a place up to HELD_MAX are held; if there are more it was not the
 * last thing that happened, and they are given.
 *
 * Return: what @give returned last; true if it was not called.
 */
bool held_take(struct held *held, const struct kipt_record *records,
	       u32 count);

/**
 * held_drop() - all came
 * @held: holds nothing afterwards
 * @branches: taken branches that were held
 * @insns: instructions that ran in them
 *
 * Return: true if a place was found and what came after it was held.
 */
bool held_drop(struct held *held, u64 *branches, u64 *insns);

#endif /* KIPT_HOLD_BACK_H */
