// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies the end of a log of switches, see snapshot_logs.h. Switches after the stop of
 * the trace are left out.
 */
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/string.h>

#include "snapshot_logs.h"

/* Few switches make less trace than this. */
#define TRACE_PER_SWITCH	512U

static u32 room(size_t trace)
{
	return rounddown_pow_of_two(max_t(size_t, trace / TRACE_PER_SWITCH, 16));
}

size_t kipt_snapshot_logs_size(size_t trace)
{
	return PAGE_SIZE + PAGE_ALIGN(room(trace) *
				      sizeof(struct kipt_crash_switch));
}

static const struct kipt_crash_switch *
entry(const struct kipt_crash_ring *ring, u64 number)
{
	const struct kipt_crash_switch *entries = (void *)ring->entries;

	return &entries[number & (ring->nr - 1)];
}

/* The oldest one that is whole; the one before it may be written to. */
static u64 oldest(const struct kipt_crash_ring *ring, u64 written)
{
	return written >= ring->nr ? written - ring->nr + 1 : 0;
}

/*
 * The switches up to a time, the last of them where there is no room for all. A reader
 * takes a ring that was written round for full: of one of which less is left, a smaller
 * ring is full. Return: the size of the ring that holds them; 1: none are.
 */
static u32 take_switches(const struct kipt_crash_ring *from, u64 tsc,
			 struct kipt_crash_switch *entries, u32 nr,
			 u64 *written)
{
	u64 end = *(const u64 *)from->written, first = oldest(from, end), i;

	while (end > first && entry(from, end - 1)->tsc > tsc)
		end--;
	if (end > min_t(u64, nr, end - first))
		nr = rounddown_pow_of_two(min_t(u64, nr, end - first) + 1);
	for (i = end >= nr ? end - nr + 1 : 0; i < end; i++)
		entries[i & (nr - 1)] = *entry(from, i);
	*written = end;
	return nr;
}

void kipt_snapshot_logs_copy(struct kipt_crash_logs *to, size_t trace,
			     const struct kipt_crash_logs *from, u64 tsc)
{
	*to = *from;
	to->patches = (struct kipt_crash_ring) {};
	to->patches_start = 0;
	to->patches_first = 0;
	to->patches_missed = 0;
	memset(to->patches_unseen, 0, sizeof(to->patches_unseen));
	to->patches_unseen_count = 0;
	to->init_task = 0;
	to->switches.nr = take_switches(&from->switches, tsc,
					(void *)((u8 *)to + PAGE_SIZE),
					room(trace), (u64 *)(to + 1));
}
