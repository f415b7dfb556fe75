// SPDX-License-Identifier: GPL-2.0-only
/*
 * Snapshots in a dump, see snapshot_slots.h. In a snapshot that the module sends an
 * address is an offset; here the copy of CPU number i of a snapshot begins at
 * (i + 1) << AREA_SHIFT, and its pages get their addresses and checksums when they
 * are read. What the dump does not have stays missing.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../cli/list_room.h"
#include "../cli/messages.h"
#include "../cli/printable.h"
#include "snapshot_slots.h"

#define PAGE		KIPT_CRASH_PAGE_BYTES

/* More than a module can be set to keep, and from one to the next. */
#define SLOTS_MAX	256U
#define SLOT_BYTES_MAX	4096U

/* A slot also has the copies of sessions that are gone. */
#define AREAS_MAX	(2 * CRASH_CPUS_MAX)

/* 64 MiB, the module copies 1 MiB of trace at most. */
#define AREA_SHIFT	26
#define AREA_MAX	(1ULL << AREA_SHIFT)

#define NO_TRAP		(~0U)

static u64 area_at(u32 number)
{
	return (number + 1ULL) << AREA_SHIFT;
}

static u64 logs_at(const struct kipt_crash_area *area)
{
	return PAGE + area->trace;
}

static bool area_fits(const struct kipt_crash_area *area)
{
	return area->cpu < CRASH_CPUS_MAX && area->size >= 2 * PAGE &&
	       area->size <= AREA_MAX && !(area->trace % PAGE) &&
	       area->trace <= area->size - 2 * PAGE;
}

/* As the CPU left it. */
static bool page_get(const struct crash_slots *slots,
		     const struct kipt_crash_area *area, u64 at, u16 kind,
		     struct crash_page *page)
{
	return crash_memory_get(slots->memory, area->data + at, page->bytes,
				PAGE) &&
	       !memcmp(page->head.magic, KIPT_CRASH_SNAPSHOT_MAGIC,
		       sizeof(page->head.magic)) &&
	       page->head.kind == kind && page->head.number == area->cpu;
}

static bool area_add(struct crash_slot *slot,
		     const struct kipt_crash_area *area,
		     const struct kipt_crash_stop *stop)
{
	struct kipt_snapshot *about = &slot->about;
	struct kipt_crash_area *areas;

	areas = list_room(slot->areas, about->cpus, sizeof(*areas));
	if (!areas)
		return false;
	slot->areas = areas;
	areas[about->cpus++] = *area;
	about->size += area->size;
	if (area->cpu != about->cpu)
		return true;
	about->pid = stop->pid;
	memcpy(about->comm, stop->comm, sizeof(about->comm) - 1);
	plain_text(about->comm);
	return true;
}

/* A list that goes round ends where a CPU comes again, or is too long. */
static bool areas_load(const struct crash_slots *slots,
		       struct crash_slot *slot, u64 address)
{
	bool seen[CRASH_CPUS_MAX] = { false };
	struct kipt_crash_area area;
	struct crash_page page;
	u32 i;

	for (i = 0; address; i++, address = area.next) {
		if (i == AREAS_MAX ||
		    !crash_memory_get(slots->memory, address, &area,
				      sizeof(area)))
			break;
		if (area.id != slot->about.id)
			continue;
		if (!area_fits(&area)) {
			slot->broken = true;
			continue;
		}
		if (seen[area.cpu])
			break;
		seen[area.cpu] = true;
		if (!page_get(slots, &area, 0, KIPT_CRASH_CPU, &page))
			slot->broken = true;
		else if (page.cpu.stop.state == KIPT_CRASH_STOPPED &&
			 !area_add(slot, &area, &page.cpu.stop))
			return false;
	}
	slot->broken |= address != 0;
	return true;
}

/* Returns where in the list there is room for a number, NULL: it is there. */
static struct crash_slot *slot_place(struct crash_slots *slots, u32 id)
{
	u32 i, at = 0;

	while (at < slots->count && slots->list[at].about.id < id)
		at++;
	if (at < slots->count && slots->list[at].about.id == id)
		return NULL;
	for (i = slots->count++; i > at; i--)
		slots->list[i] = slots->list[i - 1];
	return &slots->list[at];
}

