// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memo's memory: a table that starts small and doubles in place, and tapes
 * that are only dropped together. Any context.
 */
#include "memo.h"

_Static_assert(sizeof(struct kipt_memo_entry) == 64, "one cache line");

void kipt_memo_init(struct kipt_memo *memo, struct kipt_memo_entry *table,
		    u32 max, u16 *seen, u64 *tapes, u32 words)
{
	memo->table = table;
	memo->max = max;
	memo->seen = seen;
	memo->seen_size = max / KIPT_MEMO_PER_SEEN;
	memset(seen, 0, sizeof(*seen) * memo->seen_size);
	memo->tapes = tapes;
	memo->words = words;
	kipt_memo_clear(memo);
}

void kipt_memo_clear(struct kipt_memo *memo)
{
	memo->size = memo->max < KIPT_MEMO_FIRST ? memo->max : KIPT_MEMO_FIRST;
	memo->count = 0;
	memo->used = 1;
	memo->paths = 0;
	memo->full = false;
	memset(memo->table, 0, sizeof(*memo->table) * memo->size);
}

/* The doubled table tells pairs apart by one bit more: a pair's entries stay
 * or go to the pair as far behind as the table was long, which is empty.
 */
static void split(struct kipt_memo *memo, u32 at, u32 old_size)
{
	struct kipt_memo_entry *from = &memo->table[at], *to;

	if (!from->tag)
		return;
	to = kipt_memo_pair(memo, from->hash);
	if (to != &memo->table[(at & ~1U) + old_size])
		return;
	to[to->tag != 0] = *from;
	memset(from, 0, sizeof(*from));
}

void kipt_memo_grow(struct kipt_memo *memo)
{
	u32 old_size = memo->size, i;

	memo->size *= 2;
	memset(memo->table + old_size, 0, sizeof(*memo->table) * old_size);
	for (i = 0; i < old_size; i++)
		split(memo, i, old_size);
}

u32 kipt_memo_tape(struct kipt_memo *memo, u32 words)
{
	u32 tape = memo->used;

	/* Two words behind a tape's head are read whatever they are. */
	if (memo->used + words + 2 > memo->words) {
		memo->full = true;
		return 0;
	}
	memo->used += words;
	return tape;
}

bool kipt_memo_worthy(struct kipt_memo *memo, u32 hash)
{
	u16 *seen = &memo->seen[hash & (memo->seen_size - 1)];
	u16 mark = (u16)(hash >> 16 | 1);
	bool worthy = *seen == mark || memo->used < memo->words / 4;

	*seen = mark;
	return worthy;
}
