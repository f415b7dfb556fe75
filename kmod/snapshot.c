// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies the ends of traces into snapshots, and owns these. Leaves to crash.c
 * when, to crash_pages.c what a page looks like, to snapshot_message.c who
 * reads them.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/io.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/printk.h>
#include <linux/slab.h>

#include "crash_pages.h"
#include "killed_quota.h"
#include "limits.h"
#include "memory.h"
#include "snapshot.h"
#include "snapshot_logs.h"

/* Guards the list. */
static DEFINE_MUTEX(list_lock);
static LIST_HEAD(list);
static u32 last_id;
static u32 count;
/* The last one could not be kept, and none was deleted since. */
static bool missed;
/* Bytes of programs that were killed. */
static atomic64_t killed_bytes = ATOMIC64_INIT(0);

static u32 most(void)
{
	return kipt_limits()->snapshots;
}

/* A quarter is left to oopses. One that could not be kept ends it. */
bool kipt_snapshot_wanted(void)
{
	return READ_ONCE(count) < most() - most() / 4 && !READ_ONCE(missed);
}

static void release(struct kref *refs)
{
	struct kipt_snapshot *snapshot =
		container_of(refs, struct kipt_snapshot, refs);

	kipt_killed_quota_give(snapshot->killed.place);
	if (snapshot->killed.signal)
		atomic64_sub(snapshot->size, &killed_bytes);
	kipt_memory_free(snapshot->data, snapshot->size);
	kfree(snapshot);
}

void kipt_snapshot_put(struct kipt_snapshot *snapshot)
{
	kref_put(&snapshot->refs, release);
}

/**
 * struct copy - a snapshot that is being made
 * @snapshot: of this
 * @used: bytes of its data that are filled
 * @last: the page that is to lead to the next one
 */
struct copy {
	struct kipt_snapshot *snapshot;
	size_t used;
	struct kipt_crash_page *last;
};

static bool has_trace(const struct kipt_crash_cpu *cpu)
{
	return cpu->stop.state == KIPT_CRASH_STOPPED;
}

/* Whole pages, at least one: a size of 0 is no ring. */
static size_t trace_bytes(const struct kipt_crash_cpu *cpu)
{
	u64 there = min(cpu->stop.head - cpu->stop.tail,
			kipt_limits()->snapshot_trace);

	return max_t(u64, PAGE_ALIGN(there), PAGE_SIZE);
}

static void add_size(void *ctx, const struct kipt_crash_cpu *cpu)
{
	struct kipt_snapshot *snapshot = ctx;

	if (!has_trace(cpu))
		return;
	snapshot->size += PAGE_SIZE + trace_bytes(cpu) +
			  kipt_snapshot_logs_size(trace_bytes(cpu));
}

/* Bytes of the ring from an offset on, as many as lie in one block. */
static const u8 *bytes_at(const struct kipt_crash_cpu *cpu, u64 offset,
			  u64 *len)
{
	const struct kipt_crash_region *region;
	u32 i;

	for (i = 0; (region = kipt_crash_pages_region(cpu, i)); i++) {
		if (offset < region->size) {
			*len = region->size - offset;
			return phys_to_virt(region->address + offset);
		}
		offset -= region->size;
	}
	return NULL;
}

/* Byte n of a trace stands at n modulo the size, here as in the buffer. */
static void copy_trace(u8 *to, u64 size, const struct kipt_crash_cpu *cpu,
		       u64 from)
{
	u64 at, len, here;
	const u8 *bytes;

	for (at = from; at < cpu->stop.head; at += here) {
		bytes = bytes_at(cpu, at % cpu->size, &len);
		if (!bytes)
			return;
		here = min3(len, cpu->stop.head - at, size - at % size);
		memcpy(to + at % size, bytes, here);
		cond_resched();
	}
}

