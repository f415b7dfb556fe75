/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Build id, symbols and lines of source code of a file that may be damaged: a process of
 * its own reads it, so that it ends in a sentence at worst.
 */
#ifndef KIPT_LINE_READER_H
#define KIPT_LINE_READER_H

#include <stdbool.h>
#include <stddef.h>

#include "../symbols/build_id.h"
#include "../symbols/symbols.h"

struct line_reader;

/**
 * line_reader_create() - start the process
 * @fd: an ELF file; the caller's, may be closed afterwards
 * @path: its name, for sentences; must live as long
 *
 * Return: the caller's until line_reader_destroy(); NULL after a note.
 */
struct line_reader *line_reader_create(int fd, const char *path);

/**
 * line_reader_destroy() - end it
 * @reader: may be NULL
 */
void line_reader_destroy(struct line_reader *reader);

/**
 * line_reader_get() - the line that an instruction was made of
 * @reader: of the file; may be NULL
 * @symbol: function, as for source_symbol_text(); NULL: none
 * @address: of the instruction, as the file was linked; with @symbol from its begin
 * @text: receives "fork.c:31"
 * @size: its bytes
 *
 * Return: true if it is known; a note says once why no more is.
 */
bool line_reader_get(struct line_reader *reader, const char *symbol, u64 address,
		     char *text, size_t size);

/**
 * line_reader_build_id() - which build the file is
 * @reader: of the file; may be NULL
 * @id: filled
 *
 * Return: false if it has no build id.
 */
bool line_reader_build_id(struct line_reader *reader, struct build_id *id);

/**
 * line_reader_symbols() - the symbols of a vmlinux
 * @reader: of the file; may be NULL
 * @symbols: table that they are added to; not searched yet
 * @bias: added to each address
 *
 * Return: true if there are any.
 */
bool line_reader_symbols(struct line_reader *reader, struct symbols *symbols, u64 bias);

#endif /* KIPT_LINE_READER_H */
