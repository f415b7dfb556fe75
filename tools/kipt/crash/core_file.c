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

#include "../cli/file_read.h"
#include "../cli/list_room.h"
#include "../cli/messages.h"
#include "core_file.h"
#include "dump_elf_holes.h"

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
		if (file_read_at(core->elf.fd, head->e_shoff, &first,
				 sizeof(first)) < sizeof(first))
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

	if (size < at ||
	    file_read_at(core->elf.fd, part->p_offset, bytes, size) < size)
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
	struct dump_part *parts;

	if (part->p_type != PT_LOAD || !part->p_filesz ||
	    part->p_vaddr + part->p_filesz <= part->p_vaddr ||
	    part->p_offset > INT64_MAX / 2 || part->p_filesz > INT64_MAX / 2)
		return true;
	parts = list_room(core->elf.parts, core->elf.count, sizeof(*parts));
	if (!parts)
		return false;
	core->elf.parts = parts;
	parts[core->elf.count++] = (struct dump_part){
		.address = part->p_vaddr,
		.size = part->p_filesz,
		.offset = part->p_offset,
	};
	return true;
}

static bool head_read(struct core_file *core)
{
	Elf64_Phdr part;
	Elf64_Ehdr head;
	bool noted = false;
	u32 count, i;

	if (file_read_at(core->elf.fd, 0, &head, sizeof(head)) < sizeof(head) ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG) ||
	    head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_type != ET_CORE ||
	    head.e_machine != EM_X86_64 || head.e_phentsize != sizeof(Elf64_Phdr) ||
	    !count_read(core, &head, &count))
		return false;
	for (i = 0; i < count; i++) {
		if (file_read_at(core->elf.fd, head.e_phoff + i * sizeof(part), &part,
				 sizeof(part)) < sizeof(part) ||
		    !part_take(core, &part))
			return false;
		if (part.p_type == PT_NOTE && !noted)
			status_read(core, &part);
		noted |= part.p_type == PT_NOTE;
	}
	dump_elf_order(&core->elf);
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
