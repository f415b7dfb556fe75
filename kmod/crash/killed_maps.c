// SPDX-License-Identifier: GPL-2.0-only
/*
 * Walks the mappings of the running task, see killed_maps.h. A mapping that has
 * pages of the process's own, which a debugger, a uprobe or the process itself has
 * written to, is listed in parts: what ran there is in no file.
 */
#include <linux/elf.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/kdev_t.h>
#include <linux/mm.h>
#include <linux/mmap_lock.h>
#include <linux/page-flags.h>
#include <linux/pagemap.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "killed_maps.h"
#include "../watch/resident.h"

#define VMAS_MAX	4096U
#define LOOKS_MAX	4096U
#define NOTE_BUILD_ID	3
#define MAPS_HERE	((PAGE_SIZE - sizeof(struct kipt_crash_maps)) /	\
			 sizeof(struct kipt_crash_map))
#define MAPS		(KIPT_KILLED_MAP_PAGES * MAPS_HERE)

static_assert(sizeof(struct kipt_crash_map) == 256);

/**
 * struct walk - a walk over the mappings
 * @signal: what is filled
 * @at: see kipt_killed_maps()
 * @scratch: as well
 * @count: mappings that were listed
 * @looks: pages that were looked at
 * @map: what the parts of the current mapping share
 */
struct walk {
	struct kipt_crash_signal *signal;
	u64 at;
	u8 *scratch;
	u32 count;
	u32 looks;
	struct kipt_crash_map map;
};

/* Return: bytes of the build id that [@at, @at + @size) of a file's head has. */
static u32 read_notes(const u8 *head, u64 at, u64 size, u8 *id)
{
	u64 end = PAGE_SIZE, name, desc;
	const Elf64_Nhdr *note;

	if (at < end && size < end - at)
		end = at + size;
	while (at < end && sizeof(*note) <= end - at) {
		note = (const void *)(head + at);
		name = at + sizeof(*note);
		desc = name + ALIGN((u64)note->n_namesz, 4);
		if (note->n_type == NOTE_BUILD_ID && note->n_namesz == 4 &&
		    note->n_descsz && note->n_descsz <= KIPT_CRASH_ID_BYTES &&
		    desc + note->n_descsz <= end &&
		    !memcmp(head + name, "GNU", 4)) {
			memcpy(id, head + desc, note->n_descsz);
			return note->n_descsz;
		}
		at = desc + ALIGN((u64)note->n_descsz, 4);
	}
	return 0;
}

/* Nothing in @head, the first page of a file, is believed. */
static u32 read_build_id(const u8 *head, u8 *id)
{
	bool is_32bit = head[EI_CLASS] == ELFCLASS32;
	const Elf32_Ehdr *elf_32 = (const void *)head;
	const Elf64_Ehdr *elf = (const void *)head;
	u64 at = is_32bit ? elf_32->e_phoff : elf->e_phoff;
	u32 count = is_32bit ? elf_32->e_phnum : elf->e_phnum, i, found = 0;
	u64 size = is_32bit ? sizeof(Elf32_Phdr) : sizeof(Elf64_Phdr);

	if (memcmp(head, ELFMAG, SELFMAG))
		return 0;
	for (i = 0; i < count && at <= PAGE_SIZE - size && !found; i++) {
		const Elf32_Phdr *part_32 = (const void *)(head + at);
		const Elf64_Phdr *part = (const void *)(head + at);

		at += size;
		if (part->p_type != PT_NOTE)
			continue;
		found = is_32bit ?
			read_notes(head, part_32->p_offset, part_32->p_filesz,
				   id) :
			read_notes(head, part->p_offset, part->p_filesz, id);
	}
	return found;
}

/* Who reads memory that is broken dies; of a huge page its head says. */
static bool read_page(struct page *page, u8 *to)
{
	return PageUptodate(page) && !PageHWPoison(page) &&
	       !PageHWPoison(compound_head(page)) &&
	       kipt_resident_copy(page, to);
}

