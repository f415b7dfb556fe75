// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies kernel text, see kcore_copy.h. The head of the file, of a size that has room for
 * all segments there may be, is written last.
 */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../cli/messages.h"
#include "../cli/progress.h"
#include "code_pages.h"
#include "kcore_copy.h"
#include "kernel_text.h"

#define SEGMENTS_MOST	4096

struct kcore_head {
	Elf64_Ehdr elf;
	Elf64_Phdr segments[SEGMENTS_MOST];
};

#define HEAD_BYTES	\
	((sizeof(struct kcore_head) + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES)

struct copy {
	const char *path;
	FILE *out;
	u64 at;
	struct kcore_head head;
	bool full;
};

static bool write_failed(const struct copy *copy, int err)
{
	say_errno(err, "cannot write to %s", copy->path);
	return false;
}

/* The segment that a page goes to, which ends there; NULL if there are too many. */
static Elf64_Phdr *segment_for(struct copy *copy, u64 address)
{
	Elf64_Phdr *segment = &copy->head.segments[copy->head.elf.e_phnum];

	if (copy->head.elf.e_phnum &&
	    segment[-1].p_vaddr + segment[-1].p_memsz == address)
		return segment - 1;
	if (copy->head.elf.e_phnum == SEGMENTS_MOST)
		return NULL;
	copy->head.elf.e_phnum++;
	*segment = (Elf64_Phdr){
		.p_type = PT_LOAD,
		.p_flags = PF_R | PF_W | PF_X,
		.p_offset = copy->at,
		.p_vaddr = address,
		.p_align = PAGE_BYTES,
	};
	return segment;
}

static bool page_take(void *ctx, u64 address, const u8 *page)
{
	struct copy *copy = ctx;
	Elf64_Phdr *segment = segment_for(copy, address);

	if (progress_interrupted())
		return false;
	if (!segment) {
		copy->full = true;
		return true;
	}
	if (fwrite(page, PAGE_BYTES, 1, copy->out) != 1)
		return write_failed(copy, errno);
	copy->at += PAGE_BYTES;
	segment->p_memsz += PAGE_BYTES;
	segment->p_filesz = segment->p_memsz;
	return true;
}

static bool head_write(struct copy *copy)
{
	Elf64_Ehdr *elf = &copy->head.elf;

	memcpy(elf->e_ident, ELFMAG, SELFMAG);
	elf->e_ident[EI_CLASS] = ELFCLASS64;
	elf->e_ident[EI_DATA] = ELFDATA2LSB;
	elf->e_ident[EI_VERSION] = EV_CURRENT;
	elf->e_type = ET_CORE;
	elf->e_machine = EM_X86_64;
	elf->e_version = EV_CURRENT;
	elf->e_phoff = sizeof(*elf);
	elf->e_ehsize = sizeof(*elf);
	elf->e_phentsize = sizeof(Elf64_Phdr);
	return (!fseek(copy->out, 0, SEEK_SET) &&
		fwrite(&copy->head, sizeof(copy->head), 1, copy->out) == 1) ||
	       write_failed(copy, errno);
}

static bool copy_write(struct copy *copy, const char *kallsyms)
{
	struct kcore *core = kcore_open();
	bool ok;

	copy->at = HEAD_BYTES;
	ok = core && (!fseek(copy->out, copy->at, SEEK_SET) ||
		      write_failed(copy, errno));
	ok = ok && kcore_text(core, kallsyms, page_take, copy) &&
	     head_write(copy);
	kcore_close(core);
	if (copy->full)
		say_note("kernel code is in more than %u places: some of it is not in %s",
			 SEGMENTS_MOST, copy->path);
	return ok;
}

bool kcore_copy(const char *kallsyms, const char *path)
{
	static struct copy copy;
	bool ok;

	copy = (struct copy){ .path = path, .out = fopen(path, "we") };
	if (!copy.out) {
		say_errno(errno, "cannot make %s", path);
		return false;
	}
	ok = copy_write(&copy, kallsyms);
	if (fclose(copy.out) && ok)
		ok = write_failed(&copy, errno);
	return ok;
}
