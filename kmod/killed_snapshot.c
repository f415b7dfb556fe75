// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes a snapshot of what was copied of a program, see killed_snapshot.h.
 */
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "crash_pages.h"
#include "killed_snapshot.h"
#include "resident.h"
#include "snapshot.h"

#define MAPS_HERE	((PAGE_SIZE - sizeof(struct kipt_crash_maps)) /	\
			 sizeof(struct kipt_crash_map))
#define CODE_HERE	((PAGE_SIZE - sizeof(struct kipt_crash_code)) /	\
			 sizeof(u64))

static_assert(sizeof(struct kipt_crash_signal) <= PAGE_SIZE);

/* Where the parts of a snapshot stand in it. */
struct layout {
	u64 trace;
	u64 signal;
	u64 maps;
	u64 lists;
	u64 code;
	u64 heads;
	u64 size;
};

static struct layout layout_of(const struct kipt_killed *killed)
{
	const struct kipt_killed_code *code = &killed->code;
	struct layout at = { .trace = 2 * PAGE_SIZE };
	u32 i;

	at.signal = at.trace + killed->cpu->size;
	at.maps = at.signal + PAGE_SIZE;
	at.lists = at.maps + DIV_ROUND_UP(code->nr_maps, MAPS_HERE) * PAGE_SIZE;
	at.code = at.lists + DIV_ROUND_UP(code->nr_pages, CODE_HERE) *
			     PAGE_SIZE;
	at.heads = at.code + (u64)code->nr_pages * PAGE_SIZE;
	at.size = at.heads;
	for (i = 0; i < code->nr_maps; i++)
		at.size += code->heads[i] ? PAGE_SIZE : 0;
	return at;
}

/* What is shorter than there is room for becomes a ring that just holds it. */
static void close_ring(struct kipt_killed *killed)
{
	struct kipt_crash_cpu *cpu = killed->cpu;
	u64 there = cpu->stop.head - cpu->stop.tail;

	cpu->size = killed->size;
	if (!cpu->stop.tail && there < killed->size)
		cpu->size = max_t(u64, PAGE_ALIGN(there), PAGE_SIZE);
}

static void put_page_head(struct kipt_crash_page *page, u32 kind, u32 number,
			  u32 size, u64 id)
{
	memcpy(page->magic, KIPT_CRASH_MAGIC, sizeof(page->magic));
	page->version = KIPT_CRASH_VERSION;
	page->kind = kind;
	page->number = number;
	page->size = size;
	page->id = id;
}

static void put_header(struct kipt_snapshot *snapshot,
		       const struct kipt_killed *killed)
{
	struct kipt_crash_header *header = (void *)snapshot->data;

	kipt_crash_pages_hold();
	kipt_crash_pages_header(header);
	kipt_crash_pages_release();
	header->page.next = PAGE_SIZE;
	header->nr_cpus = 1;
	header->event = (struct kipt_crash_event){
		.hook = KIPT_CRASH_HOOK_SIGNAL,
		.cpu = killed->cpu->page.number,
		.tsc = killed->signal.tsc,
		.ip = killed->signal.ip,
		.trap = ~0,
	};
	kipt_crash_pages_seal_event(&header->event);
	kipt_crash_pages_seal(&header->page);
	snapshot->event = header->event;
}

/* No more than there is: the rest is of who was killed before. */
static void copy_trace(u8 *to, const struct kipt_killed *killed)
{
	const struct kipt_crash_stop *stop = &killed->cpu->stop;
	u64 size = killed->cpu->size, from, begin, here;

	for (from = stop->tail; from < stop->head; from += here) {
		begin = from % size;
		here = min(stop->head - from, size - begin);
		memcpy(to + begin, killed->trace + begin, here);
	}
}

static void put_trace(struct kipt_snapshot *snapshot, const struct kipt_killed *killed,
		    const struct layout *at)
{
	struct kipt_crash_cpu *cpu = (void *)(snapshot->data + PAGE_SIZE);

	*cpu = *killed->cpu;
	cpu->page.next = at->signal;
	cpu->page.size = struct_size(cpu, regions, 1);
	cpu->nr_regions = 1;
	cpu->nr_here = 1;
	cpu->regions[0].address = at->trace;
	cpu->regions[0].size = cpu->size;
	kipt_crash_pages_seal_cpu(cpu);
	copy_trace(snapshot->data + at->trace, killed);
}

static void put_signal(struct kipt_snapshot *snapshot, struct kipt_killed *killed,
		       const struct layout *at)
{
	struct kipt_crash_signal *signal =
		(void *)(snapshot->data + at->signal);

	*signal = killed->signal;
	put_page_head(&signal->page, KIPT_CRASH_SIGNAL, 0, sizeof(*signal),
		      killed->cpu->page.id);
	if (killed->code.nr_maps)
		signal->page.more = at->maps;
	else if (killed->code.nr_pages)
		signal->page.more = at->lists;
	kipt_crash_pages_seal(&signal->page);
}

