// SPDX-License-Identifier: GPL-2.0-only
/*
 * A ring of records, see last_records.h. It has room for what stands between
 * branches, too; where that is more than usual, fewer branches are kept.
 */
#include <stdlib.h>
#include <string.h>

#include "../../uapi/linux/kipt_record.h"
#include "last_records.h"

#define ROOM_BESIDE	4096U

/* The last record of each kind that holds until the next one of it. */
enum state {
	STATE_CPU,
	STATE_TASK,
	STATE_CONTEXT,
	STATE_MODE,
	STATE_TIME,
	STATE_CBR,
	STATES,
};

struct last_records {
	struct kipt_record *ring;
	u32 room;
	u32 first, count;
	u32 most, branches;
	struct kipt_record states[STATES];
};

struct last_records *last_records_create(u32 branches)
{
	struct last_records *last = calloc(1, sizeof(*last));

	if (!last)
		return NULL;
	last->most = branches;
	last->room = 2 * branches + ROOM_BESIDE;
	last->ring = calloc(last->room, sizeof(*last->ring));
	if (last->ring)
		return last;
	free(last);
	return NULL;
}

void last_records_destroy(struct last_records *last)
{
	if (!last)
		return;
	free(last->ring);
	free(last);
}

static int state_of(const struct kipt_record *record)
{
	switch (record->type) {
	case KIPT_RECORD_CPU:
		return STATE_CPU;
	case KIPT_RECORD_TASK:
		return STATE_TASK;
	case KIPT_RECORD_CONTEXT:
		return STATE_CONTEXT;
	case KIPT_RECORD_MODE:
		return STATE_MODE;
	case KIPT_RECORD_TIME:
		return STATE_TIME;
	case KIPT_RECORD_CBR:
		return STATE_CBR;
	}
	return STATES;
}

static bool is_counted(const struct kipt_record *record)
{
	return record->type == KIPT_RECORD_BRANCH ||
	       record->type == KIPT_RECORD_INSN;
}

static void oldest_drop(struct last_records *last)
{
	const struct kipt_record *record = &last->ring[last->first];
	int state = state_of(record);

	if (state < STATES)
		last->states[state] = *record;
	if (is_counted(record))
		last->branches--;
	last->first = (last->first + 1) % last->room;
	last->count--;
}

void last_records_take(struct last_records *last,
		       const struct kipt_record *records, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++) {
		if (last->count == last->room)
			oldest_drop(last);
		last->ring[(last->first + last->count++) % last->room] =
			records[i];
		last->branches += is_counted(&records[i]);
		while (last->branches > last->most)
			oldest_drop(last);
	}
}

bool last_records_give(struct last_records *last,
		       bool (*take)(void *ctx,
				    const struct kipt_record *records,
				    u32 count),
		       void *ctx)
{
	bool good = true;
	u32 i, part;

	for (i = 0; i < STATES && good; i++) {
		if (last->states[i].type)
			good = take(ctx, &last->states[i], 1);
	}
	memset(last->states, 0, sizeof(last->states));
	while (last->count && good) {
		part = last->room - last->first;
		if (part > last->count)
			part = last->count;
		good = take(ctx, &last->ring[last->first], part);
		last->first = (last->first + part) % last->room;
		last->count -= part;
	}
	last->count = 0;
	last->branches = 0;
	return good;
}