static void add_cpu(void *ctx, const struct kipt_crash_cpu *from)
{
	struct copy *copy = ctx;
	struct kipt_snapshot *snapshot = copy->snapshot;
	size_t room = snapshot->size - copy->used, size, logs;
	struct kipt_crash_cpu *to;
	u64 tail;

	/* CPUs stop and start without the lock: it may not be what was counted. */
	if (!has_trace(from))
		return;
	size = trace_bytes(from);
	logs = kipt_snapshot_logs_size(size);
	if (PAGE_SIZE + size + logs > room)
		return;
	tail = max(from->stop.tail,
		   from->stop.head - min_t(u64, from->stop.head, size));
	to = (void *)(snapshot->data + copy->used);
	memcpy(to, from, sizeof(*to));
	to->page.next = 0;
	to->page.more = copy->used + PAGE_SIZE + size;
	to->page.size = struct_size(to, regions, 1);
	to->size = size;
	to->nr_regions = 1;
	to->nr_here = 1;
	to->regions[0].address = copy->used + PAGE_SIZE;
	to->regions[0].size = size;
	to->stop.tail = tail;
	kipt_crash_pages_seal_cpu(to);
	copy_trace(snapshot->data + copy->used + PAGE_SIZE, size, from, tail);
	kipt_snapshot_logs_copy(snapshot->data, to->page.more, size, from);
	copy->last->next = copy->used;
	kipt_crash_pages_seal(copy->last);
	copy->last = &to->page;
	copy->used += PAGE_SIZE + size + logs;
	snapshot->cpus++;
	if (to->page.number == snapshot->event.cpu) {
		snapshot->pid = to->stop.pid;
		memcpy(snapshot->comm, to->stop.comm, sizeof(snapshot->comm));
		snapshot->comm[sizeof(snapshot->comm) - 1] = 0;
	}
}

static int alloc_data(struct kipt_snapshot *snapshot)
{
	snapshot->size = PAGE_SIZE;
	kipt_crash_pages_hold();
	kipt_crash_pages_each(add_size, snapshot);
	kipt_crash_pages_release();
	if (snapshot->size == PAGE_SIZE)
		return -ENODATA;
	/* Without the lock: who starts or ends a session waits for that. */
	snapshot->data = kipt_memory_alloc(snapshot->size);
	return snapshot->data ? 0 : -ENOMEM;
}

static void copy_all(struct kipt_snapshot *snapshot)
{
	struct kipt_crash_header *header = (void *)snapshot->data;
	struct copy copy = {
		.snapshot = snapshot,
		.used = PAGE_SIZE,
		.last = &header->page,
	};

	kipt_crash_pages_hold();
	kipt_crash_pages_header(header);
	header->page.next = 0;
	snapshot->event = header->event;
	kipt_crash_pages_each(add_cpu, &copy);
	kipt_crash_pages_release();
	header->nr_cpus = snapshot->cpus;
	kipt_crash_pages_seal(&header->page);
}

/* Who looks for the pages of a crash in a dump is not to find these. */
static void hide(struct kipt_snapshot *snapshot)
{
	struct kipt_crash_page *page;
	u64 at = 0;

	/* The last one of the chain leads on by @more. */
	do {
		page = (void *)(snapshot->data + at);
		memcpy(page->magic, KIPT_CRASH_SNAPSHOT_MAGIC,
		       sizeof(page->magic));
		at = page->next ? page->next : page->more;
	} while (at);
}

/* Return: -ENODATA if no CPU has a trace, the session has just ended. */
static struct kipt_snapshot *make(void)
{
	struct kipt_snapshot *snapshot = kzalloc(sizeof(*snapshot), GFP_KERNEL);
	int err;

	if (!snapshot)
		return ERR_PTR(-ENOMEM);
	kref_init(&snapshot->refs);
	snapshot->time = ktime_get_real_ns();
	err = alloc_data(snapshot);
	if (err) {
		kfree(snapshot);
		return ERR_PTR(err);
	}
	copy_all(snapshot);
	hide(snapshot);
	return snapshot;
}

