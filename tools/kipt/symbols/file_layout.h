/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Offsets in ELF files and the addresses that these were linked to have.
 */
#ifndef KIPT_FILE_LAYOUT_H
#define KIPT_FILE_LAYOUT_H

#include <stdbool.h>

#include "elf_symbols.h"

/**
 * struct file_layout - where a file was linked to be
 * @file: its segments; without any, offsets are addresses
 * @begin: the lowest address
 * @end: the highest, + 1; 0 without segments
 */
struct file_layout {
	struct elf_file file;
	u64 begin, end;
};

/**
 * file_layout_read() - how a file was linked
 * @layout: filled; without segments unless it is an ELF file that can be read
 * @path: the file
 */
void file_layout_read(struct file_layout *layout, const char *path);

/**
 * file_layout_address() - the address of what is at an offset
 * @layout: of the file
 * @offset: in the file
 * @address: filled on success
 *
 * Return: true, or false if it is not loaded.
 */
bool file_layout_address(const struct file_layout *layout, u64 offset, u64 *address);

/**
 * file_layout_code() - is there code
 * @layout: of the file
 * @address: an address
 *
 * Return: true if it is in a segment that is executable.
 */
bool file_layout_code(const struct file_layout *layout, u64 address);

#endif /* KIPT_FILE_LAYOUT_H */
