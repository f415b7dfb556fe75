// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading snapshots, see snapshot.h: as files of pages, which a dump of the machine has too.
 * snapshot_message.c gives them to whoever asks.
 */
#include <linux/delay.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "crash_pages.h"
#include "../trace/dump_page.h"
#include "snapshot_slot.h"

/* To read a slot that events may be replacing. */
#define TRIES		8U
/* An area that a CPU copies into is waited for so long. */
#define BUSY_US		10
#define BUSY_LOOKS	100

/* The addresses of an area that begins at an offset of its snapshot. */
static void place_cpu(struct kipt_area *area, u64 at, u64 next, u64 more)
{
	struct kipt_crash_cpu *cpu = kipt_area_cpu(area);

	cpu->page.next = next;
	cpu->page.more = more;
	cpu->page.size = struct_size(cpu, regions, 1);
	cpu->size = area->dump.trace;
	cpu->nr_regions = 1;
	cpu->nr_here = 1;
	cpu->regions[0].address = at + PAGE_SIZE;
	cpu->regions[0].size = area->dump.trace;
	kipt_crash_pages_hide(&cpu->page);
}

static void place_area(struct kipt_area *area, u64 at, u64 next)
{
	struct kipt_crash_logs *logs = kipt_area_logs(area);
	u64 logs_at = at + PAGE_SIZE + area->dump.trace;

	place_cpu(area, at, next, logs_at);
	logs->switches.entries = logs_at + PAGE_SIZE;
	logs->switches.written = logs_at + sizeof(*logs);
	kipt_crash_pages_hide(&logs->page);
}

/* What was filled comes one page after the other. */
static void place_killed(struct kipt_area *area)
{
	u64 at = 2 * PAGE_SIZE + area->dump.trace, end = PAGE_SIZE + area->dump.size;
	struct kipt_crash_page *page = &kipt_area_logs(area)->page, *next;

	place_cpu(area, PAGE_SIZE, at, 0);
	for (; page; page = next) {
		at += PAGE_SIZE;
		next = (void *)page + PAGE_SIZE;
		if (at == end || !next->kind)
			next = NULL;
		page->more = next ? at : 0;
		page->id = kipt_area_cpu(area)->page.id;
		kipt_crash_pages_hide(page);
	}
}

static void place_areas(struct kipt_slot *slot)
{
	struct kipt_snapshot *snapshot = &slot->snapshot;
	u64 at = PAGE_SIZE, left = snapshot->cpus;
	struct kipt_area *area;

	list_for_each_entry(area, &slot->areas, node) {
		if (!area->read)
			continue;
		left--;
		if (kipt_slot_is_killed(slot))
			place_killed(area);
		else
			place_area(area, at, left ? at + area->dump.size : 0);
		at += area->dump.size;
		if (area->dump.cpu != snapshot->dump.event.cpu)
			continue;
		snapshot->pid = kipt_area_cpu(area)->stop.pid;
		memcpy(snapshot->comm, kipt_area_cpu(area)->stop.comm,
		       sizeof(snapshot->comm));
		snapshot->comm[sizeof(snapshot->comm) - 1] = 0;
	}
	snapshot->size = at;
}

/* The slot is KIPT_SLOT_READING: each area that is not being copied into is ours. */
static void take_areas(struct kipt_slot *slot)
{
	struct kipt_snapshot *snapshot = &slot->snapshot;
	struct kipt_area *area;
	u32 cpus = 0, answered = 0, looks;
	bool locked;

	list_for_each_entry(area, &slot->areas, node) {
		locked = kipt_area_lock(area);
		for (looks = 0; !locked && looks < BUSY_LOOKS; looks++) {
			udelay(BUSY_US);
			locked = kipt_area_lock(area);
		}
		if (!locked)
			continue;
		area->read = kipt_area_has_bytes_of(area, slot) &&
			     kipt_area_cpu(area)->stop.state == KIPT_CRASH_STOPPED;
		if (!area->read) {
			kipt_area_unlock(area);
			continue;
		}
		cpus++;
		answered += area->dump.cpu != snapshot->dump.event.cpu;
	}
	snapshot->cpus = cpus;
	snapshot->dump.event.answered = answered;
}

