/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which build a module of a kernel that died was, and its file where it is installed.
 */
#ifndef KIPT_MODULE_DEBUG_H
#define KIPT_MODULE_DEBUG_H

#include "../symbols/build_id.h"
#include "dump_memory.h"

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

#endif /* KIPT_MODULE_DEBUG_H */
