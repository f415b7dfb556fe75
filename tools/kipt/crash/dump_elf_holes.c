// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads ELF dumps, see dump_elf_holes.h. No number of the file is believed: counts are
 * bounded by the file's length, what a segment says to have by what is there.
 */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../cli/file_read.h"
#include "../cli/list_room.h"
#include "../cli/messages.h"
#include "crash_pages.h"
#include "dump_elf_holes.h"
#include "vmcoreinfo.h"

/* No machine's memory has more pieces. */
#define SEGMENTS_MAX	(1U << 20)

#define PAGE		KIPT_CRASH_PAGE_BYTES

/**
 * struct reading - a dump whose headers are read
 * @elf: what comes out of it
 * @path: its name
 * @length: bytes of the file
 * @missing: bytes that segments should have after its end
 * @senseless: segments whose addresses no machine has
 * @failed: there was no memory
 */
struct reading {
	struct dump_elf *elf;
	const char *path;
	u64 length;
	u64 missing;
	u32 senseless;
	bool failed;
};

static u32 file_read(void *ctx, u64 offset, void *bytes, u32 size)
{
	const struct dump_elf *elf = ctx;

	return file_read_at(elf->fd, offset, bytes, size);
}

bool dump_elf_is(int fd)
{
	char magic[SELFMAG];

	return pread(fd, magic, SELFMAG, 0) == SELFMAG &&
	       !memcmp(magic, ELFMAG, SELFMAG);
}

/* The first of each notes that has one. */
static void notes_take(struct reading *reading, const Elf64_Phdr *segment)
{
	struct dump_elf *elf = reading->elf;
	const struct crash_source file = { .read = file_read,
					   .ctx = elf };
	u64 at = segment->p_offset, end = at + segment->p_filesz;

	if (end < at || end > reading->length)
		end = reading->length;
	if (!elf->info)
		elf->info = vmcoreinfo_find(&file, at, end);
}

static void load_take(struct reading *reading, const Elf64_Phdr *segment)
{
	struct dump_elf *elf = reading->elf;
	struct dump_part *parts;
	u64 there = segment->p_offset < reading->length ?
		    reading->length - segment->p_offset : 0;

	if (segment->p_paddr >= CRASH_PHYSICAL_END ||
	    segment->p_filesz > CRASH_PHYSICAL_END - segment->p_paddr) {
		reading->senseless++;
		return;
	}
	if (there > segment->p_filesz)
		there = segment->p_filesz;
	reading->missing += segment->p_filesz - there;
	if (!there)
		return;
	parts = list_room(elf->parts, elf->count, sizeof(*parts));
	if (!parts) {
		reading->failed = true;
		return;
	}
	elf->parts = parts;
	parts[elf->count++] = (struct dump_part){
		.address = segment->p_paddr,
		.size = there,
		.offset = segment->p_offset,
	};
}

/* Numbers of 65535 and more do not fit into the header: the first section has
 * them, which serves nothing else.
 */
static u32 segment_count(struct reading *reading, const Elf64_Ehdr *head)
{
	u64 fit = head->e_phoff < reading->length ?
		  (reading->length - head->e_phoff) / sizeof(Elf64_Phdr) : 0;
	u64 count = head->e_phnum;
	Elf64_Shdr first;

	if (count == PN_XNUM) {
		if (file_read(reading->elf, head->e_shoff, &first,
			      sizeof(first)) == sizeof(first))
			count = first.sh_info;
		else
			say_note("%s does not say how many segments it has: the first %u are read",
				 reading->path, PN_XNUM);
	}
	if (count > SEGMENTS_MAX)
		say_note("%s says to have %llu segments: the first %u are read",
			 reading->path, (unsigned long long)count,
			 SEGMENTS_MAX);
	count = count > SEGMENTS_MAX ? SEGMENTS_MAX : count;
	return count > fit ? fit : count;
}

static void segments_read(struct reading *reading, const Elf64_Ehdr *head)
{
	u32 i, count = segment_count(reading, head);
	Elf64_Phdr segment;

	for (i = 0; i < count && !reading->failed; i++) {
		if (file_read(reading->elf, head->e_phoff +
			      (u64)i * sizeof(segment), &segment,
			      sizeof(segment)) != sizeof(segment))
			break;
		if (segment.p_type == PT_LOAD)
			load_take(reading, &segment);
		else if (segment.p_type == PT_NOTE)
			notes_take(reading, &segment);
	}
}

