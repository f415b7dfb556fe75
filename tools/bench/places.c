// SPDX-License-Identifier: GPL-2.0-only
/*
 * A set of addresses, see places.h. Two with the same 64 bits of hash would
 * count as one.
 */
#include <stdio.h>
#include <stdlib.h>

#include "places.h"

#define ROOM_FIRST	(1U << 14)

static u64 hash_of(u64 space, u64 ip)
{
	u64 word = ip * 0x9e3779b97f4a7c15ULL;

	if (!(ip >> 63))
		word ^= space * 0xc2b2ae3d27d4eb4fULL;
	word = (word ^ word >> 29) * 0xd6e8feb86659fd93ULL;
	return (word ^ word >> 32) | 1;
}

/* The place of a hash, or the free one where it belongs. */
static u64 *find(const struct bench_places *places, u64 hash)
{
	u64 at = hash >> 1;

	while (places->hashes[at & (places->room - 1)] &&
	       places->hashes[at & (places->room - 1)] != hash)
		at++;
	return &places->hashes[at & (places->room - 1)];
}

static void grow(struct bench_places *places)
{
	struct bench_places more = {
		.room = places->room ? places->room * 2 : ROOM_FIRST,
		.count = places->count,
	};
	u64 i;

	more.hashes = calloc(more.room, sizeof(*more.hashes));
	if (!more.hashes) {
		fprintf(stderr, "bench: no memory for a set of blocks\n");
		exit(2);
	}
	for (i = 0; i < places->room; i++) {
		if (places->hashes[i])
			*find(&more, places->hashes[i]) = places->hashes[i];
	}
	free(places->hashes);
	*places = more;
}

void bench_places_add(struct bench_places *places, u64 space, u64 ip)
{
	u64 hash = hash_of(space, ip), *place;

	if (places->count * 2 >= places->room)
		grow(places);
	place = find(places, hash);
	places->count += !*place;
	*place = hash;
}

void bench_places_uninit(struct bench_places *places)
{
	free(places->hashes);
	memset(places, 0, sizeof(*places));
}
