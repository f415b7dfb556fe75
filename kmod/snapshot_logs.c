// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies the end of a log of switches, see snapshot_logs.h. CPUs go on to log
 * meanwhile; what came after the stop is left out.
 */
#include <linux/align.h>
#include <linux/compiler.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/string.h>

#include "crash_pages.h"
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

/* How many were written up to a time; the last @most of them are looked at. */
static u64 written_at(const struct kipt_crash_ring *ring, u64 tsc, u32 *most)
{
	/* Pairs with the barrier of who writes: the entries are whole. */
	u64 written = smp_load_acquire((const u64 *)ring->written);
	u64 oldest = written >= ring->nr ? written - ring->nr + 1 : 0;

	while (written > oldest &&
	       READ_ONCE(entry(ring, written - 1)->tsc) > tsc)
		written--;
	*most = min_t(u64, *most, written - oldest);
	return written;
}

void kipt_snapshot_logs_copy(u8 *data, size_t at, size_t trace,
			     const struct kipt_crash_cpu *cpu)
{
	const struct kipt_crash_logs *from = kipt_crash_pages_logs(cpu);
	struct kipt_crash_switch *entries = (void *)(data + at + PAGE_SIZE);
	struct kipt_crash_logs *to = (void *)(data + at);
	u64 *written = (u64 *)(to + 1), i;
	u32 nr = room(trace), most = nr;

	*to = *from;
	to->patches = (struct kipt_crash_ring) {};
	to->init_task = 0;
	to->switches.entries = at + PAGE_SIZE;
	to->switches.written = at + sizeof(*to);
	to->switches.nr = nr;
	*written = written_at(&from->switches, cpu->stop.tsc, &most);
	for (i = *written - most; i < *written; i++)
		/* Nobody writes to what is not the oldest. */
		entries[i & (nr - 1)] = data_race(*entry(&from->switches, i));
	kipt_crash_pages_seal(&to->page);
	memcpy(to->page.magic, KIPT_CRASH_SNAPSHOT_MAGIC,
	       sizeof(to->page.magic));
}