static int part_compare(const void *left, const void *right)
{
	const struct dump_part *a = left, *b = right;

	return a->address < b->address ? -1 : a->address > b->address;
}

/* The kernel's text is in a vmcore twice. What begins first has what they share. */
void dump_elf_order(struct dump_elf *elf)
{
	u32 i, count = 0;
	u64 end = 0;

	qsort(elf->parts, elf->count, sizeof(*elf->parts), part_compare);
	for (i = 0; i < elf->count; i++) {
		struct dump_part part = elf->parts[i];
		u64 shared = part.address < end ? end - part.address : 0;

		if (shared >= part.size)
			continue;
		part.address += shared;
		part.offset += shared;
		part.size -= shared;
		elf->parts[count++] = part;
		end = part.address + part.size;
	}
	elf->count = count;
}

static bool head_read(struct reading *reading, Elf64_Ehdr *head)
{
	struct stat stat;

	if (fstat(reading->elf->fd, &stat)) {
		say_errno(errno, "cannot read %s", reading->path);
		return false;
	}
	reading->length = stat.st_size;
	if (file_read(reading->elf, 0, head, sizeof(*head)) != sizeof(*head)) {
		say_error("%s ends in its ELF header: nothing of the dump is there",
			  reading->path);
		return false;
	}
	if (head->e_ident[EI_CLASS] != ELFCLASS64 ||
	    head->e_ident[EI_DATA] != ELFDATA2LSB ||
	    head->e_machine != EM_X86_64 ||
	    head->e_phentsize != sizeof(Elf64_Phdr)) {
		say_error("%s is no dump of an x86-64 machine, or its ELF header is damaged",
			  reading->path);
		return false;
	}
	return true;
}

static void losses_tell(const struct reading *reading)
{
	if (reading->missing)
		say_note("%s is cut short: %.1f MiB of its memory are missing",
			 reading->path, (double)reading->missing / 1048576);
	if (reading->senseless)
		say_note("%u segments of %s are damaged: no machine has memory where they say; they are left out",
			 reading->senseless, reading->path);
}

bool dump_elf_open(struct dump_elf *elf, int fd, const char *path)
{
	struct reading reading = { .elf = elf, .path = path };
	Elf64_Ehdr head;

	*elf = (struct dump_elf){ .fd = fd };
	if (!head_read(&reading, &head))
		return false;
	segments_read(&reading, &head);
	if (reading.failed) {
		say_errno(ENOMEM, "cannot read %s", path);
		return false;
	}
	losses_tell(&reading);
	if (!elf->count) {
		say_error("cannot read %s as a dump: its ELF header leads to no memory of a machine",
			  path);
		return false;
	}
	dump_elf_order(elf);
	return true;
}

void dump_elf_close(struct dump_elf *elf)
{
	free(elf->parts);
	free(elf->info);
	*elf = (struct dump_elf){ .fd = -1 };
}

/* The first part that ends after @address; @count if there is none. */
static u32 part_find(const struct dump_elf *elf, u64 address)
{
	u32 low = 0, high = elf->count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (elf->parts[middle].address + elf->parts[middle].size <=
		    address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

u32 dump_elf_read(const struct dump_elf *elf, u64 address, void *bytes,
		  u32 size)
{
	u32 i = part_find(elf, address), done = 0, got, want;

	for (; i < elf->count && done < size; i++) {
		const struct dump_part *part = &elf->parts[i];
		u64 into = address + done - part->address;

		if (address + done < part->address)
			break;
		want = size - done;
		if (want > part->size - into)
			want = (u32)(part->size - into);
		got = file_read((void *)elf, part->offset + into,
				(u8 *)bytes + done, want);
		done += got;
		if (got < want)
			break;
	}
	return done;
}

bool dump_elf_next(const struct dump_elf *elf, u64 *address)
{
	u32 i = part_find(elf, *address);
	u64 at;

	for (; i < elf->count; i++) {
		const struct dump_part *part = &elf->parts[i];

		at = part->address > *address ? part->address : *address;
		at = (at + PAGE - 1) / PAGE * PAGE;
		if (at - part->address >= part->size)
			continue;
		*address = at;
		return true;
	}
	return false;
}
