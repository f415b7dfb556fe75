// SPDX-License-Identifier: GPL-2.0-only
/*
 * A ring of records, see record_tail.h. It has room for what is between
 * branches, too; where that is more than usual, fewer branches are kept.
 */
#include <stdlib.h>
#include <string.h>

#include "../../../uapi/linux/kipt_record.h"
#include "record_state.h"
#include "record_tail.h"

#define ROOM_BESIDE	4096U
/* Most calls have fewer between them. */
#define BRANCHES_A_CALL	64

struct last_records {
	struct kipt_record *ring;
	u32 room;
	u32 first, count;
	u32 most, branches;
	bool calls;
	/* Of what fell out of the ring. */
	struct record_state state;
};

struct last_records *last_records_create(u32 branches, bool calls)
{
	struct last_records *last = calloc(1, sizeof(*last));

	if (!last)
		return NULL;
	last->most = branches;
	last->calls = calls;
	last->room = (calls ? BRANCHES_A_CALL : 2) * branches + ROOM_BESIDE;
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

static bool is_call(const struct kipt_record *record)
{
	return record->kind == KIPT_BRANCH_CALL ||
	       record->kind == KIPT_BRANCH_CALL_IND ||
	       record->kind == KIPT_BRANCH_SYSCALL ||
	       record->kind == KIPT_BRANCH_EVENT ||
	       record->kind == KIPT_BRANCH_VMEXIT;
}

static bool is_counted(const struct last_records *last,
		       const struct kipt_record *record)
{
	return record->type == KIPT_RECORD_BRANCH ?
	       !last->calls || is_call(record) :
	       record->type == KIPT_RECORD_INSN;
}

static void oldest_drop(struct last_records *last)
{
	const struct kipt_record *record = &last->ring[last->first];

	record_state_see(&last->state, record);
	if (is_counted(last, record))
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
		last->branches += is_counted(last, &records[i]);
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
	bool good = record_state_give(&last->state, true, take, ctx);
	u32 part;

	memset(&last->state, 0, sizeof(last->state));
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
