// SPDX-License-Identifier: GPL-2.0-only
/*
 * Allocates trace buffers, builds their ToPA tables, and turns hardware
 * positions into offsets. Knows nothing of sessions; leaves MSRs to hw_msr.c.
 * Process context, but for kipt_buffer_table() and kipt_buffer_measure().
 */
#include <linux/gfp.h>
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "buffer.h"
#include "../lib/compat.h"
#include "../decode/packet/sync.h"
#include "../hw/hw.h"
#include "../hw/hw_regs.h"
#include "../lib/memory.h"

/* A table is one page: regions, then one END entry that links to the next. */
#define TABLE_ENTRIES	(PAGE_SIZE / sizeof(u64))
#define TABLE_REGIONS	(TABLE_ENTRIES - 1)

/* Where the cookie has this much left, its word is enough. */
#define COOKIE_ENOUGH	16

static u64 region_bytes(const struct kipt_region *region)
{
	return (u64)PAGE_SIZE << region->order;
}

/* Takes memory of 1 << @order pages from the limit and from the kernel. */
static struct page *alloc_block(struct kipt_buffer *buffer, u32 order)
{
	gfp_t gfp = GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN;
	struct page *page;

	if (kipt_memory_charge(PAGE_SIZE << order))
		return NULL;
	/*
	 * Large blocks are a wish: no compaction storms. Nor is a buffer worth the
	 * OOM killer, which does not know whose it is.
	 */
	gfp |= order ? __GFP_NORETRY : __GFP_RETRY_MAYFAIL;
	page = alloc_pages_node(buffer->node, gfp, order);
	if (page) {
		buffer->charged += PAGE_SIZE << order;
		return page;
	}
	kipt_memory_uncharge(PAGE_SIZE << order);
	return NULL;
}

static struct page *alloc_largest(struct kipt_buffer *buffer)
{
	u64 left = buffer->size - buffer->grown;
	struct page *page;

	while ((u64)PAGE_SIZE << buffer->order > left)
		buffer->order--;
	while (!(page = alloc_block(buffer, buffer->order)) && buffer->order)
		buffer->order--;
	return page;
}

static size_t list_bytes(u32 room)
{
	return room * sizeof(struct kipt_region);
}

/* Most buffers are of large blocks, so the list is small at first. */
static int make_room(struct kipt_buffer *buffer)
{
	u32 most = buffer->size >> PAGE_SHIFT, room = 2 * buffer->room;
	struct kipt_region *regions;

	if (buffer->nr_regions < buffer->room)
		return 0;
	room = clamp_t(u32, room, 16, most);
	regions = kipt_memory_grow(buffer->regions, list_bytes(buffer->nr_regions),
				   list_bytes(buffer->room), list_bytes(room));
	if (!regions)
		return -ENOMEM;
	buffer->regions = regions;
	buffer->room = room;
	return 0;
}

static int add_region(struct kipt_buffer *buffer)
{
	struct page *page = make_room(buffer) ? NULL : alloc_largest(buffer);
	struct kipt_region *region;

	if (!page)
		return -ENOMEM;
	region = &buffer->regions[buffer->nr_regions++];
	region->page = page;
	region->begin = buffer->grown;
	region->order = buffer->order;
	buffer->order_min = min(buffer->order_min, region->order);
	buffer->order_max = max(buffer->order_max, region->order);
	buffer->grown += region_bytes(region);
	return 0;
}

static u64 region_entry(const struct kipt_buffer *buffer, u32 i)
{
	const struct kipt_region *region = &buffer->regions[i];
	u64 entry = page_to_phys(region->page) |
		    (u64)region->order << TOPA_SIZE_SHIFT;

	if (buffer->once && i == buffer->nr_regions - 1)
		entry |= TOPA_STOP | TOPA_INT;
	return entry;
}

static void fill_table(struct kipt_buffer *buffer, u32 t)
{
	u32 first = t * TABLE_REGIONS;
	u32 count = min_t(u32, buffer->nr_regions - first, TABLE_REGIONS);
	u64 *next = buffer->tables[(t + 1) % buffer->nr_tables];
	u32 i;

	for (i = 0; i < count; i++)
		buffer->tables[t][i] = region_entry(buffer, first + i);
	buffer->tables[t][count] = virt_to_phys(next) | TOPA_END;
}

static int alloc_tables(struct kipt_buffer *buffer)
{
	u32 count = DIV_ROUND_UP(buffer->nr_regions, TABLE_REGIONS);
	struct page *page;
	u32 t;

	buffer->tables = kvcalloc(count, sizeof(*buffer->tables),
				  KIPT_MEMORY_GFP);
	if (!buffer->tables)
		return -ENOMEM;
	for (; buffer->nr_tables < count; buffer->nr_tables++) {
		page = alloc_block(buffer, 0);
		if (!page)
			return -ENOMEM;
		buffer->tables[buffer->nr_tables] = page_address(page);
	}
	for (t = 0; t < count; t++)
		fill_table(buffer, t);
	return 0;
}

