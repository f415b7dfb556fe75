// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory in core dumps, see core_file.h.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procfs.h>
#include <sys/user.h>
#include <unistd.h>

#include "../cli/messages.h"
#include "core_file.h"

/* More mappings than a process may have by default, several times. */
#define PARTS_MAX	1000000
/* Notes of the first thread are in front. */
#define NOTE_BYTES	4096

struct core_file {
	int fd;
	/* Those that have bytes in the file, by address. */
	Elf64_Phdr *parts;
	u32 count;
	bool has_status;
	struct elf_prstatus status;
};

static bool read_at(const struct core_file *core, u64 offset, void *bytes, size_t size)
{
	return offset < INT64_MAX &&
	       pread(core->fd, bytes, size, (off_t)offset) == (ssize_t)size;
}

/* As many mappings as do not fit into the header are counted in section 0. */
static bool count_read(const struct core_file *core, const Elf64_Ehdr *head, u32 *count)
{
	Elf64_Shdr first;

	*count = head->e_phnum;
	if (head->e_phnum == PN_XNUM) {
		if (!read_at(core, head->e_shoff, &first, sizeof(first)))
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

	if (size < at || !read_at(core, part->p_offset, bytes, size))
		return;
	memcpy(&note, bytes, sizeof(note));
	if (note.n_type != NT_PRSTATUS || note.n_namesz != 5 ||
	    note.n_descsz != sizeof(core->status) || size < at + note.n_descsz)
		return;
	memcpy(&core->status, bytes + at, sizeof(core->status));
	core->has_status = true;
}

static int part_compare(const void *left, const void *right)
{
	const Elf64_Phdr *a = left, *b = right;

	return a->p_vaddr < b->p_vaddr ? -1 : a->p_vaddr > b->p_vaddr;
}

/* Parts that have no bytes, or reach beyond the last address, are left out. */
static void parts_sort(struct core_file *core)
{
	bool noted = false;
	u32 i, kept = 0;

	for (i = 0; i < core->count; i++) {
		const Elf64_Phdr *part = &core->parts[i];

		if (part->p_type == PT_NOTE && !noted) {
			status_read(core, part);
			noted = true;
		}
		if (part->p_type == PT_LOAD && part->p_filesz &&
		    part->p_vaddr + part->p_filesz > part->p_vaddr)
			core->parts[kept++] = *part;
	}
	core->count = kept;
	qsort(core->parts, kept, sizeof(*core->parts), part_compare);
}

static bool head_read(struct core_file *core)
{
	Elf64_Ehdr head;

	if (!read_at(core, 0, &head, sizeof(head)) ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG) ||
	    head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_type != ET_CORE ||
	    head.e_machine != EM_X86_64 || head.e_phentsize != sizeof(Elf64_Phdr) ||
	    !count_read(core, &head, &core->count))
		return false;
	core->parts = calloc(core->count, sizeof(*core->parts));
	if (!core->parts ||
	    !read_at(core, head.e_phoff, core->parts, core->count * sizeof(*core->parts)))
		return false;
	parts_sort(core);
	return core->has_status;
}

struct core_file *core_file_open(const char *path)
{
	struct core_file *core = calloc(1, sizeof(*core));

	if (!core) {
		say_errno(ENOMEM, "cannot read %s", path);
		return NULL;
	}
	core->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (core->fd < 0)
		say_errno(errno, "cannot read %s", path);
	else if (!head_read(core))
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
	if (core->fd >= 0)
		close(core->fd);
	free(core->parts);
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
	u32 low = 0, high = core ? core->count : 0, middle;
	const Elf64_Phdr *part;
	ssize_t got;
	u64 into;

	/* The last that begins at the address or before it. */
	while (low < high) {
		middle = low + (high - low) / 2;
		if (core->parts[middle].p_vaddr <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return 0;
	part = &core->parts[low - 1];
	into = address - part->p_vaddr;
	if (into >= part->p_filesz || part->p_offset > INT64_MAX / 2 || into > INT64_MAX / 2)
		return 0;
	if (size > part->p_filesz - into)
		size = part->p_filesz - into;
	got = pread(core->fd, bytes, size, (off_t)(part->p_offset + into));
	return got > 0 ? got : 0;
}
