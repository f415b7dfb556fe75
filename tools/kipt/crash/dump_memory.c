// SPDX-License-Identifier: GPL-2.0-only
/*
 * Virtual memory in a dump, see dump_memory.h. Page tables are not trusted:
 * a walk has as many steps as there are levels, and reads physical memory only.
 */
#include <stdlib.h>
#include <string.h>

#include "dump_memory.h"

#define PAGE		KIPT_CRASH_PAGE_BYTES
#define PAGE_SHIFT	12

/* Intel SDM Vol. 3A, "4-Level Paging and 5-Level Paging". */
#define ENTRY_PRESENT	(1ULL << 0)
#define ENTRY_LARGE	(1ULL << 7)
#define ENTRY_ADDRESS	0x000ffffffffff000ULL
#define LEVEL_BITS	9

/* The last entry of each table of the top level maps the kernel's text. */
#define TOP_ENTRY_KERNEL	511

/* Pages kept, found by address and table; a power of two. */
#define PAGES		512

struct page {
	u64 address;
	u64 cr3;
	bool used;
	u8 bytes[PAGE];
};

struct crash_memory {
	struct crash_source source;
	u32 levels;
	/* The kernel's page table; 0: it is not known. */
	u64 kernel;
	u64 kernel_entry;
	bool kernel_only;
	/* The space whose table was looked at: is it one of this kernel's. */
	u64 space;
	bool space_good;
	struct page pages[PAGES];
};

struct crash_memory *crash_memory_create(const struct crash_source *source,
					 u32 levels)
{
	struct crash_memory *memory = calloc(1, sizeof(*memory));

	if (memory) {
		memory->source = *source;
		memory->levels = levels;
	}
	return memory;
}

static bool word_read(const struct crash_memory *memory, u64 address,
		      u64 *word)
{
	return crash_get(&memory->source, address, word, sizeof(*word));
}

static bool canonical(const struct crash_memory *memory, u64 address)
{
	u32 unused = 64 - (PAGE_SHIFT + LEVEL_BITS * memory->levels);

	return (u64)((long long)(address << unused) >> unused) == address;
}

static bool walk(const struct crash_memory *memory, u64 cr3, u64 address,
		 u64 *found)
{
	u64 entry = cr3, within;
	u32 level, shift;

	if (!canonical(memory, address))
		return false;
	for (level = memory->levels; level; level--) {
		shift = PAGE_SHIFT + LEVEL_BITS * (level - 1);
		if (!word_read(memory, (entry & ENTRY_ADDRESS) +
			       (address >> shift & 511) * sizeof(entry),
			       &entry) || !(entry & ENTRY_PRESENT))
			return false;
		within = (1ULL << shift) - 1;
		if (level == 1 ||
		    ((level == 2 || level == 3) && (entry & ENTRY_LARGE))) {
			*found = (entry & ENTRY_ADDRESS & ~within) |
				 (address & within);
			return true;
		}
	}
	return false;
}

bool crash_memory_kernel(struct crash_memory *memory, u64 cr3, u64 probe)
{
	u64 found, entry;

	cr3 &= ENTRY_ADDRESS;
	if (!cr3 || !walk(memory, cr3, probe, &found) ||
	    !word_read(memory, cr3 + TOP_ENTRY_KERNEL * sizeof(entry), &entry))
		return false;
	memory->kernel = cr3;
	memory->kernel_entry = entry;
	return true;
}

void crash_memory_kernel_only(struct crash_memory *memory)
{
	memory->kernel_only = true;
}

bool crash_memory_has_kernel(const struct crash_memory *memory)
{
	return memory->kernel;
}

/* The tables of all processes have the kernel's text at the same place: one
 * that has not is the page of a process that ended, and was used for something
 * else since. With page-table isolation the table of user code has bit 12 set,
 * and the kernel's is the one without.
 */
static bool space_good(struct crash_memory *memory, u64 cr3)
{
	const u64 tables[] = { cr3, cr3 & ~(u64)PAGE };
	u64 entry;
	u32 i;

	if (memory->space == cr3)
		return memory->space_good;
	memory->space = cr3;
	memory->space_good = false;
	for (i = 0; i < 2; i++) {
		if (word_read(memory, tables[i] +
			      TOP_ENTRY_KERNEL * sizeof(entry), &entry) &&
		    !((entry ^ memory->kernel_entry) & ENTRY_ADDRESS))
			memory->space_good = true;
	}
	return memory->space_good;
}

/* Physical address of a virtual one. */
static bool find(struct crash_memory *memory, u64 cr3, u64 address, u64 *found)
{
	cr3 &= ENTRY_ADDRESS;
	if (!memory->kernel)
		return false;
	if (address >> 63)
		return walk(memory, memory->kernel, address, found);
	return cr3 && !memory->kernel_only && space_good(memory, cr3) &&
	       walk(memory, cr3, address, found);
}

static const u8 *page_get(struct crash_memory *memory, u64 cr3, u64 address)
{
	u64 number = address >> PAGE_SHIFT, found;
	struct page *page;

	if (address >> 63)
		cr3 = 0;
	page = &memory->pages[(number ^ cr3 >> PAGE_SHIFT) & (PAGES - 1)];
	if (page->used && page->address == address && page->cr3 == cr3)
		return page->bytes;
	page->used = false;
	if (!find(memory, cr3, address, &found) ||
	    !crash_get(&memory->source, found, page->bytes, PAGE))
		return NULL;
	page->used = true;
	page->address = address;
	page->cr3 = cr3;
	return page->bytes;
}

u32 crash_memory_read(struct crash_memory *memory, u64 cr3, u64 address,
		      void *bytes, u32 size)
{
	u32 done = 0, part;
	const u8 *page;

	while (done < size) {
		u64 at = address + done;

		part = PAGE - at % PAGE;
		if (part > size - done)
			part = size - done;
		page = page_get(memory, cr3, at - at % PAGE);
		if (!page)
			break;
		memcpy((u8 *)bytes + done, page + at % PAGE, part);
		done += part;
	}
	return done;
}
