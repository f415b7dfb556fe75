/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which physical memory an ELF dump truly has: the library gives zeros for
 * what stands behind the end of a file that was cut short.
 */
#ifndef KIPT_DUMP_ELF_H
#define KIPT_DUMP_ELF_H

#include <stdbool.h>

#include "../../kmod/decode/port.h"

struct dump_part {
	u64 address;
	u64 size;
};

/**
 * struct dump_elf - the memory in an ELF dump
 * @parts: what of each segment is in the file; the caller's to free
 * @count: how many; 0: it is no ELF file, nothing is known
 * @missing: bytes that its segments lack
 */
struct dump_elf {
	struct dump_part *parts;
	u32 count;
	u64 missing;
};

/**
 * dump_elf_read() - read the table of segments
 * @elf: filled
 * @fd: the dump
 *
 * Return: true, or false without memory.
 */
bool dump_elf_read(struct dump_elf *elf, int fd);

/**
 * dump_elf_there() - how many bytes from an address on are in the file
 * @elf: the memory
 * @address: physical
 * @size: how many are wanted
 *
 * Return: up to @size.
 */
u32 dump_elf_there(const struct dump_elf *elf, u64 address, u32 size);

/**
 * dump_elf_next() - the next page of which the begin is in the file
 * @elf: the memory
 * @address: physical, of a page, where to begin; the page's on success
 *
 * Return: true, or false if there is none.
 */
bool dump_elf_next(const struct dump_elf *elf, u64 *address);

#endif /* KIPT_DUMP_ELF_H */
