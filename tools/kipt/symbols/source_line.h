/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lines of source code through libdw, for files that have debug information
 * or whose debug information is installed beside them.
 */
#ifndef KIPT_SOURCE_LINE_H
#define KIPT_SOURCE_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include "../../../kmod/decode/port.h"
#include "debug_file.h"
#include "inlined.h"

struct source;

/**
 * source_load() - look for the debug information of a file
 * @path: an ELF file
 * @places: as for debug_file_open()
 *
 * Return: the caller's until source_destroy(); NULL if there is none (without a message:
 * no line is shown).
 */
struct source *source_load(const char *path, const struct debug_places *places);

/**
 * source_destroy() - free it
 * @source: may be NULL
 */
void source_destroy(struct source *source);

/**
 * source_text() - the line that an instruction was made of
 * @source: of the file; may be NULL
 * @offset: of the instruction in the file, as mappings have it
 * @text: receives "parse.c:31"
 * @size: its bytes
 *
 * Return: true if it is known.
 */
bool source_text(struct source *source, u64 offset, char *text, size_t size);

/**
 * source_address_text() - the same for an address
 * @source: of the file; may be NULL
 * @address: as the file was linked
 * @text: receives "parse.c:31"
 * @size: its bytes
 *
 * Return: true if it is known.
 */
bool source_address_text(struct source *source, u64 address, char *text, size_t size);

/**
 * source_symbol_text() - the same for a place in a function
 * @source: of the file, which may be relocatable; may be NULL
 * @name: of the function; none is known if the file has several of that name, or
 *	does not say how long it is
 * @offset: of the instruction from its begin
 * @text: receives "parse.c:31"
 * @size: its bytes
 *
 * Return: true if it is known.
 */
bool source_symbol_text(struct source *source, const char *name, u64 offset, char *text,
			size_t size);

/**
 * source_inlined() - the inlined functions that an instruction is of
 * @source: of the file; may be NULL
 * @offset: of the instruction in the file, as mappings have it
 *
 * Return: the innermost, as inlined_find().
 */
const struct inlined *source_inlined(struct source *source, u64 offset);

#endif /* KIPT_SOURCE_LINE_H */
