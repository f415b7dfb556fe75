// SPDX-License-Identifier: GPL-2.0-only
/*
 * Holds records back, see hold_back.h.
 */
#include <stdlib.h>
#include <string.h>

#include "../../../kmod/shared/excerpt_end.h"
#include "hold_back.h"

static bool flush(struct held *held)
{
	bool good = !held->count ||
		    held->give(held->ctx, held->list, held->count);

	held->count = 0;
	return good;
}

/* There was too much: it was not the last place. */
static bool let_go(struct held *held)
{
	held->found = false;
	return flush(held);
}

/* Return: how many of the records lead up to a place, it included; or 0. */
static u32 place_find(const struct held *held,
		      const struct kipt_record *records, u32 count)
{
	u32 i;

	for (i = count; i > 0; i--) {
		if (held->is_place(held->ctx, &records[i - 1]))
			return i;
	}
	return 0;
}

static bool hold(struct held *held, const struct kipt_record *records,
		 u32 count)
{
	if (held->found && count > HELD_MAX - held->count && !let_go(held))
		return false;
	if (!held->found)
		return !count || held->give(held->ctx, records, count);
	memcpy(held->list + held->count, records, count * sizeof(*records));
	held->count += count;
	return true;
}

bool held_take(struct held *held, const struct kipt_record *records,
	       u32 count)
{
	u32 upto = place_find(held, records, count);

	if (!held->list)
		held->list = malloc(HELD_MAX * sizeof(*held->list));
	if (!held->list)
		return held->give(held->ctx, records, count);
	if (upto) {
		if (!flush(held) || !held->give(held->ctx, records, upto))
			return false;
		held->found = true;
	}
	return hold(held, records + upto, count - upto);
}

bool held_drop(struct held *held, u64 *branches, u64 *insns)
{
	bool found = held->found;
	u32 i;

	*branches = 0;
	*insns = 0;
	for (i = 0; i < held->count; i++) {
		const struct kipt_record *r = &held->list[i];

		*branches += r->type == KIPT_RECORD_BRANCH;
		*insns += kipt_record_counts_insns(r) ? r->aux : 0;
	}
	free(held->list);
	held->list = NULL;
	held->count = 0;
	held->found = false;
	return found;
}
