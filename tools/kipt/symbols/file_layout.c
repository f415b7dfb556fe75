// SPDX-License-Identifier: GPL-2.0-only
/*
 * Segments of ELF files, see file_layout.h.
 */
#include <string.h>
#include <unistd.h>

#include "../cli/file_map.h"
#include "file_layout.h"

static void bounds_find(struct file_layout *layout)
{
	const struct elf_segment *at = layout->file.segments;
	u32 i;

	for (i = 0; i < layout->file.segment_count; i++, at++) {
		if (!i || at->address < layout->begin)
			layout->begin = at->address;
		if (at->address + at->room > layout->end)
			layout->end = at->address + at->room;
	}
	/* A mapping begins with the page that its first byte is in. */
	layout->begin &= ~4095ULL;
}

void file_layout_read(struct file_layout *layout, const char *path)
{
	int fd = file_open_regular(path);
	Elf *elf;

	memset(layout, 0, sizeof(*layout));
	if (fd < 0)
		return;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (elf)
		elf_file_read(&layout->file, elf);
	bounds_find(layout);
	elf_end(elf);
	close(fd);
}

bool file_layout_address(const struct file_layout *layout, u64 offset, u64 *address)
{
	const struct elf_segment *at = layout->file.segments;
	u32 i;

	*address = offset;
	for (i = 0; i < layout->file.segment_count; i++, at++) {
		if (offset >= at->offset && offset - at->offset < at->size) {
			*address = at->address + (offset - at->offset);
			return true;
		}
	}
	return !layout->file.segment_count;
}

bool file_layout_code(const struct file_layout *layout, u64 address)
{
	const struct elf_segment *at = layout->file.segments;
	u32 i;

	for (i = 0; i < layout->file.segment_count; i++, at++) {
		if (at->code && address >= at->address && address - at->address < at->size)
			return true;
	}
	return false;
}
