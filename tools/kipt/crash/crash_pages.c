// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages of a crash, see crash_pages.h. Nothing here knows what a dump is, and
 * nothing in a page is believed before it was checked.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "../../../uapi/linux/kipt.h"
#include "../cli/kipt.h"
#include "../cli/list_room.h"
#include "crash_pages.h"

#define PAGE		KIPT_CRASH_PAGE_BYTES

const char *crash_verdict_text(enum crash_verdict verdict)
{
	static const char *const texts[] = {
		[CRASH_GOOD] = "is good",
		[CRASH_NO_MAGIC] = "is no page of kipt",
		[CRASH_VERSION] = "is of a version of kipt that this one does not know",
		[CRASH_SIZE] = "has sizes that make no sense",
		[CRASH_SUM] = "has a wrong checksum",
		[CRASH_MISSING] = "is not in the dump",
	};

	return texts[verdict];
}

/* What pages of a kind have: a part that all have, a list of so many entries. */
#define LIST(type, list)						\
	{ sizeof(struct type), offsetof(struct type, nr_here),		\
	  sizeof(((struct type *)0)->list[0]) }

static const struct kind {
	u32 least, count_at, entry;
} kinds[] = {
	[KIPT_CRASH_CPU] = LIST(kipt_crash_cpu, regions),
	[KIPT_CRASH_REGIONS] = LIST(kipt_crash_regions, regions),
	[KIPT_CRASH_SIGNAL] = { .least = sizeof(struct kipt_crash_signal) },
	[KIPT_CRASH_MAPS] = LIST(kipt_crash_maps, maps),
	[KIPT_CRASH_LOGS] = { .least = sizeof(struct kipt_crash_logs) },
};

static bool size_fits(const struct crash_page *page)
{
	struct kind kind = { 0 };
	u32 count = 0;

	if (page->head.kind == KIPT_CRASH_HEADER)
		return page->head.size ==
		       offsetof(struct kipt_crash_header, event);
	if (page->head.kind < ARRAY_SIZE(kinds))
		kind = kinds[page->head.kind];
	/* No ring is larger; a search in one would not end. */
	if (!kind.least || (page->head.kind == KIPT_CRASH_CPU &&
			    page->cpu.size > KIPT_SIZE_MAX))
		return false;
	if (kind.entry)
		memcpy(&count, page->bytes + kind.count_at, sizeof(count));
	return kind.least + (u64)count * kind.entry <= page->head.size &&
	       page->head.size <= PAGE;
}

static u32 page_sum(const struct crash_page *page)
{
	struct crash_page copy = *page;

	copy.head.crc = 0;
	if (page->head.kind == KIPT_CRASH_CPU)
		memset(&copy.cpu.stop, 0, sizeof(copy.cpu.stop));
	return crc32(0, copy.bytes, copy.head.size);
}

static enum crash_verdict page_judge(struct crash_page *page, bool snapshot)
{
	static const char magic[sizeof(page->head.magic)] = KIPT_CRASH_MAGIC;

	/* Its checksum is that of a page of a crash. */
	if (snapshot && !memcmp(page->head.magic, KIPT_CRASH_SNAPSHOT_MAGIC,
				sizeof(magic)))
		memcpy(page->head.magic, magic, sizeof(magic));
	if (memcmp(page->head.magic, magic, sizeof(magic)))
		return CRASH_NO_MAGIC;
	/* What older modules wrote can be read, what newer ones did nobody knows. */
	if (!page->head.version || page->head.version > KIPT_CRASH_VERSION)
		return CRASH_VERSION;
	if (!size_fits(page))
		return CRASH_SIZE;
	return page_sum(page) == page->head.crc ? CRASH_GOOD : CRASH_SUM;
}

