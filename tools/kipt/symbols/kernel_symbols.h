/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Symbols of the kernel and its modules from /proc/kallsyms, or a copy of it.
 */
#ifndef KIPT_KERNEL_SYMBOLS_H
#define KIPT_KERNEL_SYMBOLS_H

#include "symbols.h"

/**
 * struct kernel_symbol - a line of a kallsyms file
 * @address: 0 where the kernel hides it
 * @type: a letter, as of nm
 * @name: in the line
 * @object: in the line; the module it is in, or ""
 */
struct kernel_symbol {
	u64 address;
	char type;
	char *name;
	char *object;
};

/**
 * kernel_symbol_parse() - take a line of a kallsyms file apart
 * @line: is changed
 * @symbol: filled
 *
 * sscanf() takes longer than the kernel does to make the line.
 *
 * Return: whether it is such a line.
 */
bool kernel_symbol_parse(char *line, struct kernel_symbol *symbol);

/**
 * kernel_symbols_load() - read a kallsyms file
 * @path: NULL: /proc/kallsyms
 * @found: as for file_stream()
 *
 * Return: the table, the caller's; NULL after a sentence if it cannot be
 * read or the kernel hides the addresses.
 */
struct symbols *kernel_symbols_load(const char *path, bool found);

/**
 * kernel_symbols_check() - can symbols be had of the file that the user named?
 * @path: a copy of /proc/kallsyms; NULL and "": none was named
 *
 * What is neither a file nor a folder is not looked at.
 *
 * Return: true, or false after a sentence.
 */
bool kernel_symbols_check(const char *path);

/**
 * kernel_symbol_address() - look for one symbol in a kallsyms file
 * @path: the file
 * @found: as for file_stream()
 * @name: of the symbol, which is not a module's
 *
 * Return: its address; 0 if there is none, or the file cannot be read.
 */
u64 kernel_symbol_address(const char *path, bool found, const char *name);

/**
 * kernel_symbols_all() - read all symbols of a kallsyms file, not only text
 * @path: NULL: /proc/kallsyms
 * @lines: filled: how many lines it has; symbols without an address are left
 *	out
 *
 * Return: the table, the caller's, with rank 1 for text and 0 for what is
 * not; NULL after a sentence if it cannot be read.
 */
struct symbols *kernel_symbols_all(const char *path, size_t *lines);

/**
 * kernel_symbols_add() - one more symbol, if it is of code
 * @symbols: table that was not searched yet
 * @address: its address; one without is left out
 * @type: as in kallsyms
 * @name: its name; padding before functions is left out
 * @object: the module it is in, or ""
 *
 * Return: true, or false without memory.
 */
bool kernel_symbols_add(struct symbols *symbols, u64 address, char type,
			const char *name, const char *object);

#endif /* KIPT_KERNEL_SYMBOLS_H */