static bool slot_load(struct crash_slots *slots, u64 address)
{
	struct kipt_crash_slot raw;
	struct crash_slot *slot;

	if (!crash_memory_get(slots->memory, address, &raw, sizeof(raw))) {
		slots->missing++;
		return true;
	}
	slot = raw.id ? slot_place(slots, raw.id) : NULL;
	if (!slot)
		return true;
	*slot = (struct crash_slot){
		.about = {
			.id = raw.id,
			.time = raw.time,
			.hook = raw.event.hook,
			.cpu = raw.event.cpu,
			.ip = raw.event.ip,
			.has_trap = raw.event.trap != NO_TRAP,
			.trap = raw.event.trap,
			.missed = raw.missed,
			.size = PAGE,
		},
		.event = raw.event,
	};
	return areas_load(slots, slot, raw.areas);
}

bool crash_slots_load(struct crash_slots *slots, struct crash_memory *memory,
		      const struct crash_set *set)
{
	const struct kipt_crash_header *header = &set->header;
	u32 i;

	*slots = (struct crash_slots){ .memory = memory };
	if (!set->has_header || !header->slots ||
	    !crash_memory_has_kernel(memory) ||
	    header->nr_slots > SLOTS_MAX ||
	    header->slot_bytes < sizeof(struct kipt_crash_slot) ||
	    header->slot_bytes > SLOT_BYTES_MAX)
		return true;
	slots->list = calloc(header->nr_slots + 1, sizeof(*slots->list));
	if (!slots->list)
		return false;
	for (i = 0; i < header->nr_slots; i++)
		if (!slot_load(slots, header->slots +
				      (u64)i * header->slot_bytes))
			return false;
	return true;
}

void crash_slots_free(struct crash_slots *slots)
{
	u32 i;

	for (i = 0; i < slots->count; i++)
		free(slots->list[i].areas);
	free(slots->list);
	crash_set_free(&slots->died);
	memset(slots, 0, sizeof(*slots));
}

static void cpu_dress(const struct crash_slots *slots, u32 number,
		      struct kipt_crash_cpu *cpu)
{
	u64 trace = slots->chosen->areas[number].trace;
	u64 begin = area_at(number);

	cpu->page.size = sizeof(*cpu) + sizeof(cpu->regions[0]);
	cpu->page.next = number + 1 < slots->chosen->about.cpus ?
			 area_at(number + 1) : 0;
	cpu->page.more = begin + PAGE + trace;
	cpu->size = trace;
	cpu->nr_regions = 1;
	cpu->nr_here = 1;
	cpu->regions[0].address = begin + PAGE;
	cpu->regions[0].size = trace;
}

/* The log of patches goes on to the death, if the session did. */
static void patches_dress(const struct crash_slots *slots, u32 session,
			  struct kipt_crash_logs *logs)
{
	const struct crash_set *died = &slots->died;
	u32 i;

	for (i = 0; i < died->count; i++) {
		const struct kipt_crash_logs *from = &died->cpus[i]->logs;

		if (!died->cpus[i]->has_logs ||
		    died->cpus[i]->page.session != session)
			continue;
		logs->patches = from->patches;
		logs->patches_start = from->patches_start;
		logs->patches_first = from->patches_first;
		logs->patches_missed = from->patches_missed;
		memcpy(logs->patches_unseen, from->patches_unseen,
		       sizeof(logs->patches_unseen));
		logs->patches_unseen_count = from->patches_unseen_count;
		logs->init_task = from->init_task;
		return;
	}
}

static void logs_dress(const struct crash_slots *slots, u32 number,
		       struct kipt_crash_logs *logs)
{
	const struct kipt_crash_area *area = &slots->chosen->areas[number];
	u64 begin = area_at(number) + logs_at(area);
	struct crash_page page;

	logs->page.size = sizeof(*logs);
	logs->switches.entries = begin + PAGE;
	logs->switches.written = begin + sizeof(*logs);
	if (page_get(slots, area, 0, KIPT_CRASH_CPU, &page))
		patches_dress(slots, page.cpu.session, logs);
}

