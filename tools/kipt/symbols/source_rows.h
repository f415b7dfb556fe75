/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All lines of source code that a file was made of, through libdw.
 */
#ifndef KIPT_SOURCE_ROWS_H
#define KIPT_SOURCE_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#include "../../../kmod/decode/port.h"
#include "debug_file.h"

/**
 * struct source_row - code that is of one line
 * @begin: its address, as the file was linked
 * @end: its end
 * @file: path of the source, valid until the function that gives it returns
 * @folder: that @file and @first_file are in unless they begin with a slash
 * @line: in it
 * @first_file, @first_line: of several lines of @begin the first: of a function that
 *	begins there, its own
 */
struct source_row {
	u64 begin;
	u64 end;
	const char *file;
	const char *folder;
	u32 line;
	const char *first_file;
	u32 first_line;
};

/**
 * struct source_taker - gets what a file was made of
 * @function: gets each function: its name and the address it begins at
 * @unit: gets the rows of each compile unit by their addresses, after the functions
 * @ctx: first argument of both
 */
struct source_taker {
	void (*function)(void *ctx, const char *name, u64 begin);
	void (*unit)(void *ctx, const struct source_row *rows, size_t count);
	void *ctx;
};

/**
 * source_rows() - give all functions, and all lines
 * @path: an ELF file
 * @places: as for debug_file_open()
 * @taker: gets them
 *
 * Return: true, or false if there is no debug information.
 */
bool source_rows(const char *path, const struct debug_places *places,
		 const struct source_taker *taker);

#endif /* KIPT_SOURCE_ROWS_H */