static void put_maps(struct kipt_snapshot *snapshot, struct kipt_killed *killed,
		     const struct layout *at)
{
	const struct kipt_killed_code *code = &killed->code;
	struct kipt_crash_maps *page;
	u32 done, number;
	u64 here;

	for (done = 0, number = 0; done < code->nr_maps; number++) {
		here = at->maps + (u64)number * PAGE_SIZE;
		page = (void *)(snapshot->data + here);
		page->nr_here = min_t(u32, code->nr_maps - done, MAPS_HERE);
		memcpy(page->maps, code->maps + done,
		       page->nr_here * sizeof(*page->maps));
		done += page->nr_here;
		put_page_head(&page->page, KIPT_CRASH_MAPS, number,
			      struct_size(page, maps, page->nr_here),
			      killed->cpu->page.id);
		if (done < code->nr_maps || code->nr_pages)
			page->page.more = here + PAGE_SIZE;
		kipt_crash_pages_seal(&page->page);
	}
}

static void put_lists(struct kipt_snapshot *snapshot, struct kipt_killed *killed,
		      const struct layout *at)
{
	const struct kipt_killed_code *code = &killed->code;
	struct kipt_crash_code *page;
	u32 done, number;
	u64 here;

	for (done = 0, number = 0; done < code->nr_pages; number++) {
		here = at->lists + (u64)number * PAGE_SIZE;
		page = (void *)(snapshot->data + here);
		page->nr_here = min_t(u32, code->nr_pages - done, CODE_HERE);
		page->at = at->code + (u64)done * PAGE_SIZE;
		memcpy(page->addresses, code->addresses + done,
		       page->nr_here * sizeof(*page->addresses));
		done += page->nr_here;
		put_page_head(&page->page, KIPT_CRASH_CODE, number,
			      struct_size(page, addresses, page->nr_here),
			      killed->cpu->page.id);
		if (done < code->nr_pages)
			page->page.more = here + PAGE_SIZE;
		kipt_crash_pages_seal(&page->page);
	}
}

/* What the kernel has no access to is told as one that is lost. */
static void copy_pages(struct kipt_snapshot *snapshot, struct kipt_killed *killed,
		       const struct layout *at)
{
	struct kipt_killed_code *code = &killed->code;
	u8 *to = snapshot->data + at->code;
	u64 head = at->heads;
	u32 i;

	for (i = 0; i < code->nr_pages; i++, to += PAGE_SIZE) {
		if (!kipt_resident_copy(code->pages[i], to)) {
			code->addresses[i] = ~0ULL << PAGE_SHIFT;
			if (killed->signal.code_lost < ~0U)
				killed->signal.code_lost++;
		}
		cond_resched();
	}
	for (i = 0; i < code->nr_maps; i++) {
		if (!code->heads[i])
			continue;
		if (kipt_resident_copy(code->heads[i], snapshot->data + head))
			code->maps[i].head = head;
		head += PAGE_SIZE;
		cond_resched();
	}
}

/* The mapping of the instruction is the first one, if it is known. */
static void tell_place(struct kipt_snapshot *snapshot, const struct kipt_killed *killed)
{
	const struct kipt_crash_map *map = killed->code.maps;
	u64 ip = killed->signal.ip;

	if (!killed->code.nr_maps || ip < map->start || ip >= map->end)
		return;
	memcpy(snapshot->killed.file, map->path, sizeof(map->path));
	snapshot->killed.file_offset = ip - map->start + map->offset;
}

static void tell_signal(struct kipt_snapshot *snapshot, const struct kipt_killed *killed)
{
	snapshot->time = killed->time;
	snapshot->cpus = 1;
	snapshot->pid = killed->signal.tid;
	strscpy(snapshot->comm, killed->signal.comm, sizeof(snapshot->comm));
	snapshot->killed.signal = killed->signal.signal;
	snapshot->killed.process = killed->signal.pid;
	snapshot->killed.uid = killed->signal.uid;
	tell_place(snapshot, killed);
}

struct kipt_snapshot *kipt_killed_snapshot(struct kipt_killed *killed)
{
	struct kipt_snapshot *snapshot;
	struct layout at;

	close_ring(killed);
	at = layout_of(killed);
	snapshot = kipt_snapshot_alloc(at.size);
	if (!snapshot)
		return NULL;
	put_header(snapshot, killed);
	put_trace(snapshot, killed, &at);
	copy_pages(snapshot, killed, &at);
	put_signal(snapshot, killed, &at);
	put_maps(snapshot, killed, &at);
	put_lists(snapshot, killed, &at);
	tell_signal(snapshot, killed);
	snapshot->killed.place = killed->place;
	killed->place = 0;
	return snapshot;
}