/* A page as the module would have sent it. */
static bool page_dress(const struct crash_slots *slots, u32 number, u16 kind,
		       struct crash_page *page)
{
	const struct kipt_crash_area *area = &slots->chosen->areas[number];
	bool is_cpu = kind == KIPT_CRASH_CPU;

	if (!page_get(slots, area, is_cpu ? 0 : logs_at(area), kind, page))
		return false;
	page->head.id = slots->died.id;
	if (is_cpu)
		cpu_dress(slots, number, &page->cpu);
	else
		logs_dress(slots, number, &page->logs);
	crash_page_seal(page);
	return true;
}

static u32 slot_read(void *ctx, u64 address, void *bytes, u32 size)
{
	const struct crash_slots *slots = ctx;
	u64 number = (address >> AREA_SHIFT) - 1, at = address % AREA_MAX;
	const struct kipt_crash_area *area;
	struct crash_page page;
	bool is_cpu = at < PAGE;

	if (address >> 63)
		return crash_memory_read(slots->memory, 0, address, bytes, size);
	if (number >= slots->chosen->about.cpus)
		return 0;
	area = &slots->chosen->areas[number];
	if (at >= area->size)
		return 0;
	if (size > area->size - at)
		size = area->size - at;
	if (!is_cpu && at / PAGE != logs_at(area) / PAGE)
		return crash_memory_read(slots->memory, 0, area->data + at,
					 bytes, size);
	if (!page_dress(slots, number, is_cpu ? KIPT_CRASH_CPU :
						KIPT_CRASH_LOGS, &page))
		return 0;
	if (size > PAGE - at % PAGE)
		size = PAGE - at % PAGE;
	memcpy(bytes, page.bytes + at % PAGE, size);
	return size;
}

static bool is_half(const struct crash_slot *slot)
{
	return !slot->about.cpus;
}

static void refuse(const struct crash_slots *slots, u32 id)
{
	char text[SLOTS_MAX * 32] = "none";
	size_t at = 0;
	u32 i;

	for (i = 0; i < slots->count; i++)
		at += snprintf(text + at, sizeof(text) - at, "%s%u%s",
			       i ? ", " : "", slots->list[i].about.id,
			       is_half(&slots->list[i]) ? " (half written)" : "");
	if (slots->missing)
		say_error("the dump has no snapshot %u to show: it has %s, and lacks memory where %u more may have been",
			  id, text, slots->missing);
	else
		say_error("the dump has no snapshot %u to show: it has %s", id,
			  text);
}

static const struct crash_slot *slot_find(const struct crash_slots *slots,
					  u32 id)
{
	u32 i;

	for (i = 0; i < slots->count; i++)
		if (slots->list[i].about.id == id && !is_half(&slots->list[i]))
			return &slots->list[i];
	return NULL;
}

/* Return: CPUs that have a trace, beside the one that met the event. */
static u32 others_of(const struct crash_slot *slot)
{
	u32 count = 0, i;

	for (i = 0; i < slot->about.cpus; i++)
		count += slot->areas[i].cpu != slot->event.cpu;
	return count;
}

bool crash_slots_choose(struct crash_slots *slots, u32 id,
			struct crash_set *set, struct crash_source *source)
{
	const struct crash_slot *slot = slot_find(slots, id);
	struct crash_page page;

	if (!slot) {
		refuse(slots, id);
		return false;
	}
	if (slot->broken)
		say_note("a part of snapshot %u is damaged or not in the dump: it may have had more CPUs",
			 id);
	slots->chosen = slot;
	slots->died = *set;
	page = (struct crash_page){ .header = set->header };
	page.head.next = area_at(0);
	page.header.nr_cpus = slot->about.cpus;
	page.header.event = slot->event;
	page.header.event.answered = others_of(slot);
	crash_page_seal(&page);
	*source = (struct crash_source){ slot_read, slots, true };
	if (crash_set_read(set, source, &page))
		return true;
	say_errno(ENOMEM, "cannot read snapshot %u", id);
	return false;
}
