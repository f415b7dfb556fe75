// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer target: the tool's reader of ELF dumps, and of VMCOREINFO in them.
 * Input is a file.
 */
#define _GNU_SOURCE
#include <stdlib.h>

#include "../kipt/crash/dump_elf_holes.h"
#include "../kipt/crash/vmcoreinfo.h"
#include "input_file.h"

#define PAGE	4096

/* So many pages and reads are enough: a file of some bytes says to have terabytes. */
#define LOOKS	64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void parts_check(const struct dump_elf *elf)
{
	u64 end = 0;
	u32 i;

	if (!elf->count)
		abort();
	for (i = 0; i < elf->count; i++) {
		const struct dump_part *part = &elf->parts[i];

		if (!part->size || part->address < end ||
		    part->address + part->size < part->address)
			abort();
		end = part->address + part->size;
	}
	if (end > CRASH_PHYSICAL_END)
		abort();
}

static void memory_read(const struct dump_elf *elf)
{
	u8 bytes[PAGE];
	u64 at = 0, before;
	u32 i;

	for (i = 0; i < LOOKS; i++) {
		before = at;
		if (!dump_elf_next(elf, &at))
			break;
		if (at < before || at % PAGE)
			abort();
		if (!dump_elf_read(elf, at, bytes, 1) ||
		    dump_elf_read(elf, at, bytes, PAGE) > PAGE)
			abort();
		at += PAGE;
	}
	for (i = 0; i < LOOKS && i < elf->count; i++)
		dump_elf_read(elf, elf->parts[i].address - PAGE / 2, bytes,
			      PAGE);
}

static void info_read(const char *info)
{
	char text[64];
	u64 value;

	vmcoreinfo_text(info, "OSRELEASE", text, sizeof(text));
	vmcoreinfo_symbol(info, "prb", &value);
	vmcoreinfo_number(info, "NUMBER", "phys_base", &value);
	vmcoreinfo_number(info, "OFFSET", "prb_desc.text_blk_lpos", &value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = input_file(data, size);
	struct dump_elf elf;

	if (dump_elf_is(fd) && dump_elf_open(&elf, fd, "dump")) {
		parts_check(&elf);
		memory_read(&elf);
		info_read(elf.info);
		dump_elf_close(&elf);
	} else if (dump_elf_is(fd)) {
		dump_elf_close(&elf);
	}
	return 0;
}
