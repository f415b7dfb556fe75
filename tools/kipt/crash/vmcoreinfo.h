/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a kernel says of itself to those who read its dump: lines of text, in
 * a note in its memory.
 */
#ifndef KIPT_VMCOREINFO_H
#define KIPT_VMCOREINFO_H

#include "crash_pages.h"

/* What vmcoreinfo_here() looks at. */
#define VMCOREINFO_HEAD	24

/**
 * vmcoreinfo_read() - the lines, from the note in memory
 * @source: the memory
 * @address: physical, of the note
 *
 * Return: lines, to be freed; NULL if there is no such note.
 */
char *vmcoreinfo_read(const struct crash_source *source, u64 address);

/**
 * vmcoreinfo_find() - the lines, from the first such note of several
 * @source: where the notes are, an ELF file as a rule
 * @at: address of the first, or offset; not 0
 * @end: where they end
 *
 * Return: lines, to be freed; NULL if none of them is it.
 */
char *vmcoreinfo_find(const struct crash_source *source, u64 at, u64 end);

/**
 * vmcoreinfo_here() - is it the note
 * @bytes: VMCOREINFO_HEAD of them
 *
 * Return: true if so.
 */
bool vmcoreinfo_here(const u8 *bytes);

/**
 * vmcoreinfo_text() - the value of a line
 * @info: the lines; NULL: none
 * @key: what is before '='
 * @text: filled on success
 * @size: its bytes
 *
 * Return: true if there is one.
 */
bool vmcoreinfo_text(const char *info, const char *key, char *text,
		     size_t size);

/**
 * vmcoreinfo_symbol() - SYMBOL(name)
 * @info: the lines; NULL: none
 * @name: the symbol
 * @value: filled on success
 *
 * Return: true if there is one.
 */
bool vmcoreinfo_symbol(const char *info, const char *name, u64 *value);

/**
 * vmcoreinfo_number() - NUMBER(name), or OFFSET(name)
 * @info: the lines; NULL: none
 * @kind: "NUMBER" or "OFFSET"
 * @name: of what
 * @value: filled on success; negative numbers in two's complement
 *
 * Return: true if there is one.
 */
bool vmcoreinfo_number(const char *info, const char *kind, const char *name,
		       u64 *value);

#endif /* KIPT_VMCOREINFO_H */
