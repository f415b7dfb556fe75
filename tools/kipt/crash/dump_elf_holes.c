// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads ELF dumps, see dump_elf_holes.h; core dumps of programs come last. No number of
 * the file is believed: counts are bounded by the file's length, what a segment says to
 * have by what is there.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procfs.h>
#include <sys/stat.h>
#include <sys/user.h>
#include <unistd.h>

#include "../cli/file_map.h"
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

/* Whether all of it is there. */
static bool read_all(const struct dump_elf *elf, u64 offset, void *bytes, u32 size)
{
	return file_read_at(elf->fd, offset, bytes, size) == size;
}

bool dump_elf_is(int fd)
{
	return file_begins_with(fd, ELFMAG, SELFMAG);
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

/* False without memory. */
static bool part_add(struct dump_elf *elf, struct dump_part part)
{
	struct dump_part *parts = list_room(elf->parts, elf->count, sizeof(*parts));

	if (!parts)
		return false;
	elf->parts = parts;
	parts[elf->count++] = part;
	return true;
}

static void load_take(struct reading *reading, const Elf64_Phdr *segment)
{
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
	reading->failed = !part_add(reading->elf, (struct dump_part){
		.address = segment->p_paddr,
		.size = there,
		.offset = segment->p_offset,
	});
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
		if (read_all(reading->elf, head->e_shoff, &first, sizeof(first)))
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
		if (!read_all(reading->elf, head->e_phoff + (u64)i * sizeof(segment),
			      &segment, sizeof(segment)))
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

/**
 * parts_order() - sort parts, and leave out what an earlier one has
 * @elf: its @parts and @count are changed
 *
 * The kernel's text is in a vmcore twice. What begins first has what they share.
 */
static void parts_order(struct dump_elf *elf)
{
	u32 i, count = 0;
	u64 end = 0;

	if (elf->count)
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
	if (!read_all(reading->elf, 0, head, sizeof(*head))) {
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
	if (head->e_type != ET_CORE) {
		say_error("%s is an ELF file, but no dump: it is a program, a library or a kernel",
			  reading->path);
		return false;
	}
	return true;
}

/* The kernel says of no part of a program's memory where it was in that of the machine. */
static bool is_of_program(const struct dump_elf *elf)
{
	u32 i = 0;

	while (i < elf->count && !elf->parts[i].address)
		i++;
	return elf->count > 1 && i == elf->count;
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
	if (is_of_program(elf)) {
		say_error("%s is the core dump of a program, not the dump of a machine; 'kipt crash list' has what kipt kept of programs, and 'kipt crash show N --core FILE' takes code from their core dumps",
			  path);
		return false;
	}
	losses_tell(&reading);
	if (!elf->count) {
		say_error("cannot read %s as a dump: its ELF header leads to no memory of a machine",
			  path);
		return false;
	}
	parts_order(elf);
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

/* More mappings than a process may have by default, several times. */
#define PARTS_MAX	1000000
/* Notes of the first thread are in front. */
#define NOTE_BYTES	4096

struct core_file {
	/* Its parts are of virtual memory; there is no VMCOREINFO. */
	struct dump_elf elf;
	bool has_status;
	struct elf_prstatus status;
};

/* As many mappings as do not fit into the header are counted in section 0. */
static bool count_read(const struct core_file *core, const Elf64_Ehdr *head, u32 *count)
{
	Elf64_Shdr first;

	*count = head->e_phnum;
	if (head->e_phnum == PN_XNUM) {
		if (!read_all(&core->elf, head->e_shoff, &first, sizeof(first)))
			return false;
		*count = first.sh_info;
	}
	return *count && *count <= PARTS_MAX;
}

/* The status of a thread is its first note. */
static void status_read(struct core_file *core, const Elf64_Phdr *part)
{
	u8 bytes[NOTE_BYTES];
	size_t size = part->p_filesz < sizeof(bytes) ? part->p_filesz : sizeof(bytes);
	Elf64_Nhdr note;
	size_t at = sizeof(note) + 8;

	if (size < at || !read_all(&core->elf, part->p_offset, bytes, size))
		return;
	memcpy(&note, bytes, sizeof(note));
	if (note.n_type != NT_PRSTATUS || note.n_namesz != 5 ||
	    note.n_descsz != sizeof(core->status) || size < at + note.n_descsz)
		return;
	memcpy(&core->status, bytes + at, sizeof(core->status));
	core->has_status = true;
}

/*
 * Parts that have no bytes, or reach beyond the last address or offset, are left out.
 * False without memory.
 */
static bool part_take(struct core_file *core, const Elf64_Phdr *part)
{
	if (part->p_type != PT_LOAD || !part->p_filesz ||
	    part->p_vaddr + part->p_filesz <= part->p_vaddr ||
	    part->p_offset > INT64_MAX / 2 || part->p_filesz > INT64_MAX / 2)
		return true;
	return part_add(&core->elf, (struct dump_part){
		.address = part->p_vaddr,
		.size = part->p_filesz,
		.offset = part->p_offset,
	});
}

static bool core_head_read(struct core_file *core)
{
	Elf64_Phdr part;
	Elf64_Ehdr head;
	bool noted = false;
	u32 count, i;

	if (!read_all(&core->elf, 0, &head, sizeof(head)) ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG) ||
	    head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_type != ET_CORE ||
	    head.e_machine != EM_X86_64 || head.e_phentsize != sizeof(Elf64_Phdr) ||
	    !count_read(core, &head, &count))
		return false;
	for (i = 0; i < count; i++) {
		if (!read_all(&core->elf, head.e_phoff + i * sizeof(part), &part, sizeof(part)) ||
		    !part_take(core, &part))
			return false;
		if (part.p_type == PT_NOTE && !noted)
			status_read(core, &part);
		noted |= part.p_type == PT_NOTE;
	}
	parts_order(&core->elf);
	return core->has_status;
}

struct core_file *core_file_open(const char *path)
{
	struct core_file *core = calloc(1, sizeof(*core));

	if (!core) {
		say_errno(ENOMEM, "cannot read %s", path);
		return NULL;
	}
	core->elf.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (core->elf.fd < 0)
		say_errno(errno, "cannot read %s", path);
	else if (!core_head_read(core))
		say_error("%s is not a core dump of a 64-bit program, or was cut in its head",
			  path);
	else
		return core;
	core_file_close(core);
	return NULL;
}

void core_file_close(struct core_file *core)
{
	if (!core)
		return;
	if (core->elf.fd >= 0)
		close(core->elf.fd);
	dump_elf_close(&core->elf);
	free(core);
}

bool core_file_is_of(const struct core_file *core, u32 signal, u64 ip, const u64 *sp)
{
	struct user_regs_struct regs;

	memcpy(&regs, core->status.pr_reg, sizeof(regs));
	return (u32)core->status.pr_cursig == signal && regs.rip == ip &&
	       (!sp || regs.rsp == *sp);
}

u32 core_file_read(const struct core_file *core, u64 address, u8 *bytes, u32 size)
{
	return core ? dump_elf_read(&core->elf, address, bytes, size) : 0;
}
