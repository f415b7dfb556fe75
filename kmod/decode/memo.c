// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memo's memory: a table that starts small and doubles in place, and ways
 * that are only dropped together. Any context.
 */
#include "memo.h"

_Static_assert(sizeof(struct kipt_way) % sizeof(u64) == 0, "words follow");

void kipt_memo_init(struct kipt_memo *memo, struct kipt_slot *slots, u32 max,
		    u16 *seen, u64 *words, u32 room)
{
	memo->slots = slots;
	memo->max = max;
	memo->seen = seen;
	memo->seen_size = max;
	memset(seen, 0, sizeof(*seen) * memo->seen_size);
	memo->words = words;
	memo->room = room;
	kipt_memo_clear(memo);
}

void kipt_memo_clear(struct kipt_memo *memo)
{
	memo->size = memo->max < KIPT_MEMO_FIRST ? memo->max : KIPT_MEMO_FIRST;
	memo->count = 0;
	memo->used = 1;
	memo->paths = 0;
	memo->ways = 0;
	memo->missed = 0;
	memo->tried = 0;
	memo->known = 0;
	memo->rest = 0;
	memset(memo->slots, 0, sizeof(*memo->slots) * memo->size);
}

u32 kipt_memo_room(struct kipt_memo *memo, u32 words, u8 kind)
{
	u32 way = memo->used, room = memo->room - memo->room / 8 * kind;

	/* Words behind a way are read whatever they are. */
	if (memo->used + words + KIPT_WAY_WORDS > room) {
		memo->missed += kind == KIPT_WAY_PACKET;
		return 0;
	}
	memo->used += words;
	memo->ways++;
	return way;
}

static struct kipt_slot *free_slot(struct kipt_memo *memo, u32 hash)
{
	struct kipt_slot *bucket = kipt_memo_bucket(memo, hash);
	u32 i;

	for (i = 0; i < KIPT_MEMO_BUCKET; i++) {
		if (!bucket[i].way)
			return &bucket[i];
	}
	return NULL;
}

/* The doubled table tells buckets apart by one bit more: a slot stays or goes
 * to the bucket as far behind as the table was long, which is empty.
 */
static void grow(struct kipt_memo *memo)
{
	u32 old_size = memo->size, hash, i;
	struct kipt_slot slot;

	memo->size *= 2;
	memset(memo->slots + old_size, 0, sizeof(*memo->slots) * old_size);
	for (i = 0; i < old_size; i++) {
		slot = memo->slots[i];
		if (!slot.way)
			continue;
		hash = kipt_way_at(memo, slot.way)->hash;
		if (!(hash & old_size))
			continue;
		memo->slots[i].way = 0;
		*free_slot(memo, hash) = slot;
	}
}

/* The oldest of a full bucket goes; the younger stand first. */
static struct kipt_slot *make_room(struct kipt_memo *memo, u32 hash)
{
	struct kipt_slot *bucket = kipt_memo_bucket(memo, hash);
	u32 i;

	for (i = KIPT_MEMO_BUCKET - 1; i; i--)
		bucket[i] = bucket[i - 1];
	memo->count--;
	return bucket;
}

void kipt_memo_put(struct kipt_memo *memo, struct kipt_way *way, u32 second)
{
	struct kipt_slot *slot = NULL;

	while (memo->count * 2 >= memo->size && memo->size < memo->max)
		grow(memo);
	if (way->hash)
		slot = free_slot(memo, way->hash);
	if (!slot) {
		way->hash = second;
		slot = free_slot(memo, second);
	}
	if (!slot)
		slot = make_room(memo, second);
	slot->key = kipt_memo_key(way->hash, way->block);
	slot->way = kipt_way_number(memo, way);
	memo->count++;
}

bool kipt_memo_worthy(struct kipt_memo *memo, u32 hash)
{
	u16 *seen = &memo->seen[hash & (memo->seen_size - 1)];
	u16 mark = (u16)(hash >> 16 | 1);
	bool worthy = *seen == mark || memo->used < memo->room / 2;

	*seen = mark;
	return worthy;
}
