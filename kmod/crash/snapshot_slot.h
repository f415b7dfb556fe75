/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where snapshots are kept, for snapshot.c, which takes them, and snapshot_read.c.
 *
 * A slot is one event; an area is what one CPU copied of it. Whoever meets an event takes a
 * slot and sets the slot's bit for each armed CPU. A CPU that copies has the area to itself, and
 * so has a reader, so that neither sees half of what the other does; none of them waits for the
 * other but for a moment.
 */
#ifndef KIPT_SNAPSHOT_SLOT_H
#define KIPT_SNAPSHOT_SLOT_H

#include <linux/atomic.h>
#include <linux/container_of.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/mutex.h>

#include "../shared/killed_quota.h"
#include "snapshot.h"

/**
 * struct kipt_area - what one CPU copies of one event
 * @dump: whose it is, how large, and of which snapshot its bytes are; tools find it in a vmcore
 * @node: in the slot's list
 * @logs: what is copied of the CPU beside its trace
 * @orphan: the session is gone; what is here is kept
 * @busy: the CPU copies, or somebody reads
 * @read: it is the reader who made it busy
 * @data: a page of kind CPU, the trace, a page of kind LOGS, switches
 */
struct kipt_area {
	struct kipt_crash_area dump;
	struct list_head node;
	const struct kipt_crash_logs *logs;
	bool orphan;
	atomic_t busy;
	bool read;
	u8 *data;
};

/**
 * struct kipt_slot - one event
 * @snapshot: what a reader gets. Its @dump, which tools find in a vmcore, is written by the CPU
 *	that made the slot KIPT_SLOT_FILLING; the rest under kipt_slots_lock
 * @state: enum kipt_slot_state
 * @pid: number of the thread that met it
 * @areas: of all CPUs that may copy, under kipt_slots_lock
 * @orphans: how many of them are, under kipt_slots_lock
 * @header: a page of kind HEADER, of a slot that is KIPT_SLOT_READING
 * @readers: references, under kipt_slots_lock
 * @deleted: it is KIPT_SLOT_FREE when the last reference is gone
 * @logged_id: that snapshot is in the log, or is not to be
 * @replaced: of a program that was killed: it is not the first one here
 */
struct kipt_slot {
	struct kipt_snapshot snapshot;
	atomic_t state;
	pid_t pid;
	struct list_head areas;
	u32 orphans;
	struct kipt_crash_header *header;
	u32 readers;
	bool deleted;
	u32 logged_id;
	bool replaced;
};

static_assert(offsetof(struct kipt_slot, snapshot.dump) == 0);

/* Guards the lists of areas, and who reads. Ranks below every lock of a session. */
extern struct mutex kipt_slots_lock;
/*
 * The first kipt_nr_slots are of events. The others are of programs that were killed; each of
 * those has one area, whatever CPU it is of.
 */
extern struct kipt_slot *kipt_slots;
extern u32 kipt_nr_slots, kipt_nr_slots_all;
/* CPUs of armed sessions. */
extern atomic_t kipt_slots_armed;

static inline struct kipt_slot *kipt_slot_of(const struct kipt_snapshot *snapshot)
{
	return container_of(snapshot, struct kipt_slot, snapshot);
}

static inline bool kipt_slot_is_killed(const struct kipt_slot *slot)
{
	return slot >= kipt_slots + kipt_nr_slots;
}

static inline struct kipt_crash_cpu *kipt_area_cpu(const struct kipt_area *area)
{
	return (void *)area->data;
}

static inline struct kipt_crash_logs *kipt_area_logs(const struct kipt_area *area)
{
	return (void *)(area->data + PAGE_SIZE + area->dump.trace);
}

static inline bool kipt_area_lock(struct kipt_area *area)
{
	return !atomic_cmpxchg(&area->busy, 0, 1);
}

static inline void kipt_area_unlock(struct kipt_area *area)
{
	atomic_set_release(&area->busy, 0);
}

static inline bool kipt_area_has_bytes_of(const struct kipt_area *area,
					  const struct kipt_slot *slot)
{
	return area->dump.id && area->dump.id == slot->snapshot.dump.id &&
	       atomic_read(&slot->state) != KIPT_SLOT_FREE;
}

/*
 * The area of a slot for a program, which exists from prepare to withdraw. Its kipt_area_logs()
 * are a page of kind SIGNAL and KIPT_KILLED_MAP_PAGES pages of kind MAPS, as far as they are
 * filled; what leads from one to the next, magic, checksum and id are filled in at reading.
 */
static inline struct kipt_area *kipt_slot_killed_area(const struct kipt_snapshot *snapshot)
{
	return list_first_entry_or_null(&kipt_slot_of(snapshot)->areas,
					struct kipt_area, node);
}

/**
 * kipt_slot_drop_orphans() - free memory of sessions that are gone, in a slot that has another
 * event since
 * @slot: the slot
 *
 * Context: process, under kipt_slots_lock.
 */
void kipt_slot_drop_orphans(struct kipt_slot *slot);

/**
 * kipt_slots_free() - free slots and areas; nobody uses them any more
 *
 * Context: process, may sleep.
 */
void kipt_slots_free(void);

/**
 * kipt_snapshot_wait() - wait for CPUs that were asked to copy, a while at most
 *
 * Context: process, may sleep.
 */
void kipt_snapshot_wait(void);

/**
 * kipt_snapshot_is_whole() - whether a snapshot says where its event was, or never will
 * @slot: KIPT_SLOT_FULL
 *
 * An oops has begun when its first hook is called; where it faulted comes later, when the kernel
 * has printed the registers, by kipt_snapshot_fault(). Context: any.
 *
 * Return: false if that may still come.
 */
bool kipt_snapshot_is_whole(const struct kipt_slot *slot);

/**
 * kipt_snapshot_announce() - log the slots that are not in the log yet, soon
 *
 * Context: any, NMI included.
 */
void kipt_snapshot_announce(void);

#endif /* KIPT_SNAPSHOT_SLOT_H */
