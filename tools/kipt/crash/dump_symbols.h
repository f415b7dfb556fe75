/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Symbols of the kernel that died and of its modules, from its own kallsyms; and which
 * build a module was, and its file where it is installed.
 */
#ifndef KIPT_DUMP_SYMBOLS_H
#define KIPT_DUMP_SYMBOLS_H

#include "../symbols/build_id.h"
#include "../symbols/symbols.h"
#include "dump_memory.h"

struct kernel_debug;

/**
 * crash_symbols_load() - read all symbols of code
 * @memory: its memory, with the kernel's page table; NULL: there is no such table
 * @info: VMCOREINFO, which says where kallsyms is; NULL: not known
 * @layout: says where the modules are; NULL: not known
 * @debug: has names of the kernel where the dump has not all; NULL: there is none
 *
 * Says in a sentence what cannot be had.
 *
 * Return: the table, the caller's; NULL if there is no symbol at all.
 */
struct symbols *crash_symbols_load(struct crash_memory *memory,
				   const char *info,
				   const struct kipt_crash_layout *layout,
				   struct kernel_debug *debug);

/**
 * crash_module_build_id() - the build id of a module, out of its memory
 * @memory: its kernel's memory
 * @layout: says where the modules are
 * @name: of the module
 * @id: filled on success
 *
 * The kernel loads the note of the file with its read-only data.
 *
 * Return: true; false if it is not in the dump, or something else is there that looks
 * like it.
 */
bool crash_module_build_id(struct crash_memory *memory,
			   const struct kipt_crash_layout *layout, const char *name,
			   struct build_id *id);

/**
 * running_module_build_id() - the build id of a module of the kernel that runs
 * @name: of the module
 * @id: filled on success
 *
 * Return: true; false if it is not loaded, or has none.
 */
bool running_module_build_id(const char *name, struct build_id *id);

/**
 * module_files_each() - all files that may be a module or its debug information
 * @release: of the kernel, without a slash
 * @name: of the module
 * @take: gets each one; true ends it
 * @ctx: its first argument
 *
 * Return: what @take returned last; false if there is no file.
 */
bool module_files_each(const char *release, const char *name,
		       bool (*take)(void *ctx, const char *path), void *ctx);

#endif /* KIPT_DUMP_SYMBOLS_H */
