// SPDX-License-Identifier: GPL-2.0-only
/*
 * Walks the mappings of the running task, see killed_code.h. Never faults, and
 * waits for nobody: where another thread is changing the mappings for long,
 * nothing is found.
 */
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/mmap_lock.h>
#include <linux/page-flags.h>
#include <linux/pagemap.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "killed_code.h"
#include "memory.h"
#include "resident.h"

#define VMAS_MAX	4096U
#define LOOKS_MAX	32768U

int kipt_killed_code_create(struct kipt_killed_code *code, u32 pages)
{
	code->maps = kipt_memory_alloc(KIPT_KILLED_MAPS * sizeof(*code->maps));
	code->heads = kipt_memory_alloc(KIPT_KILLED_MAPS *
					sizeof(*code->heads));
	/* One more, so that no room is not no memory. */
	code->addresses = kipt_memory_alloc((pages + 1) *
					    sizeof(*code->addresses));
	code->pages = kipt_memory_alloc((pages + 1) * sizeof(*code->pages));
	code->path = kipt_memory_alloc(PAGE_SIZE);
	code->room = pages;
	return code->maps && code->heads && code->addresses && code->pages &&
	       code->path ? 0 : -ENOMEM;
}

void kipt_killed_code_destroy(struct kipt_killed_code *code)
{
	kipt_memory_free(code->maps, KIPT_KILLED_MAPS * sizeof(*code->maps));
	kipt_memory_free(code->heads, KIPT_KILLED_MAPS * sizeof(*code->heads));
	kipt_memory_free(code->addresses,
			 (code->room + 1) * sizeof(*code->addresses));
	kipt_memory_free(code->pages, (code->room + 1) * sizeof(*code->pages));
	kipt_memory_free(code->path, PAGE_SIZE);
	memset(code, 0, sizeof(*code));
}

/* The end of a long path says more than its begin. */
static void take_path(struct kipt_crash_map *map, const char *path)
{
	size_t len = strlen(path), room = sizeof(map->path) - 1;

	if (len <= room)
		memcpy(map->path, path, len);
	else
		snprintf(map->path, sizeof(map->path), "...%s",
			 path + len - (room - 3));
}

static void name_map(struct kipt_killed_code *code, struct kipt_crash_map *map,
		     struct vm_area_struct *vma)
{
	const char *path = NULL;

	if (vma->vm_file)
		path = file_path(vma->vm_file, code->path, PAGE_SIZE);
	else if (vma->vm_start == (unsigned long)vma->vm_mm->context.vdso)
		path = "[vdso]";
	if (!IS_ERR_OR_NULL(path))
		take_path(map, path);
}

/* Who reads memory that is broken dies; of a huge page its head tells. */
static bool is_good(struct page *page)
{
	return PageUptodate(page) && !PageHWPoison(page) &&
	       !PageHWPoison(compound_head(page));
}

/* Where the file tells its build id. */
static struct page *get_head(const struct vm_area_struct *vma)
{
	struct page *page;

	if (!vma->vm_file)
		return NULL;
	page = find_get_page(vma->vm_file->f_mapping, 0);
	if (!page || is_good(page))
		return page;
	put_page(page);
	return NULL;
}

/* A mapping may have more pages than the sum has room for. */
static void add_lost(struct kipt_killed_code *code, u64 bytes)
{
	u64 pages = bytes >> PAGE_SHIFT;

	code->code_lost += min(pages, (u64)(~0U - code->code_lost));
}

static void find_pages(struct kipt_killed_code *code,
		       struct vm_area_struct *vma, u64 from, u32 *looks)
{
	unsigned long addr = from, span;
	struct page *page;

	for (; addr < vma->vm_end; addr += span) {
		if (*looks == LOOKS_MAX || code->nr_pages == code->room) {
			add_lost(code, vma->vm_end - addr);
			return;
		}
		++*looks;
		page = kipt_resident_get(vma->vm_mm, addr, &span);
		if (!page)
			continue;
		code->addresses[code->nr_pages] = addr;
		code->pages[code->nr_pages++] = page;
	}
}

static void take_map(struct kipt_killed_code *code,
		     struct vm_area_struct *vma, u64 from, u32 *looks)
{
	struct kipt_crash_map *map = &code->maps[code->nr_maps];

	if (code->nr_maps == KIPT_KILLED_MAPS) {
		code->maps_lost++;
	} else {
		memset(map, 0, sizeof(*map));
		map->start = vma->vm_start;
		map->end = vma->vm_end;
		if (vma->vm_file)
			map->offset = (u64)vma->vm_pgoff << PAGE_SHIFT;
		name_map(code, map, vma);
		code->heads[code->nr_maps++] = get_head(vma);
	}
	if (vma->vm_flags & (VM_IO | VM_PFNMAP))
		return;
	add_lost(code, from - vma->vm_start);
	find_pages(code, vma, from, looks);
}

/* Of a mapping that is too large what is before the end counts more. */
static u64 begin_of(const struct kipt_killed_code *code,
		    struct vm_area_struct *vma, u64 ip)
{
	u64 before = (u64)code->room / 2 * PAGE_SIZE;

	if (vma_pages(vma) <= code->room || ip - vma->vm_start <= before)
		return vma->vm_start;
	return PAGE_ALIGN_DOWN(ip - before);
}

static void find_all(struct kipt_killed_code *code, u64 ip)
{
	VMA_ITERATOR(vmi, current->mm, 0);
	struct vm_area_struct *vma, *here;
	struct mm_struct *mm = current->mm;
	u32 looks = 0, count = 0;

	here = find_vma(mm, ip);
	if (here && (here->vm_start > ip || !(here->vm_flags & VM_EXEC)))
		here = NULL;
	if (here)
		take_map(code, here, begin_of(code, here, ip), &looks);
	for_each_vma(vmi, vma) {
		if (count++ == VMAS_MAX) {
			code->maps_lost += mm->map_count - VMAS_MAX;
			return;
		}
		if (vma != here && vma->vm_flags & VM_EXEC)
			take_map(code, vma, vma->vm_start, &looks);
	}
}

void kipt_killed_code_find(struct kipt_killed_code *code, u64 ip)
{
	struct mm_struct *mm = current->mm;

	code->maps_lost = 0;
	code->code_lost = 0;
	if (!kipt_resident_try_lock(mm)) {
		code->maps_lost = ~0;
		return;
	}
	find_all(code, ip);
	mmap_read_unlock(mm);
}

void kipt_killed_code_drop(struct kipt_killed_code *code)
{
	u32 i;

	for (i = 0; i < code->nr_pages; i++)
		put_page(code->pages[i]);
	for (i = 0; i < code->nr_maps; i++)
		if (code->heads[i])
			put_page(code->heads[i]);
	code->nr_pages = 0;
	code->nr_maps = 0;
}
