/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Symbols of ELF files through libelf: .symtab, .dynsym, and names for the
 * stubs of the procedure linkage table.
 */
#ifndef KIPT_ELF_SYMBOLS_H
#define KIPT_ELF_SYMBOLS_H

#include "symbols.h"

struct elf_symbols;

/**
 * elf_symbols_load() - read the symbols of a file
 * @path: the file
 *
 * Return: the caller's until elf_symbols_destroy(); NULL if it cannot be read
 * or is no ELF file (not told: the address is shown instead).
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
 * elf_symbols_destroy() - free what was loaded
 * @elf: may be NULL
 */
void elf_symbols_destroy(struct elf_symbols *elf);

/**
 * elf_symbols_find() - the symbol at a place in the file
 * @elf: file
 * @offset: offset in the file, as mappings have it
 * @place: filled on success; @start is made an offset in the file too
 *
 * Return: true if there is one.
 */
bool elf_symbols_find(struct elf_symbols *elf, u64 offset,
		      struct symbol_place *place);

#endif /* KIPT_ELF_SYMBOLS_H */
