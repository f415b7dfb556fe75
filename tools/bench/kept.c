// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keeping records, see kept.h. Memory is taken while nothing was cached yet,
 * so that what is measured later finds it there.
 */
#include <stdio.h>
#include <stdlib.h>

#include "kept.h"

#define ROOM_NEWEST	(1U << 16)

void bench_kept_init(struct bench_kept *kept, bool newest)
{
	memset(kept, 0, sizeof(*kept));
	kept->newest = newest;
}

void bench_kept_uninit(struct bench_kept *kept)
{
	free(kept->records);
	memset(kept, 0, sizeof(*kept));
}

void bench_kept_clear(struct bench_kept *kept)
{
	kept->count = 0;
}

static void room_make(struct bench_kept *kept, u64 room)
{
	void *more;

	if (kept->newest && kept->room) {
		kept->count = 0;
		return;
	}
	if (room < ROOM_NEWEST)
		room = ROOM_NEWEST;
	more = realloc(kept->records, room * sizeof(*kept->records));
	if (!more) {
		fprintf(stderr, "bench: no memory for %llu records\n",
			(unsigned long long)room);
		exit(2);
	}
	kept->records = more;
	kept->room = room;
}

bool bench_kept_add(void *ctx, const struct kipt_record *records, u32 n)
{
	struct bench_kept *kept = ctx;

	if (kept->count + n > kept->room)
		room_make(kept, 2 * (kept->count + n));
	memcpy(&kept->records[kept->count], records, n * sizeof(*records));
	kept->count += n;
	return true;
}