struct kipt_buffer *kipt_buffer_create(u64 size, int node, bool once)
{
	struct kipt_buffer *buffer;

	buffer = kzalloc(sizeof(*buffer), GFP_KERNEL_ACCOUNT);
	if (!buffer)
		return NULL;
	kref_init(&buffer->refs);
	buffer->size = size;
	buffer->node = node;
	buffer->once = once;
	buffer->order = KIPT_MAX_ORDER;
	buffer->order_min = KIPT_MAX_ORDER;
	return buffer;
}

int kipt_buffer_grow(struct kipt_buffer *buffer, u64 bytes)
{
	u64 enough = buffer->grown + min(bytes, buffer->size - buffer->grown);
	int err;

	might_sleep();
	do {
		if (fatal_signal_pending(current))
			return -EINTR;
		err = add_region(buffer);
		if (err)
			return err;
		cond_resched();
	} while (buffer->grown < enough);
	if (buffer->grown < buffer->size)
		return 0;
	err = alloc_tables(buffer);
	return err ? err : 1;
}

static void release_buffer(struct kref *refs)
{
	struct kipt_buffer *buffer = container_of(refs, struct kipt_buffer, refs);
	u32 i;

	vunmap(buffer->view);
	for (i = 0; i < buffer->nr_tables; i++)
		free_page((unsigned long)buffer->tables[i]);
	for (i = 0; i < buffer->nr_regions; i++) {
		__free_pages(buffer->regions[i].page, buffer->regions[i].order);
		cond_resched();
	}
	kipt_memory_uncharge(buffer->charged);
	kvfree(buffer->tables);
	kipt_memory_free(buffer->regions, list_bytes(buffer->room));
	kfree(buffer);
}

struct kipt_buffer *kipt_buffer_get(struct kipt_buffer *buffer)
{
	kref_get(&buffer->refs);
	return buffer;
}

void kipt_buffer_put(struct kipt_buffer *buffer)
{
	if (buffer)
		kref_put(&buffer->refs, release_buffer);
}

static u8 *last_bytes(const struct kipt_buffer *buffer, u32 count)
{
	const struct kipt_region *last =
		&buffer->regions[buffer->nr_regions - 1];

	return page_address(last->page) + region_bytes(last) - count;
}

void kipt_buffer_mark(struct kipt_buffer *buffer)
{
	if (buffer->once)
		return;
	get_random_bytes(buffer->cookie, sizeof(buffer->cookie));
	memcpy(last_bytes(buffer, sizeof(buffer->cookie)), buffer->cookie,
	       sizeof(buffer->cookie));
}

u64 kipt_buffer_table(const struct kipt_buffer *buffer)
{
	return virt_to_phys(buffer->tables[0]);
}

/* Return: the number of a table; @buffer->nr_tables if it is none of them. */
static u32 find_table(const struct kipt_buffer *buffer, u64 base)
{
	u32 t = 0;

	while (t < buffer->nr_tables && virt_to_phys(buffer->tables[t]) != base)
		t++;
	return t;
}

static int find_offset(const struct kipt_buffer *buffer,
		       const struct kipt_hw_position *position, u64 *head)
{
	u64 entry = (position->mask_ptrs & RTIT_MASK_PTRS_INDEX) >>
		    RTIT_MASK_PTRS_INDEX_SHIFT;
	u64 offset = position->mask_ptrs >> RTIT_MASK_PTRS_OFFSET_SHIFT;
	u32 table = find_table(buffer, position->base);
	u64 index, count;

	if (table == buffer->nr_tables)
		return -EFAULT;
	index = (u64)table * TABLE_REGIONS + entry;
	count = min_t(u64, buffer->nr_regions - table * TABLE_REGIONS,
		      TABLE_REGIONS);
	/* The END entry, not followed yet, is the next table. */
	if (entry == count && !offset) {
		*head = index < buffer->nr_regions ?
			buffer->regions[index].begin : 0;
		return 0;
	}
	if (entry >= count || offset > region_bytes(&buffer->regions[index]))
		return -EFAULT;
	/*
	 * When STOP took effect, some manuals say the offset is the size of
	 * the region, some that it is one less.
	 */
	if (position->status & RTIT_STATUS_STOPPED && buffer->once &&
	    index == buffer->nr_regions - 1 &&
	    offset >= region_bytes(&buffer->regions[index]) - 1)
		*head = buffer->size;
	else
		*head = (buffer->regions[index].begin + offset);
	if (*head == buffer->size && !buffer->once)
		*head = 0;
	return 0;
}

