// SPDX-License-Identifier: GPL-2.0-only
/*
 * The switches that a snapshot has: those before its CPU stopped, and none that
 * were overwritten before they could be copied. User space.
 */
#include "../../kmod/shared/snapshot_logs.h"
#include "../decode/ktap.h"
#include <linux/mm.h>

#define ENTRIES	256U
/* There is room for twice as many switches in a snapshot with so much. */
#define TRACE	(256U << 10)
#define AT	PAGE_SIZE
#define HALF	0xffffffff00000000ULL

static struct ktap ktap;
static struct kipt_crash_switch entries[ENTRIES];
static __u64 written;
static struct kipt_crash_logs logs;
static __u64 snapshot[32768];

/* Number n is at time n + 1. */
static const struct kipt_crash_logs *take(__u64 switches, __u64 stopped)
{
	struct kipt_crash_logs *to = (void *)((u8 *)snapshot + AT);

	for (written = 0; written < switches; written++)
		entries[written % ENTRIES].tsc = written + 1;
	/* The next one is being written. */
	entries[written % ENTRIES].tsc = HALF;
	logs.switches = (struct kipt_crash_ring){
		.entries = (__u64)entries, .written = (__u64)&written,
		.nr = ENTRIES, .size = sizeof(entries[0]),
	};
	logs.patches = logs.switches;
	logs.patches_start = (__u64)&written;
	memset(snapshot, 0, sizeof(snapshot));
	kipt_snapshot_logs_copy(to, TRACE, &logs, stopped);
	to->switches.entries = AT + PAGE_SIZE;
	to->switches.written = AT + sizeof(*to);
	return to;
}

/* Return: how many a reader takes for known; ~0 if one is not what it was. */
static __u64 known(const struct kipt_crash_logs *there, __u64 *first)
{
	const struct kipt_crash_ring *ring = &there->switches;
	const u8 *data = (u8 *)snapshot;
	const struct kipt_crash_switch *copies = (void *)(data + ring->entries);
	__u64 count = *(const __u64 *)(data + ring->written), i;

	*first = count >= ring->nr ? count - ring->nr + 1 : 0;
	for (i = *first; i < count; i++)
		if (copies[i & (ring->nr - 1)].tsc != i + 1)
			return ~0ULL;
	return count - *first;
}

static void check(const char *name, __u64 switches, __u64 stopped,
		  __u64 least, bool whole)
{
	__u64 first, count = known(take(switches, stopped), &first);

	ktap_result(&ktap, count != ~0ULL && count >= least && whole == !first,
		    "%s", name);
}

/* Wherever the CPU stopped in what is left of a ring that was written round. */
static bool every_stop_is_right(__u64 switches)
{
	__u64 lost = switches - ENTRIES + 1, stopped, first, count;

	for (stopped = 1; stopped <= switches; stopped++) {
		count = known(take(switches, stopped), &first);
		/* A ring has less than twice as much room as what it is for. */
		if (count == ~0ULL ||
		    (stopped > lost && count < (stopped - lost) / 2))
			return false;
	}
	return true;
}

static void addresses_stay_here(void)
{
	const struct kipt_crash_logs *there = take(10, 100);

	ktap_result(&ktap, !there->patches.entries && !there->patches_start,
		    "%s", "addresses_stay_here");
}

int main(void)
{
	__u64 first;

	ktap_start();
	check("all_that_were", 10, 100, 10, true);
	check("those_before_the_stop", 10, 6, 6, true);
	check("a_log_that_is_smaller_than_the_room", 1000, 5000, 255, false);
	check("some_are_overwritten", 1000, 800, 31, false);
	ktap_result(&ktap, !known(take(1000, 700), &first) && first, "%s",
		    "all_are_overwritten");
	ktap_result(&ktap, every_stop_is_right(1000), "%s",
		    "what_is_being_written_is_not_taken");
	ktap_result(&ktap, every_stop_is_right(ENTRIES), "%s",
		    "the_first_is_not_taken_when_it_is_written_over");
	addresses_stay_here();
	return ktap_end(&ktap);
}
