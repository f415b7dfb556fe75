/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Dumps that are ELF files: vmcores of kexec, of QEMU, and /proc/vmcore. A
 * segment says which physical memory is where in the file, a note has
 * VMCOREINFO. And memory of a program out of the core dump that the kernel wrote of it:
 * code that no file has, as what was compiled at run time. Both may be cut or made up.
 */
#ifndef KIPT_DUMP_ELF_HOLES_H
#define KIPT_DUMP_ELF_HOLES_H

#include <stdbool.h>

#include "../../../kmod/decode/port.h"

/**
 * struct dump_part - memory in a row that is in a row in the file
 * @address: physical; of a core dump virtual
 * @size: bytes, at least 1; of physical memory the last is below CRASH_PHYSICAL_END
 * @offset: in the file
 */
struct dump_part {
	u64 address;
	u64 size;
	u64 offset;
};

/**
 * struct dump_elf - an ELF dump
 * @fd: the file, somebody else's
 * @parts: by address, none of them overlap
 * @count: how many, at least 1
 * @info: VMCOREINFO; NULL: there is none
 */
struct dump_elf {
	int fd;
	struct dump_part *parts;
	u32 count;
	char *info;
};

/**
 * dump_elf_is() - is a file an ELF file
 * @fd: the file
 *
 * Return: true if it begins as one.
 */
bool dump_elf_is(int fd);

/**
 * dump_elf_open() - read what a dump says of itself
 * @elf: filled; dump_elf_close() it also on failure
 * @fd: the file; must stay open as long
 * @path: its name, for sentences
 *
 * Says what is missing or makes no sense; the rest can be read.
 *
 * Return: true, or false after a sentence.
 */
bool dump_elf_open(struct dump_elf *elf, int fd, const char *path);

/**
 * dump_elf_close() - free it
 * @elf: was opened, or all zero
 */
void dump_elf_close(struct dump_elf *elf);

/**
 * dump_elf_read() - copy memory
 * @elf: the dump
 * @address: as of its parts
 * @bytes: filled
 * @size: how many are wanted
 *
 * Return: how many are there in a row, up to @size.
 */
u32 dump_elf_read(const struct dump_elf *elf, u64 address, void *bytes,
		  u32 size);

/**
 * dump_elf_next() - the next page of which the begin is in the file
 * @elf: the dump
 * @address: physical, where to begin; the page's on success
 *
 * Return: true, or false if there is none.
 */
bool dump_elf_next(const struct dump_elf *elf, u64 *address);

struct core_file;

/**
 * core_file_open() - read the head of a core dump
 * @path: an ELF file of a 64-bit program
 *
 * Return: the caller's until core_file_close(); NULL after a sentence.
 */
struct core_file *core_file_open(const char *path);

/**
 * core_file_close() - close it
 * @core: may be NULL
 */
void core_file_close(struct core_file *core);

/**
 * core_file_is_of() - whether it is of the program that a signal killed
 * @core: the core dump
 * @signal: number of the signal
 * @ip: where its thread was, which is the first in a core dump
 * @sp: its stack pointer; NULL: it is not known
 *
 * Return: true if so.
 */
bool core_file_is_of(const struct core_file *core, u32 signal, u64 ip, const u64 *sp);

/**
 * core_file_read() - copy memory
 * @core: may be NULL, which has none
 * @address: in the program
 * @bytes: filled
 * @size: how many are wanted
 *
 * Return: how many were copied; less than @size where the core dump has no more.
 */
u32 core_file_read(const struct core_file *core, u64 address, u8 *bytes, u32 size);

#endif /* KIPT_DUMP_ELF_HOLES_H */
