/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What --filter and --stop-at name: parsed first, made addresses when it is
 * known where things are. Every refusal is reported here, with what to do.
 *
 *	ADDR-ADDR			both inclusive
 *	ADDR/SIZE
 *	SYMBOL[+OFFSET][/SIZE]		a kernel function, or a part of it
 *	MODULE				the text of a loaded kernel module
 *	FILE:SYMBOL[+OFFSET][/SIZE]	a function of a program or library
 *	PATH				all code of one; PATH has a slash in front,
 *					or a dot and a slash
 */
#ifndef KIPT_FILTER_H
#define KIPT_FILTER_H

#include "../symbols/process_maps.h"
#include "../symbols/symbols.h"
#include "address_range.h"

/**
 * enum filter_form - what a filter names
 * @FILTER_ADDRESSES: addresses
 * @FILTER_KERNEL: a kernel function or a module
 * @FILTER_FUNCTION: a function of a file
 * @FILTER_FILE: all code of a file
 */
enum filter_form {
	FILTER_ADDRESSES,
	FILTER_KERNEL,
	FILTER_FUNCTION,
	FILTER_FILE,
};

/**
 * struct filter - one --filter or --stop-at
 * @text: as it was given; the command line's
 * @kind: enum kipt_filter_kind
 * @form: enum filter_form
 * @file: name of the file, in @text
 * @file_len: its characters
 * @name: name of the symbol or module, in @text
 * @name_len: its characters
 * @offset: bytes after the start of the symbol
 * @size: bytes of the range, 0: to the end of the symbol
 * @first, @last: FILTER_ADDRESSES: the range
 */
struct filter {
	const char *text;
	u32 kind;
	enum filter_form form;
	const char *file;
	size_t file_len;
	const char *name;
	size_t name_len;
	u64 offset;
	u64 size;
	u64 first;
	u64 last;
};

/**
 * filter_parse() - what a text means
 * @filter: filled
 * @text: must live as long
 * @kind: enum kipt_filter_kind
 *
 * Return: true, or false after a sentence.
 */
bool filter_parse(struct filter *filter, const char *text, u32 kind);

/**
 * filter_bad() - say what is wrong with a filter
 * @filter: which; the sentence begins with its option and text
 * @format: the rest
 */
void __attribute__((__format__(__printf__, 2, 3)))
filter_bad(const struct filter *filter, const char *format, ...);

/**
 * struct filter_where - where things are
 * @kallsyms: NULL: /proc/kallsyms
 * @modules: NULL: /proc/modules
 * @process: mappings of the process that is traced, or NULL
 * @root: prefix of the paths in @process, such as "/proc/42/root", or ""
 * @kernel: what was read of @kallsyms; filter_where_free()
 * @kernel_lines: how many lines it has
 */
struct filter_where {
	const char *kallsyms;
	const char *modules;
	const struct process *process;
	const char *root;
	struct symbols *kernel;
	size_t kernel_lines;
};

/**
 * filter_where_free() - free what filter_resolve() read
 * @where: may be used again
 */
void filter_where_free(struct filter_where *where);

/**
 * enum filter_result - what filter_resolve() says
 * @FILTER_DONE: the range is known
 * @FILTER_REFUSED: it never will be, after a message
 * @FILTER_NOT_MAPPED: @process does not have the file, or is NULL, and the
 *	file has no address of its own; no message
 */
enum filter_result {
	FILTER_DONE,
	FILTER_REFUSED,
	FILTER_NOT_MAPPED,
};

/**
 * filter_resolve() - find the addresses
 * @filter: which
 * @where: where things are
 * @range: filled on FILTER_DONE
 *
 * Return: enum filter_result.
 */
enum filter_result filter_resolve(const struct filter *filter,
				  struct filter_where *where,
				  struct kipt_range *range);

/**
 * filter_part() - the part of a symbol that is asked for
 * @filter: says which
 * @start: address of the symbol
 * @size: its bytes
 * @range: filled on success
 *
 * Return: true, or false after a sentence: it lies outside.
 */
bool filter_part(const struct filter *filter, u64 start, u64 size,
		 struct kipt_range *range);

/* The two sides of filter_resolve(), filter_kernel.c and filter_user.c. */
enum filter_result filter_kernel(const struct filter *filter,
				 struct filter_where *where,
				 struct kipt_range *range);
enum filter_result filter_user(const struct filter *filter,
			       struct filter_where *where,
			       struct kipt_range *range);

#endif /* KIPT_FILTER_H */