/*
 * A lap overwrites the cookie. If it ends so close to the end that hardly any
 * of the cookie is left, the start shows: a PSB opens the trace, and a lap
 * overwrote that too.
 */
static bool went_round(const struct kipt_buffer *buffer, u64 offset)
{
	u64 rest = min_t(u64, buffer->size - offset, sizeof(buffer->cookie));
	const u8 *cookie = buffer->cookie + sizeof(buffer->cookie) - rest;

	if (buffer->once)
		return false;
	if (memcmp(last_bytes(buffer, rest), cookie, rest))
		return true;
	return rest < COOKIE_ENOUGH &&
	       !kipt_sync_is_psb(page_address(buffer->regions[0].page));
}

int kipt_buffer_measure(const struct kipt_buffer *buffer,
			const struct kipt_hw_position *position, u64 *head,
			u64 *tail)
{
	u64 offset;
	int err;

	err = find_offset(buffer, position, &offset);
	if (err)
		return err;
	*head = offset;
	*tail = 0;
	if (went_round(buffer, offset)) {
		*head += buffer->size;
		*tail = offset;
	}
	return 0;
}

static struct page **list_pages(const struct kipt_buffer *buffer, u64 *count)
{
	u64 once = buffer->size >> PAGE_SHIFT, n = 0;
	struct page **pages;
	u32 i, k;

	pages = kvmalloc_array(2 * once, sizeof(*pages), KIPT_MEMORY_GFP);
	if (!pages)
		return NULL;
	for (i = 0; i < buffer->nr_regions; i++)
		for (k = 0; k < 1U << buffer->regions[i].order; k++)
			pages[n++] = buffer->regions[i].page + k;
	memcpy(pages + n, pages, n * sizeof(*pages));
	*count = 2 * n;
	return pages;
}

static void *map_pages(const struct kipt_buffer *buffer)
{
	struct page **pages;
	void *view;
	u64 count;

	pages = list_pages(buffer, &count);
	if (!pages)
		return NULL;
	view = vmap(pages, count, VM_MAP, PAGE_KERNEL_RO);
	kvfree(pages);
	return view;
}

/* By bisection: an NMI handler copies, and there may be a region for each page. */
static const struct kipt_region *region_of(const struct kipt_buffer *buffer, u64 offset)
{
	u32 first = 0, end = buffer->nr_regions, middle;

	while (end - first > 1) {
		middle = first + (end - first) / 2;
		if (offset < buffer->regions[middle].begin)
			end = middle;
		else
			first = middle;
	}
	return &buffer->regions[first];
}

void kipt_buffer_copy(const struct kipt_buffer *buffer, u64 from, u64 to,
		      u8 *bytes)
{
	const struct kipt_region *region = region_of(buffer, from % buffer->size);
	u64 offset, here;

	for (; from < to; from += here, bytes += here) {
		offset = from % buffer->size;
		if (!offset)
			region = buffer->regions;
		else if (offset - region->begin >= region_bytes(region))
			region++;
		offset -= region->begin;
		here = min(region_bytes(region) - offset, to - from);
		memcpy(bytes, (u8 *)page_address(region->page) + offset, here);
	}
}

const u8 *kipt_buffer_view(struct kipt_buffer *buffer)
{
	if (!buffer->view)
		buffer->view = map_pages(buffer);
	return buffer->view;
}

/*
 * Maps what part of a region lies in [from, to) of the buffer. A page at a time:
 * remap_pfn_range() of all of a mapping makes 6.1 and 6.12 warn where they find
 * no memory for its page tables, or for those of a fork.
 */
static int map_region(const struct kipt_region *region,
		      struct vm_area_struct *vma, u64 from, u64 to)
{
	u64 begin = max(region->begin, from);
	u64 end = min(region->begin + region_bytes(region), to);
	unsigned long pfn = page_to_pfn(region->page) +
			    ((begin - region->begin) >> PAGE_SHIFT);

	for (; begin < end; begin += PAGE_SIZE, pfn++)
		if (vmf_insert_pfn(vma, vma->vm_start + (begin - from), pfn) !=
		    VM_FAULT_NOPAGE)
			return -ENOMEM;
	cond_resched();
	return fatal_signal_pending(current) ? -EINTR : 0;
}

int kipt_buffer_map_user(struct kipt_buffer *buffer, struct vm_area_struct *vma)
{
	u64 bytes = vma->vm_end - vma->vm_start;
	u64 from = (u64)vma->vm_pgoff << PAGE_SHIFT;
	u32 i;
	int err = 0;

	if (vma->vm_pgoff > buffer->size >> PAGE_SHIFT ||
	    bytes > buffer->size - from)
		return -EINVAL;
	for (i = 0; i < buffer->nr_regions && !err; i++)
		err = map_region(&buffer->regions[i], vma, from, from + bytes);
	return err;
}