static bool begin_reading(struct kipt_slot *slot)
{
	struct kipt_snapshot *snapshot = &slot->snapshot;
	struct kipt_crash_header *header = slot->header;

	lockdep_assert_held(&kipt_slots_lock);
	if (slot->readers++)
		return true;
	if (atomic_cmpxchg(&slot->state, KIPT_SLOT_FULL, KIPT_SLOT_READING) != KIPT_SLOT_FULL) {
		slot->readers--;
		return false;
	}
	snapshot->pid = 0;
	memset(snapshot->comm, 0, sizeof(snapshot->comm));
	take_areas(slot);
	place_areas(slot);
	kipt_crash_pages_header(header);
	header->page.next = snapshot->cpus ? PAGE_SIZE : 0;
	header->nr_cpus = snapshot->cpus;
	header->event = snapshot->dump.event;
	kipt_dump_seal_part(&header->event, sizeof(header->event));
	kipt_crash_pages_hide(&header->page);
	return true;
}

static void end_reading(struct kipt_slot *slot)
{
	struct kipt_area *area;

	lockdep_assert_held(&kipt_slots_lock);
	if (--slot->readers)
		return;
	list_for_each_entry(area, &slot->areas, node) {
		if (!area->read)
			continue;
		area->read = false;
		kipt_area_unlock(area);
	}
	if (slot->deleted)
		WRITE_ONCE(slot->snapshot.dump.id, 0);
	atomic_set_release(&slot->state, slot->deleted ? KIPT_SLOT_FREE : KIPT_SLOT_FULL);
	slot->deleted = false;
	/* announce_all() may have passed over the slot while it was KIPT_SLOT_READING. */
	if (READ_ONCE(slot->logged_id) != slot->snapshot.dump.id)
		kipt_snapshot_announce();
	kipt_slot_drop_orphans(slot);
}

/* What of [@offset, @offset + @len) is in a part of a snapshot that begins at @begin. */
static void read_part(u8 *to, u64 offset, u64 len, const u8 *part, u64 begin,
		      u64 size)
{
	u64 first = max(offset, begin), end = min(offset + len, begin + size);

	if (first < end)
		memcpy(to + (first - offset), part + (first - begin),
		       end - first);
}

void kipt_snapshot_read(const struct kipt_snapshot *snapshot, u64 offset,
			u8 *to, u64 len)
{
	const struct kipt_slot *slot = kipt_slot_of(snapshot);
	const struct kipt_area *area;
	u64 begin = PAGE_SIZE;

	mutex_lock(&kipt_slots_lock);
	read_part(to, offset, len, (u8 *)slot->header, 0, PAGE_SIZE);
	list_for_each_entry(area, &slot->areas, node) {
		if (!area->read)
			continue;
		read_part(to, offset, len, area->data, begin, area->dump.size);
		begin += area->dump.size;
	}
	mutex_unlock(&kipt_slots_lock);
}

/* Return: that with the lowest number above @id, of those that can be read. */
static struct kipt_snapshot *lowest_above(u32 id)
{
	struct kipt_snapshot *snapshot, *found = NULL;
	int state;
	u32 i;

	lockdep_assert_held(&kipt_slots_lock);
	for (i = 0; i < kipt_nr_slots_all; i++) {
		snapshot = &kipt_slots[i].snapshot;
		state = atomic_read_acquire(&kipt_slots[i].state);
		if ((state == KIPT_SLOT_FULL || state == KIPT_SLOT_READING) && !kipt_slots[i].deleted &&
		    kipt_snapshot_is_whole(&kipt_slots[i]) &&
		    READ_ONCE(snapshot->dump.id) > id &&
		    (!found || snapshot->dump.id < found->dump.id))
			found = snapshot;
	}
	return found;
}

struct kipt_snapshot *kipt_snapshot_next(u32 id)
{
	struct kipt_snapshot *found;
	u32 tries = 0;

	kipt_snapshot_wait();
	mutex_lock(&kipt_slots_lock);
	do {
		found = lowest_above(id);
		/* One that an event replaced just now has a higher number. */
	} while (found && !begin_reading(kipt_slot_of(found)) && ++tries < TRIES);
	mutex_unlock(&kipt_slots_lock);
	return tries < TRIES ? found : NULL;
}

struct kipt_snapshot *kipt_snapshot_find(u32 id)
{
	struct kipt_snapshot *snapshot = id ? kipt_snapshot_next(id - 1) : NULL;

	if (!snapshot || snapshot->dump.id == id)
		return snapshot;
	kipt_snapshot_put(snapshot);
	return NULL;
}

void kipt_snapshot_put(struct kipt_snapshot *snapshot)
{
	mutex_lock(&kipt_slots_lock);
	end_reading(kipt_slot_of(snapshot));
	mutex_unlock(&kipt_slots_lock);
}

void kipt_snapshot_delete(struct kipt_snapshot *snapshot)
{
	mutex_lock(&kipt_slots_lock);
	kipt_slot_of(snapshot)->deleted = true;
	mutex_unlock(&kipt_slots_lock);
}
