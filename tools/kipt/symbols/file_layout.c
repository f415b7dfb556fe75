// SPDX-License-Identifier: GPL-2.0-only
/*
 * Segments of ELF files, see file_layout.h.
 */
#include <string.h>
#include <unistd.h>

#include "../cli/file_map.h"
#include "file_layout.h"

static void segment_add(struct file_layout *layout, const GElf_Phdr *head)
{
	if (head->p_type != PT_LOAD || layout->count == ELF_SEGMENTS_MAX)
		return;
	if (!layout->count || head->p_vaddr < layout->begin)
		layout->begin = head->p_vaddr;
	if (head->p_vaddr + head->p_memsz > layout->end)
		layout->end = head->p_vaddr + head->p_memsz;
	layout->segments[layout->count++] = (struct file_segment){
		.offset = head->p_offset,
		.size = head->p_filesz,
		.address = head->p_vaddr,
		.code = head->p_flags & PF_X,
	};
}

void file_layout_read(struct file_layout *layout, const char *path)
{
	int fd = file_open_regular(path);
	size_t i, count = 0;
	GElf_Phdr head;
	Elf *elf;

	memset(layout, 0, sizeof(*layout));
	if (fd < 0)
		return;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (elf && elf_getphdrnum(elf, &count))
		count = 0;
	for (i = 0; i < count; i++) {
		if (gelf_getphdr(elf, i, &head))
			segment_add(layout, &head);
	}
	/* A mapping begins with the page that its first byte is in. */
	layout->begin &= ~4095ULL;
	elf_end(elf);
	close(fd);
}

bool file_layout_address(const struct file_layout *layout, u64 offset, u64 *address)
{
	const struct file_segment *at = layout->segments;
	u32 i;

	*address = offset;
	for (i = 0; i < layout->count; i++, at++) {
		if (offset >= at->offset && offset - at->offset < at->size) {
			*address = at->address + (offset - at->offset);
			return true;
		}
	}
	return !layout->count;
}

bool file_layout_code(const struct file_layout *layout, u64 address)
{
	const struct file_segment *at = layout->segments;
	u32 i;

	for (i = 0; i < layout->count; i++, at++) {
		if (at->code && address >= at->address && address - at->address < at->size)
			return true;
	}
	return false;
}
