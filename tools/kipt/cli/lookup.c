// SPDX-License-Identifier: GPL-2.0-only
/*
 * Numbers by numbers, see lookup.h. Where a key goes depends on a seed, so that
 * no file has keys that all go to one place.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "lookup.h"

#define ROOM_FIRST	16

struct lookup_slot {
	u64 key;
	size_t value;
	bool used;
};

u64 lookup_seed(void)
{
	const void *bytes = (const void *)getauxval(AT_RANDOM);
	u64 seed = 0;

	if (bytes)
		memcpy(&seed, bytes, sizeof(seed));
	return seed | 1;
}

/* The slot of a key, or the free one that it would get. */
static struct lookup_slot *slot_find(const struct lookup *index,
					 u64 key)
{
	u64 hash = (key ^ index->seed) * 0x9e3779b97f4a7c15ULL;
	size_t at = (hash ^ hash >> 32) & (index->room - 1);

	while (index->slots[at].used && index->slots[at].key != key)
		at = (at + 1) & (index->room - 1);
	return &index->slots[at];
}

size_t *lookup_get(const struct lookup *index, u64 key)
{
	struct lookup_slot *slot;

	slot = index->slots ? slot_find(index, key) : NULL;
	return slot && slot->used ? &slot->value : NULL;
}

static bool index_grow(struct lookup *index)
{
	struct lookup old = *index;
	size_t i;

	index->seed = lookup_seed();
	index->room = old.room ? old.room * 2 : ROOM_FIRST;
	index->slots = calloc(index->room, sizeof(*index->slots));
	if (!index->slots) {
		*index = old;
		return false;
	}
	for (i = 0; i < old.room; i++) {
		if (old.slots[i].used)
			*slot_find(index, old.slots[i].key) = old.slots[i];
	}
	free(old.slots);
	return true;
}

bool lookup_add(struct lookup *index, u64 key, size_t value)
{
	struct lookup_slot *slot;

	if (index->count * 2 >= index->room && !index_grow(index))
		return false;
	slot = slot_find(index, key);
	index->count += !slot->used;
	*slot = (struct lookup_slot){ key, value, true };
	return true;
}

void lookup_free(struct lookup *index)
{
	free(index->slots);
	memset(index, 0, sizeof(*index));
}