enum crash_verdict crash_page_read(const struct crash_source *source,
				   u64 address, struct crash_page *page)
{
	page->address = address;
	if (address % PAGE || address >= CRASH_PHYSICAL_END)
		page->verdict = CRASH_NO_MAGIC;
	else if (!crash_get(source, address, page->bytes, PAGE))
		page->verdict = CRASH_MISSING;
	else
		page->verdict = page_judge(page, source->snapshot);
	return page->verdict;
}

/* What is written at the end has sums of its own, over all that follows them. */
static u32 event_sum(const struct kipt_crash_event *event)
{
	return crc32(0, (const u8 *)&event->hook, sizeof(*event) -
		       offsetof(struct kipt_crash_event, hook));
}

static u32 stop_sum(const struct kipt_crash_stop *stop)
{
	return crc32(0, (const u8 *)&stop->state, sizeof(*stop) -
		       offsetof(struct kipt_crash_stop, state));
}

void crash_page_seal(struct crash_page *page)
{
	memcpy(page->head.magic, KIPT_CRASH_MAGIC, sizeof(page->head.magic));
	page->head.crc = page_sum(page);
	if (page->head.kind == KIPT_CRASH_HEADER)
		page->header.event.crc = event_sum(&page->header.event);
	if (page->head.kind == KIPT_CRASH_CPU)
		page->cpu.stop.crc = stop_sum(&page->cpu.stop);
}

static bool region_fits(const struct crash_cpu *cpu,
			const struct kipt_crash_region *region)
{
	return region->size && region->address < CRASH_PHYSICAL_END &&
	       region->size <= CRASH_PHYSICAL_END - region->address &&
	       region->size <= cpu->page.size - cpu->known;
}

/* A region that does not fit is the end of what is known. */
static bool regions_take(struct crash_cpu *cpu,
			 const struct kipt_crash_region *list, u32 count)
{
	struct crash_region *regions;
	u32 i;

	for (i = 0; i < count && region_fits(cpu, &list[i]); i++) {
		regions = list_room(cpu->regions, cpu->count, sizeof(*regions));
		if (!regions)
			return false;
		cpu->regions = regions;
		regions[cpu->count++] = (struct crash_region){
			.begin = cpu->known,
			.address = list[i].address,
			.size = list[i].size,
		};
		cpu->known += list[i].size;
	}
	return true;
}

static void logs_take(struct crash_cpu *cpu, const struct crash_page *page)
{
	if (page->head.kind != KIPT_CRASH_LOGS ||
	    page->head.number != cpu->page.page.number)
		return;
	cpu->has_logs = true;
	cpu->logs = page->logs;
}

/* Pages with regions are numbered from 0, so a chain that goes round ends. */
static bool more_follow(struct crash_cpu *cpu, u64 id, u64 address,
			const struct crash_source *source)
{
	struct crash_page page;
	u32 number;

	for (number = 0; address; number++) {
		if (crash_page_read(source, address, &page) != CRASH_GOOD ||
		    page.head.id != id)
			return true;
		if (page.head.kind != KIPT_CRASH_REGIONS) {
			logs_take(cpu, &page);
			return true;
		}
		if (page.head.number != number || !page.regions.nr_here ||
		    cpu->known >= cpu->page.size ||
		    cpu->count >= cpu->page.nr_regions)
			return true;
		if (!regions_take(cpu, page.regions.regions,
				  page.regions.nr_here))
			return false;
		address = page.head.more;
	}
	return true;
}

static void cpu_free(struct crash_cpu *cpu)
{
	if (!cpu)
		return;
	free(cpu->regions);
	free(cpu);
}

static struct crash_cpu *cpu_make(const struct crash_page *page,
				  const struct crash_source *source)
{
	struct crash_cpu *cpu = calloc(1, sizeof(*cpu));

	if (!cpu)
		return NULL;
	cpu->address = page->address;
	memcpy(&cpu->page, &page->cpu, sizeof(cpu->page));
	cpu->stop_good = stop_sum(&cpu->page.stop) == cpu->page.stop.crc;
	if (regions_take(cpu, page->cpu.regions, page->cpu.nr_here) &&
	    more_follow(cpu, page->head.id, page->head.more, source))
		return cpu;
	cpu_free(cpu);
	return NULL;
}

