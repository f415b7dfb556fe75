/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Symbols of ELF files through libelf: .symtab, .dynsym, and names for the
 * stubs of the procedure linkage table.
 */
#ifndef KIPT_ELF_SYMBOLS_H
#define KIPT_ELF_SYMBOLS_H

#include <gelf.h>

#include "symbols.h"

#define ELF_SEGMENTS_MAX	32

struct elf_symbols;

/**
 * elf_symbols_load() - read the symbols of a file
 * @path: the file
 *
 * Return: the caller's until elf_symbols_destroy(); NULL if it cannot be read
 * or is no ELF file (without a message: the address is shown instead).
 */
struct elf_symbols *elf_symbols_load(const char *path);

/**
 * elf_symbols_memory() - read the symbols of an image in memory
 * @image: the image, which must stay
 * @size: its bytes
 *
 * Return: as elf_symbols_load().
 */
struct elf_symbols *elf_symbols_memory(void *image, size_t size);

/**
 * elf_symbols_stripped() - does a file have only the symbols it is linked by
 * @elf: file
 *
 * Return: true if it has no .symtab.
 */
bool elf_symbols_stripped(const struct elf_symbols *elf);

/**
 * elf_symbols_add() - a symbol of the file that is in another one
 * @elf: file; not searched yet
 * @sym: the symbol, of a function
 * @name: its name; copied
 *
 * Return: true, or false if there is no room for more.
 */
bool elf_symbols_add(struct elf_symbols *elf, const GElf_Sym *sym,
		     const char *name);

/**
 * elf_symbols_destroy() - free what was loaded
 * @elf: may be NULL
 */
void elf_symbols_destroy(struct elf_symbols *elf);

/**
 * elf_symbols_find() - the symbol at a place in the file
 * @elf: file
 * @offset: offset in the file, as mappings have it
 * @place: as symbols_find() does; addresses are made offsets in the file too
 *
 * Return: true if there is one.
 */
bool elf_symbols_find(struct elf_symbols *elf, u64 offset,
		      struct symbol_place *place);

struct elf_file;

/**
 * elf_symbols_made() - symbols that somebody else read
 * @file: where the file's bytes are; copied
 * @symbols: the table; owned by what is returned
 *
 * Return: as elf_symbols_load(); NULL without memory, or if @file is damaged:
 * @symbols is freed then.
 */
struct elf_symbols *elf_symbols_made(const struct elf_file *file,
				     struct symbols *symbols);

/**
 * elf_symbols_parts() - what elf_symbols_made() makes it of
 * @elf: file
 * @file: filled
 *
 * Return: the table, still @elf's.
 */
const struct symbols *elf_symbols_parts(const struct elf_symbols *elf,
					struct elf_file *file);

/**
 * struct elf_file - what is needed to find a function by name
 * @fixed: its addresses are those in memory; else the loader chooses them
 * @segments: its bytes, @size from @offset on, are loaded at @address, in @room bytes of memory
 * @segment_count: how many
 */
struct elf_file {
	bool fixed;
	struct elf_segment {
		u64 offset;
		u64 address;
		u64 size;
		u64 room;
		bool code;
	} segments[ELF_SEGMENTS_MAX];
	unsigned int segment_count;
};

/**
 * elf_file_read() - read the program headers
 * @file: filled; without segments if @elf is no ELF file
 * @elf: open
 */
void elf_file_read(struct elf_file *file, Elf *elf);

/**
 * struct elf_function - a function as the file has it
 * @name: its name
 * @address: in the file's own addresses
 * @size: its bytes, 0 if the file does not say
 * @chosen: what it does is chosen when the program starts (STT_GNU_IFUNC):
 *	this is the code that chooses
 */
struct elf_function {
	const char *name;
	u64 address;
	u64 size;
	bool chosen;
};

/**
 * elf_functions_each() - all functions of a file
 * @path: the file
 * @file: filled before the first call
 * @found: called for each entry of .symtab and .dynsym that is a function
 * @ctx: its first argument
 *
 * Return: true, or false if the file cannot be read or is no ELF file
 * (without a message; errno is 0 then for what is none).
 */
bool elf_functions_each(const char *path, struct elf_file *file,
			void (*found)(void *ctx,
				      const struct elf_function *function),
			void *ctx);

#endif /* KIPT_ELF_SYMBOLS_H */
