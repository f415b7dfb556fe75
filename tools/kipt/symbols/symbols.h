/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A table from addresses to names. Filled once, then only looked at.
 */
#ifndef KIPT_SYMBOLS_H
#define KIPT_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>

#include "../../../kmod/decode/port.h"

struct symbols;

/**
 * symbols_create() - an empty table
 *
 * Return: the caller's until symbols_destroy(); NULL without memory.
 */
struct symbols *symbols_create(void);

/**
 * symbols_destroy() - free a table
 * @symbols: may be NULL
 */
void symbols_destroy(struct symbols *symbols);

/**
 * symbols_add() - one more symbol
 * @symbols: table that was not searched yet
 * @start: its address
 * @size: its bytes; 0: up to the next one
 * @rank: of several at one address, the one with the highest rank counts
 * @name: copied
 * @suffix: copied after the name, such as "@plt"
 * @object: copied; the module it is in, or ""
 *
 * Return: true, or false without memory.
 */
bool symbols_add(struct symbols *symbols, u64 start, u64 size, int rank,
		 const char *name, const char *suffix, const char *object);

/**
 * struct symbol_place - an address in words
 * @name: of the symbol; the table's
 * @object: module it is in, or ""; the table's
 * @start: address of the symbol
 * @first, @end: the same is true of all addresses from @first on, up to @end
 */
struct symbol_place {
	const char *name;
	const char *object;
	u64 start;
	u64 first, end;
};

/**
 * symbols_find() - the symbol an address is in
 * @symbols: table
 * @address: what to look for
 * @place: filled on success; else only @first and @end, between which there is none
 *
 * Return: true if there is one.
 */
bool symbols_find(struct symbols *symbols, u64 address,
		  struct symbol_place *place);

/**
 * struct symbol_entry - one symbol as it was added
 * @name: with its suffix; the table's
 * @object: the table's
 * @start: its address
 * @size: as added
 * @rank: as added
 */
struct symbol_entry {
	const char *name;
	const char *object;
	u64 start;
	u64 size;
	int rank;
};

/**
 * symbols_each() - all symbols
 * @symbols: table; once it was searched, only the best of each address
 * @found: called for each
 * @ctx: its first argument
 */
void symbols_each(const struct symbols *symbols,
		  void (*found)(void *ctx, const struct symbol_entry *entry),
		  void *ctx);

/**
 * symbols_count() - how many there are
 * @symbols: table
 *
 * Return: the number.
 */
size_t symbols_count(const struct symbols *symbols);

#endif /* KIPT_SYMBOLS_H */
