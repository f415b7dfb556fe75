// SPDX-License-Identifier: GPL-2.0-only
/*
 * Segments of an ELF dump against the length of its file, see dump_elf.h.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../uapi/linux/kipt_crash.h"
#include "dump_elf.h"

/* More memory than that many pieces has no machine. */
#define SEGMENTS_MAX	65536U

#define PAGE		KIPT_CRASH_PAGE_BYTES

static u32 segment_count(int fd, const Elf64_Ehdr *head)
{
	Elf64_Shdr first;

	if (head->e_phnum != PN_XNUM)
		return head->e_phnum;
	if (pread(fd, &first, sizeof(first), head->e_shoff) != sizeof(first))
		return 0;
	return first.sh_info;
}

static void segment_take(struct dump_elf *elf, const Elf64_Phdr *segment,
			 u64 length)
{
	u64 there = segment->p_offset < length ? length - segment->p_offset :
						 0;

	if (segment->p_type != PT_LOAD)
		return;
	if (there > segment->p_filesz)
		there = segment->p_filesz;
	elf->missing += segment->p_filesz - there;
	elf->parts[elf->count++] = (struct dump_part){
		.address = segment->p_paddr,
		.size = there,
	};
}

bool dump_elf_read(struct dump_elf *elf, int fd)
{
	Elf64_Phdr segment;
	Elf64_Ehdr head;
	struct stat stat;
	u32 i, count;

	memset(elf, 0, sizeof(*elf));
	if (pread(fd, &head, sizeof(head), 0) != sizeof(head) ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG) ||
	    head.e_ident[EI_CLASS] != ELFCLASS64 ||
	    head.e_phentsize != sizeof(segment) || fstat(fd, &stat))
		return true;
	count = segment_count(fd, &head);
	if (count > SEGMENTS_MAX)
		return true;
	elf->parts = calloc(count + 1, sizeof(*elf->parts));
	if (!elf->parts)
		return false;
	for (i = 0; i < count; i++) {
		if (pread(fd, &segment, sizeof(segment),
			  head.e_phoff + i * sizeof(segment)) ==
		    sizeof(segment))
			segment_take(elf, &segment, stat.st_size);
	}
	return true;
}

u32 dump_elf_there(const struct dump_elf *elf, u64 address, u32 size)
{
	u32 i, done = 0;

	if (!elf->count)
		return size;
	/* Segments may follow each other in any order. */
	for (i = 0; i < elf->count && done < size; i++) {
		const struct dump_part *part = &elf->parts[i];
		u64 into = address + done - part->address, more;

		if (into >= part->size)
			continue;
		more = part->size - into;
		done = more < size - done ? done + (u32)more : size;
		i = ~0U;
	}
	return done;
}

bool dump_elf_next(const struct dump_elf *elf, u64 *address)
{
	bool found = false;
	u64 at, next = 0;
	u32 i;

	if (!elf->count)
		return true;
	for (i = 0; i < elf->count; i++) {
		const struct dump_part *part = &elf->parts[i];

		at = (part->address + PAGE - 1) / PAGE * PAGE;
		if (at < *address)
			at = *address;
		if (at - part->address >= part->size || (found && at >= next))
			continue;
		next = at;
		found = true;
	}
	if (found)
		*address = next;
	return found;
}
