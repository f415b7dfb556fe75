// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory of snapshots, see snapshot_slot.h: made when CPUs are armed, kept until another
 * event takes the place of what is in it.
 */
#include <linux/minmax.h>
#include <linux/slab.h>

#include "../trace/buffer.h"
#include "crash_pages.h"
#include "../trace/dump_page.h"
#include "killed.h"
#include "../lib/limits.h"
#include "../lib/memory.h"
#include "../shared/snapshot_logs.h"
#include "snapshot_slot.h"
#include "../trace/trace.h"

DEFINE_MUTEX(kipt_slots_lock);
struct kipt_slot *kipt_slots;
u32 kipt_nr_slots, kipt_nr_slots_all;
atomic_t kipt_slots_armed = ATOMIC_INIT(0);

/* Whole pages: byte n of the trace is at n modulo this. */
static size_t trace_bytes(u64 ring)
{
	return min_t(u64, ring, kipt_limits()->snapshot_trace) & PAGE_MASK;
}

static size_t area_bytes(u64 ring)
{
	size_t trace = trace_bytes(ring);

	return PAGE_SIZE + trace + kipt_snapshot_logs_size(trace);
}

u64 kipt_snapshot_bytes(u64 ring)
{
	return (u64)kipt_limits()->snapshots * area_bytes(ring);
}

/* The pointer to an area in the chain that tools follow in a dump; the list has the same order. */
static u64 *link_to(struct kipt_slot *slot, struct kipt_area *area)
{
	return area->node.prev == &slot->areas ? &slot->snapshot.dump.areas :
		&list_prev_entry(area, node)->dump.next;
}

static void free_area(struct kipt_slot *slot, struct kipt_area *area)
{
	WRITE_ONCE(*link_to(slot, area), area->dump.next);
	list_del(&area->node);
	slot->orphans--;
	kipt_memory_free(area->data, area->dump.size);
	kfree(area);
}

static bool is_unused(const struct kipt_slot *slot, struct kipt_area *area)
{
	return !kipt_area_has_bytes_of(area, slot) && !atomic_read(&area->busy);
}

void kipt_slot_drop_orphans(struct kipt_slot *slot)
{
	struct kipt_area *area, *next;

	lockdep_assert_held(&kipt_slots_lock);
	if (!slot->orphans)
		return;
	list_for_each_entry_safe(area, next, &slot->areas, node)
		if (area->orphan && is_unused(slot, area))
			free_area(slot, area);
}

/* The trace that it has room for is @trace bytes. */
static struct kipt_area *add_area(struct kipt_slot *slot, size_t trace, size_t size)
{
	struct kipt_area *area = kzalloc(sizeof(*area), GFP_KERNEL_ACCOUNT);

	if (!area)
		return NULL;
	area->data = kipt_memory_alloc(size);
	if (!area->data) {
		kfree(area);
		return NULL;
	}
	area->dump = (struct kipt_crash_area){
		.data = (unsigned long)area->data,
		.size = size,
		.trace = trace,
	};
	mutex_lock(&kipt_slots_lock);
	kipt_slot_drop_orphans(slot);
	list_add_tail(&area->node, &slot->areas);
	WRITE_ONCE(*link_to(slot, area), (unsigned long)&area->dump);
	mutex_unlock(&kipt_slots_lock);
	return area;
}

static struct kipt_area *make_area(struct kipt_slot *slot,
				   const struct kipt_trace *trace)
{
	u64 ring = trace->buffer->size;
	struct kipt_area *area = add_area(slot, trace_bytes(ring),
					  area_bytes(ring));

	if (!area)
		return NULL;
	area->dump.cpu = trace->cpu;
	area->logs = trace->crash_logs;
	return area;
}

int kipt_snapshot_prepare(struct kipt_trace *trace)
{
	struct kipt_area **areas;
	u32 i;

	areas = kcalloc(max(kipt_nr_slots, 1U), sizeof(*areas), GFP_KERNEL_ACCOUNT);
	if (!areas)
		return -ENOMEM;
	trace->areas = areas;
	atomic_inc(&kipt_slots_armed);
	for (i = 0; i < kipt_nr_slots; i++) {
		areas[i] = make_area(&kipt_slots[i], trace);
		if (!areas[i])
			return -ENOMEM;
	}
	return 0;
}

