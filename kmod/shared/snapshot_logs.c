// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies the end of a log of switches, see snapshot_logs.h. CPUs go on to log
 * meanwhile; what came after the stop is left out.
 */
#include <linux/compiler.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/string.h>
#include <asm/barrier.h>

#include "snapshot_logs.h"

/* Few switches make less trace than this. */
#define TRACE_PER_SWITCH	512U
/* To copy switches of a CPU that goes on to switch. */
#define TRIES			4U

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

static u64 written_now(const struct kipt_crash_ring *ring)
{
	/* Pairs with the barrier of who writes: the entries are whole. */
	return smp_load_acquire((const u64 *)ring->written);
}

/*
 * How many were written up to a time; *@most: so many of them are there. Times only
 * grow; one that is overwritten meanwhile is later than it was, and what is then found
 * is overwritten, too.
 */
static u64 written_at(const struct kipt_crash_ring *ring, u64 tsc, u32 *most)
{
	u64 end = written_now(ring), first = oldest(ring, end);
	u64 written = first;

	while (written < end) {
		u64 middle = written + (end - written) / 2;

		if (READ_ONCE(entry(ring, middle)->tsc) > tsc)
			end = middle;
		else
			written = middle + 1;
	}
	*most = min_t(u64, *most, written - first);
	return written;
}

/*
 * A reader takes a ring that was written round for full. Of one of which less is
 * left, a smaller ring is full.
 */
static u32 ring_of(u64 written, u32 most, u32 nr)
{
	return written > most ? rounddown_pow_of_two(most + 1) : nr;
}

/* Return: false if the CPU wrote to what was copied meanwhile. */
static bool copy_switches(const struct kipt_crash_ring *from,
			  struct kipt_crash_switch *entries, u64 written,
			  u32 nr)
{
	u64 first = written >= nr ? written - nr + 1 : 0, i;

	for (i = first; i < written; i++)
		/* What is overwritten meanwhile is found out below. */
		entries[i & (nr - 1)] = data_race(*entry(from, i));
	/* Before the look at what was written since. */
	smp_rmb();
	return first >= oldest(from, written_now(from));
}

/* Return: the size of the ring that holds them; 1: none are. */
static u32 take_switches(const struct kipt_crash_ring *from, u64 tsc,
			 struct kipt_crash_switch *entries, u32 room,
			 u64 *written)
{
	u32 tries, nr, most;

	for (tries = 0; tries < TRIES; tries++) {
		most = room;
		*written = written_at(from, tsc, &most);
		nr = ring_of(*written, most, room);
		if (copy_switches(from, entries, *written, nr))
			return nr;
	}
	return 1;
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
	to->patches_unseen_told = 0;
	to->init_task = 0;
	to->switches.nr = take_switches(&from->switches, tsc,
					(void *)((u8 *)to + PAGE_SIZE),
					room(trace), (u64 *)(to + 1));
}
