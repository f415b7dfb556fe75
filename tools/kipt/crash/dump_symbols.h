/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Symbols of the kernel that died and of its modules, from its own kallsyms.
 */
#ifndef KIPT_DUMP_SYMBOLS_H
#define KIPT_DUMP_SYMBOLS_H

#include "../symbols/symbols.h"
#include "dump_memory.h"
#include "kernel_debug.h"

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
 * crash_module_find() - where the kernel has what it knows of a module
 * @memory: as for crash_symbols_load()
 * @layout: says where the modules are
 * @name: of the module
 * @address: of its struct module, filled on success
 *
 * Return: true if it is in the list of modules.
 */
bool crash_module_find(struct crash_memory *memory, const struct kipt_crash_layout *layout,
		       const char *name, u64 *address);

#endif /* KIPT_DUMP_SYMBOLS_H */