/* The session goes: what the area has stays until another event takes its place. */
static void leave_area(struct kipt_slot *slot, struct kipt_area *area)
{
	slot->orphans += !area->orphan;
	area->orphan = true;
	area->logs = NULL;
	if (is_unused(slot, area))
		free_area(slot, area);
}

void kipt_snapshot_withdraw(struct kipt_trace *trace)
{
	struct kipt_area *area;
	u32 i;

	if (!trace->areas)
		return;
	mutex_lock(&kipt_slots_lock);
	for (i = 0; i < kipt_nr_slots; i++) {
		area = trace->areas[i];
		if (area)
			leave_area(&kipt_slots[i], area);
	}
	/* Of sessions before, too, whose events others have replaced since. */
	if (atomic_dec_and_test(&kipt_slots_armed))
		for (i = 0; i < kipt_nr_slots; i++)
			kipt_slot_drop_orphans(&kipt_slots[i]);
	mutex_unlock(&kipt_slots_lock);
	kfree(trace->areas);
	trace->areas = NULL;
}

/* What is kept since the last session has memory, which is as good as new. */
static bool adopt_area(struct kipt_slot *slot)
{
	struct kipt_area *area;

	mutex_lock(&kipt_slots_lock);
	area = kipt_slot_killed_area(&slot->snapshot);
	if (area) {
		slot->orphans -= area->orphan;
		area->orphan = false;
	}
	mutex_unlock(&kipt_slots_lock);
	return area;
}

int kipt_snapshot_killed_prepare(void)
{
	/* Whole pages, as those of an area. */
	size_t trace = kipt_limits()->user_snapshot_trace & PAGE_MASK;
	size_t size = (2 + KIPT_KILLED_MAP_PAGES) * PAGE_SIZE + trace;
	u32 i;

	for (i = kipt_nr_slots; i < kipt_nr_slots_all; i++)
		if (!adopt_area(&kipt_slots[i]) &&
		    !add_area(&kipt_slots[i], trace, size))
			return -ENOMEM;
	return 0;
}

void kipt_snapshot_killed_withdraw(void)
{
	struct kipt_area *area;
	u32 i;

	mutex_lock(&kipt_slots_lock);
	for (i = kipt_nr_slots; i < kipt_nr_slots_all; i++) {
		area = kipt_slot_killed_area(&kipt_slots[i].snapshot);
		if (area)
			leave_area(&kipt_slots[i], area);
	}
	mutex_unlock(&kipt_slots_lock);
}

int kipt_snapshot_init(void)
{
	u32 count = kipt_limits()->snapshots + kipt_limits()->user_snapshots_all;

	kipt_slots = kcalloc(max(count, 1U), sizeof(*kipt_slots), GFP_KERNEL);
	if (!kipt_slots)
		return -ENOMEM;
	for (; kipt_nr_slots_all < count; kipt_nr_slots_all++) {
		INIT_LIST_HEAD(&kipt_slots[kipt_nr_slots_all].areas);
		kipt_slots[kipt_nr_slots_all].header = (void *)get_zeroed_page(GFP_KERNEL);
		if (!kipt_slots[kipt_nr_slots_all].header) {
			kipt_slots_free();
			return -ENOMEM;
		}
	}
	kipt_nr_slots = kipt_limits()->snapshots;
	/* Nobody else changes the page while there are no sessions. */
	kipt_crash_header->slots = (unsigned long)kipt_slots;
	kipt_crash_header->nr_slots = kipt_nr_slots;
	kipt_crash_header->slot_bytes = sizeof(*kipt_slots);
	kipt_dump_seal(&kipt_crash_header->page);
	return 0;
}

void kipt_slots_free(void)
{
	struct kipt_area *area, *next;
	u32 i;

	for (i = 0; i < kipt_nr_slots_all; i++) {
		list_for_each_entry_safe(area, next, &kipt_slots[i].areas, node)
			free_area(&kipt_slots[i], area);
		free_page((unsigned long)kipt_slots[i].header);
	}
	kfree(kipt_slots);
}