static void take_file(struct walk *walk, const struct file *file)
{
	const struct inode *inode = file_inode(file);
	struct page *page = find_get_page(file->f_mapping, 0);
	u8 *head = walk->scratch + PAGE_SIZE;
	struct kipt_crash_map *map = &walk->map;

	map->inode = inode->i_ino;
	map->dev = new_encode_dev(inode->i_sb->s_dev);
	if (!page)
		return;
	if (read_page(page, head))
		map->build_id_bytes = read_build_id(head, map->build_id);
	put_page(page);
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

static void begin_map(struct walk *walk, const struct vm_area_struct *vma)
{
	const char *path = NULL;

	memset(&walk->map, 0, sizeof(walk->map));
	if (vma->vm_file) {
		take_file(walk, vma->vm_file);
		path = file_path(vma->vm_file, walk->scratch, PAGE_SIZE);
	} else if (vma->vm_start == (unsigned long)vma->vm_mm->context.vdso) {
		path = "[vdso]";
	}
	if (!IS_ERR_OR_NULL(path))
		take_path(&walk->map, path);
}

static struct kipt_crash_maps *maps_page(const struct walk *walk, u32 number)
{
	return (void *)((u8 *)walk->signal + (number + 1) * PAGE_SIZE);
}

static void add_part(struct walk *walk, const struct vm_area_struct *vma,
		     u64 start, u64 end, bool changed)
{
	struct kipt_crash_maps *page;
	struct kipt_crash_map *map;

	if (start == end)
		return;
	if (walk->count == MAPS) {
		walk->signal->maps_lost++;
		return;
	}
	page = maps_page(walk, walk->count++ / MAPS_HERE);
	map = &page->maps[page->nr_here++];
	*map = walk->map;
	map->start = start;
	map->end = end;
	map->changed = changed;
	if (vma->vm_file)
		map->offset = ((u64)vma->vm_pgoff << PAGE_SHIFT) + start -
			      vma->vm_start;
}

/* Return: for @span bytes; true if too many were looked at already. */
static bool is_changed(struct walk *walk, const struct vm_area_struct *vma,
		       u64 addr, unsigned long *span)
{
	struct page *page;
	bool changed;

	*span = vma->vm_end - addr;
	if (walk->looks == LOOKS_MAX)
		return true;
	walk->looks++;
	page = kipt_resident_get(vma->vm_mm, addr, span);
	changed = page && PageAnon(page);
	if (page)
		put_page(page);
	return changed;
}

/* What ran just before is in memory: a page that is not there is the file's. */
static void add_map(struct walk *walk, const struct vm_area_struct *vma)
{
	u64 begin = vma->vm_start, addr = begin;
	unsigned long span;
	bool changed = false, here;

	if (walk->count == MAPS) {
		walk->signal->maps_lost++;
		return;
	}
	begin_map(walk, vma);
	if (!vma->vm_file || !vma->anon_vma ||
	    vma->vm_flags & (VM_IO | VM_PFNMAP)) {
		add_part(walk, vma, begin, vma->vm_end, false);
		return;
	}
	for (; addr < vma->vm_end; addr += span) {
		here = is_changed(walk, vma, addr, &span);
		if (here == changed)
			continue;
		add_part(walk, vma, begin, addr, changed);
		begin = addr;
		changed = here;
	}
	add_part(walk, vma, begin, vma->vm_end, changed);
}

/* That of the instruction first, if it is known. */
static void add_all(struct walk *walk, u64 ip)
{
	VMA_ITERATOR(vmi, current->mm, 0);
	struct vm_area_struct *vma, *here;
	u32 count = 0;

	here = find_vma(current->mm, ip);
	if (here && here->vm_start <= ip && here->vm_flags & VM_EXEC)
		add_map(walk, here);
	else
		here = NULL;
	for_each_vma(vmi, vma) {
		if (count++ == VMAS_MAX) {
			walk->signal->maps_lost +=
				current->mm->map_count - VMAS_MAX;
			return;
		}
		if (vma != here && vma->vm_flags & VM_EXEC)
			add_map(walk, vma);
	}
}

static void link_pages(const struct walk *walk)
{
	u64 *more = &walk->signal->page.more;
	struct kipt_crash_maps *page;
	u32 i;

	for (i = 0; i * MAPS_HERE < walk->count; i++) {
		page = maps_page(walk, i);
		page->page.version = KIPT_CRASH_VERSION;
		page->page.kind = KIPT_CRASH_MAPS;
		page->page.number = i;
		page->page.size = struct_size(page, maps, page->nr_here);
		*more = walk->at + i * PAGE_SIZE;
		more = &page->page.more;
	}
}

void kipt_killed_maps(struct kipt_crash_signal *signal, u64 at, u8 *scratch)
{
	struct walk walk = { .signal = signal, .at = at, .scratch = scratch };

	if (!kipt_resident_try_lock(current->mm)) {
		signal->maps_lost = ~0;
		return;
	}
	add_all(&walk, signal->ip);
	mmap_read_unlock(current->mm);
	link_pages(&walk);
}
