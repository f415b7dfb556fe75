// SPDX-License-Identifier: GPL-2.0-only
/*
 * A ring of records, see task_tail.h. What falls out of it and still holds for
 * those after is kept beside it.
 */
#include <stdlib.h>

#include "record_state.h"
#include "task_tail.h"

/* 6 MiB; some ten thousand lines, of which the last few are shown. */
#define RING_RECORDS	(1U << 18)
/* So many before the place are kept when the rest would take their room. */
#define KEPT_RECORDS	(RING_RECORDS / 2)
/* A system call's instruction, SYSCALL, SYSENTER or INT 80h, has two bytes. */
#define SYSCALL_BYTES	2

struct ending {
	u32 tid;
	u64 ip;
	u32 task;
	bool task_known;
	/* Positions count records from the first; found is after the place. */
	u64 taken, found;
	u64 branches, branches_found;
	/* Of what fell out of the ring. */
	struct record_state state;
	/* Up to the place, of which too much came after it: of another CPU, say. */
	struct kipt_record *kept;
	u64 kept_count;
	struct record_state kept_state;
	struct kipt_record ring[RING_RECORDS];
};

struct ending *ending_create(u32 tid, u64 ip)
{
	struct ending *ending = calloc(1, sizeof(*ending));

	if (ending) {
		ending->tid = tid;
		ending->ip = ip;
	}
	return ending;
}

void ending_destroy(struct ending *ending)
{
	if (ending)
		free(ending->kept);
	free(ending);
}

static bool is_at(const struct ending *ending, const struct kipt_record *r)
{
	if (r->flags & KIPT_RF_NO_IP)
		return false;
	return r->ip == ending->ip || r->ip == ending->ip - SYSCALL_BYTES;
}

/* Where user code was left for good: by a fault, or into the kernel. */
static bool is_place(const struct ending *ending, const struct kipt_record *r)
{
	if (ending->task_known && ending->task != ending->tid)
		return false;
	switch (r->type) {
	case KIPT_RECORD_DISABLE:
		return is_at(ending, r);
	case KIPT_RECORD_BRANCH:
		if (r->kind == KIPT_BRANCH_SYSCALL)
			return is_at(ending, r);
		return r->kind == KIPT_BRANCH_EVENT &&
		       !(r->flags & KIPT_RF_NO_IP) && r->ip == ending->ip;
	}
	return false;
}

static void see(struct ending *ending, const struct kipt_record *r)
{
	if (r->type == KIPT_RECORD_TASK) {
		ending->task = r->aux;
		ending->task_known = !(r->flags & KIPT_RF_NO_VALUE);
	}
	ending->branches += r->type == KIPT_RECORD_BRANCH;
	if (is_place(ending, r)) {
		ending->found = ending->taken + 1;
		ending->branches_found = ending->branches;
	}
}

/* The ring has as many after the place as before it, which are about to fall out. */
static void keep(struct ending *ending)
{
	size_t size = KEPT_RECORDS * sizeof(*ending->kept);
	u64 at = ending->found > KEPT_RECORDS ? ending->found - KEPT_RECORDS : 0;

	if (!ending->kept)
		ending->kept = malloc(size);
	ending->kept_count = 0;
	ending->kept_state = ending->state;
	for (; ending->kept && at < ending->found; at++)
		ending->kept[ending->kept_count++] =
			ending->ring[at % RING_RECORDS];
}

void ending_take(struct ending *ending, const struct kipt_record *records,
		 u32 count)
{
	struct kipt_record *slot;
	u32 i;

	for (i = 0; i < count; i++) {
		slot = &ending->ring[ending->taken % RING_RECORDS];
		if (ending->taken >= RING_RECORDS)
			record_state_see(&ending->state, slot);
		*slot = records[i];
		see(ending, &records[i]);
		ending->taken++;
		if (ending->found && ending->taken - ending->found == KEPT_RECORDS)
			keep(ending);
	}
}

static u64 oldest(const struct ending *ending)
{
	return ending->taken < RING_RECORDS ? 0 :
					      ending->taken - RING_RECORDS;
}

/* The records before the place are those that were kept. */
static bool kept_far(const struct ending *ending)
{
	return ending->kept && ending->found &&
	       ending->taken - ending->found >= KEPT_RECORDS;
}

bool ending_give(const struct ending *ending,
		 bool (*give)(void *ctx, const struct kipt_record *records,
			      u32 count), void *ctx, u64 *after)
{
	u64 at = oldest(ending), end = ending->taken;
	bool found = ending->found > at;
	bool good;

	if (kept_far(ending)) {
		if (record_state_give(&ending->kept_state, true, give, ctx))
			give(ctx, ending->kept, (u32)ending->kept_count);
		*after = ending->branches - ending->branches_found;
		return true;
	}
	good = record_state_give(&ending->state, true, give, ctx);
	if (found)
		end = ending->found;
	for (; at < end && good; at++)
		good = give(ctx, &ending->ring[at % RING_RECORDS], 1);
	*after = found ? ending->branches - ending->branches_found : 0;
	return found;
}