static void put_in_list(struct kipt_snapshot *snapshot)
{
	mutex_lock(&list_lock);
	snapshot->id = ++last_id;
	list_add_tail(&snapshot->node, &list);
	if (!snapshot->killed.signal)
		WRITE_ONCE(count, count + 1);
	mutex_unlock(&list_lock);
}

/* Calls follow one another: there is one work item that does it. */
void kipt_snapshot_take(void)
{
	struct kipt_snapshot *snapshot;

	snapshot = READ_ONCE(count) < most() ? make() : ERR_PTR(-ENOSPC);
	/* That is no want of room. */
	if (PTR_ERR(snapshot) == -ENODATA)
		return;
	if (IS_ERR(snapshot)) {
		if (!missed)
			pr_notice("the traces before this are not kept: there is no room or no memory for more snapshots, see 'kipt crash list'\n");
		WRITE_ONCE(missed, true);
		return;
	}
	WRITE_ONCE(missed, false);
	put_in_list(snapshot);
	pr_notice("the traces before this are kept: 'kipt crash show %u' shows them\n",
		  snapshot->id);
}

static struct kipt_snapshot *alloc_killed(size_t size)
{
	struct kipt_snapshot *snapshot = kzalloc(sizeof(*snapshot), GFP_KERNEL);

	if (!snapshot)
		return NULL;
	kref_init(&snapshot->refs);
	snapshot->size = size;
	snapshot->data = kipt_memory_alloc(size);
	if (snapshot->data)
		return snapshot;
	kfree(snapshot);
	return NULL;
}

/* Any user may have programs killed: half of the memory is left to all else. */
struct kipt_snapshot *kipt_snapshot_alloc(size_t size)
{
	struct kipt_snapshot *snapshot = NULL;

	if (atomic64_add_return(size, &killed_bytes) <=
	    (s64)(kipt_limits()->memory / 2))
		snapshot = alloc_killed(size);
	if (!snapshot)
		atomic64_sub(size, &killed_bytes);
	return snapshot;
}

u32 kipt_snapshot_add(struct kipt_snapshot *snapshot)
{
	u32 id;

	hide(snapshot);
	kref_get(&snapshot->refs);
	put_in_list(snapshot);
	id = snapshot->id;
	kipt_snapshot_put(snapshot);
	return id;
}

struct kipt_snapshot *kipt_snapshot_next(u32 id)
{
	struct kipt_snapshot *snapshot, *found = NULL;

	mutex_lock(&list_lock);
	list_for_each_entry(snapshot, &list, node) {
		if (snapshot->id <= id)
			continue;
		kref_get(&snapshot->refs);
		found = snapshot;
		break;
	}
	mutex_unlock(&list_lock);
	return found;
}

struct kipt_snapshot *kipt_snapshot_find(u32 id)
{
	struct kipt_snapshot *snapshot = id ? kipt_snapshot_next(id - 1) : NULL;

	if (!snapshot || snapshot->id == id)
		return snapshot;
	kipt_snapshot_put(snapshot);
	return NULL;
}

void kipt_snapshot_delete(struct kipt_snapshot *snapshot)
{
	bool was_there;

	mutex_lock(&list_lock);
	was_there = !list_empty(&snapshot->node);
	if (was_there) {
		list_del_init(&snapshot->node);
		if (!snapshot->killed.signal)
			WRITE_ONCE(count, count - 1);
		WRITE_ONCE(missed, false);
	}
	mutex_unlock(&list_lock);
	if (was_there)
		kipt_snapshot_put(snapshot);
}

void kipt_snapshot_uninit(void)
{
	struct kipt_snapshot *snapshot;

	while ((snapshot = kipt_snapshot_next(0))) {
		kipt_snapshot_delete(snapshot);
		kipt_snapshot_put(snapshot);
	}
}
