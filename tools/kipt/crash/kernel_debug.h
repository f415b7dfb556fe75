/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Debug information of the kernel that died, or of the one that runs, where it is
 * installed: its vmlinux, known by the build id that VMCOREINFO has, and its modules, by
 * that in their memory or in /sys/module. Nothing is read before it is needed.
 */
#ifndef KIPT_KERNEL_DEBUG_H
#define KIPT_KERNEL_DEBUG_H

#include "../symbols/address_names.h"
#include "../symbols/build_id_cache.h"
#include "../symbols/symbols.h"
#include "dump_memory.h"

struct line_reader;
struct module_lines;

/**
 * struct kernel_debug - the files of a kernel that died
 * @memory: its memory, the caller's; NULL: it is the kernel that runs
 * @layout: says where its modules are, if @layout.module is not 0
 * @modules: those that lines were wanted of
 * @module_count: how many
 * @id: its build id in hexadecimal; "": not known, and no file is used
 * @release: of the kernel; "": not known
 * @moved: how far it was moved from where vmlinux has it
 * @path: vmlinux, if it was found
 * @fd: the same; -1: there is none
 * @tried: it was looked for
 * @lines: of it; NULL: not needed yet, or there are none
 * @lines_tried: @lines was made, if it can be
 */
struct kernel_debug {
	struct crash_memory *memory;
	struct kipt_crash_layout layout;
	struct module_lines *modules;
	u32 module_count;
	char id[BUILD_ID_TEXT];
	char release[65];
	u64 moved;
	char path[4096];
	int fd;
	bool tried;
	struct line_reader *lines;
	bool lines_tried;
};

/**
 * kernel_debug_open() - say which kernel it was
 * @debug: its @memory and @layout are set, the rest is zero; filled;
 *	kernel_debug_close() in both cases
 * @info: VMCOREINFO; NULL: none, no file is used then
 * @path: vmlinux, which may be anybody's file; NULL: it is looked for where it is
 *	usually installed, in files that only root writes
 *
 * A note says if @path is of another kernel, or of nobody knows which.
 *
 * Return: true, or false after a sentence if @path cannot be read.
 */
bool kernel_debug_open(struct kernel_debug *debug, const char *info, const char *path);

/**
 * kernel_debug_close() - free it
 * @debug: was opened, or all zero
 */
void kernel_debug_close(struct kernel_debug *debug);

/**
 * kernel_debug_symbols() - symbols of the kernel proper out of vmlinux
 * @debug: was opened; NULL: there is none
 * @symbols: table that they are added to; not searched yet
 *
 * A note says that they come from there.
 *
 * Return: true, or false if there is no vmlinux, or no symbol in it.
 */
bool kernel_debug_symbols(struct kernel_debug *debug, struct symbols *symbols);

/**
 * kernel_debug_names() - let lines of source code come from the files
 * @debug: was opened; must live as long as @names
 * @names: names
 */
void kernel_debug_names(struct kernel_debug *debug, struct names *names);

#endif /* KIPT_KERNEL_DEBUG_H */
