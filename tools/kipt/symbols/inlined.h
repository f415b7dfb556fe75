/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions that compilers inlined, through libdw: what the code at an address was made
 * of within the function that a symbol names.
 */
#ifndef KIPT_INLINED_H
#define KIPT_INLINED_H

#include "../../../kmod/decode/port.h"
#include "debug_file.h"

/**
 * struct inlined - a function, inlined at one place
 * @outer: the one it is inlined in; NULL: it is inlined in a function of its own code
 * @level: 1 more than that of @outer; without one 1
 *
 * The same place always has the same address of this struct.
 */
struct inlined {
	const struct inlined *outer;
	u32 level;
};

struct inlined_table;

/**
 * inlined_table_create() - be ready to look for inlined functions of a file
 * @file: the file; must live as long. Nothing is read before inlined_find()
 *
 * Return: the caller's until inlined_table_destroy(); NULL without memory.
 */
struct inlined_table *inlined_table_create(struct debug_file *file);

/**
 * inlined_table_destroy() - free it
 * @table: may be NULL
 */
void inlined_table_destroy(struct inlined_table *table);

/**
 * inlined_find() - the innermost function that the code at an address is of
 * @table: of the file
 * @address: as the file was linked
 *
 * Reads the compile unit that has the address when it is first asked for. What makes
 * no sense there is left out.
 *
 * Return: it, valid as long as @table; NULL: none was inlined there, or nobody knows.
 */
const struct inlined *inlined_find(struct inlined_table *table, u64 address);

/**
 * inlined_outer() - one of the functions that another is inlined in, or itself
 * @inlined: the innermost
 * @level: not more than its level, at least 1
 *
 * Return: the one of this level.
 */
const struct inlined *inlined_outer(const struct inlined *inlined, u32 level);

/**
 * inlined_shared() - what the code at two addresses of a function has in common
 * @a: the innermost inlined function of one; NULL: none
 * @b: that of the other
 *
 * Return: how many levels of inlined functions, of the outermost, are the same.
 */
u32 inlined_shared(const struct inlined *a, const struct inlined *b);

/**
 * inlined_name() - the name of an inlined function
 * @inlined: from inlined_find()
 *
 * Return: that of its symbol, if it has one of its own, as C++ and Rust give; valid as
 * long as the table.
 */
const char *inlined_name(const struct inlined *inlined);

#endif /* KIPT_INLINED_H */