bool crash_set_add(struct crash_set *set, const struct crash_source *source,
		   const struct crash_page *page)
{
	struct crash_cpu **cpus, *cpu;
	u32 i, at = 0;

	while (at < set->count &&
	       set->cpus[at]->page.page.number < page->head.number)
		at++;
	if (set->count >= CRASH_CPUS_MAX ||
	    (at < set->count &&
	     set->cpus[at]->page.page.number == page->head.number))
		return true;
	cpus = list_room(set->cpus, set->count, sizeof(*cpus));
	if (!cpus)
		return false;
	set->cpus = cpus;
	cpu = cpu_make(page, source);
	if (!cpu)
		return false;
	for (i = set->count++; i > at; i--)
		cpus[i] = cpus[i - 1];
	cpus[at] = cpu;
	set->id = page->head.id;
	return true;
}

/* Each page brings a CPU that was not known, so a chain that goes round ends. */
static bool chain_follow(struct crash_set *set,
			 const struct crash_source *source, u64 address)
{
	enum crash_verdict verdict;
	struct crash_page page;
	u32 before;

	for (; address; address = page.head.next) {
		verdict = crash_page_read(source, address, &page);
		if (verdict == CRASH_GOOD && (page.head.id != set->id ||
					      (page.head.kind != KIPT_CRASH_CPU &&
					       page.head.kind != KIPT_CRASH_SIGNAL)))
			verdict = CRASH_NO_MAGIC;
		if (verdict == CRASH_GOOD && page.head.kind == KIPT_CRASH_SIGNAL) {
			set->signal = address;
			return true;
		}
		before = set->count;
		if (verdict == CRASH_GOOD && !crash_set_add(set, source, &page))
			return false;
		if (verdict == CRASH_GOOD && set->count == before)
			verdict = CRASH_SIZE;
		if (verdict != CRASH_GOOD) {
			set->broken_at = address;
			set->broken_by = verdict;
			return true;
		}
	}
	return true;
}

bool crash_set_read(struct crash_set *set, const struct crash_source *source,
		    const struct crash_page *header)
{
	memset(set, 0, sizeof(*set));
	set->id = header->head.id;
	set->has_header = true;
	set->header_address = header->address;
	set->header = header->header;
	/* What is printed ends. */
	set->header.release[sizeof(set->header.release) - 1] = 0;
	set->header.kipt[sizeof(set->header.kipt) - 1] = 0;
	set->event_good = set->header.event.hook &&
			  event_sum(&set->header.event) ==
				  set->header.event.crc;
	return chain_follow(set, source, header->head.next);
}

void crash_set_free(struct crash_set *set)
{
	u32 i;

	for (i = 0; i < set->count; i++)
		cpu_free(set->cpus[i]);
	free(set->cpus);
	memset(set, 0, sizeof(*set));
}

/* The last region that begins at or before @at. */
static const struct crash_region *region_find(const struct crash_cpu *cpu, u64 at)
{
	u32 low = 0, high = cpu->count;

	while (high - low > 1) {
		u32 middle = low + (high - low) / 2;

		if (cpu->regions[middle].begin <= at)
			low = middle;
		else
			high = middle;
	}
	return &cpu->regions[low];
}

u32 crash_cpu_read(const struct crash_cpu *cpu,
		   const struct crash_source *source, u64 at, u8 *bytes,
		   u32 size)
{
	u32 done = 0, part, got;

	while (done < size && at + done < cpu->known) {
		const struct crash_region *region = region_find(cpu, at + done);
		u64 into = at + done - region->begin;

		part = size - done;
		if (part > region->size - into)
			part = region->size - into;
		got = source->read(source->ctx, region->address + into,
				   bytes + done, part);
		done += got;
		if (got < part)
			break;
	}
	return done;
}
