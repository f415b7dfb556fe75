/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files and their debug information, which may be in files of their own: libdwfl
 * finds and reads them.
 */
#ifndef KIPT_DEBUG_FILE_H
#define KIPT_DEBUG_FILE_H

#include <stdbool.h>

#include <elfutils/libdwfl.h>

#include "build_id.h"

/**
 * struct debug_places - where debug files are looked for
 * @symfs: only there: a folder with a copy of another machine's files; NULL: on
 *	this machine
 * @by_id: by build id only, and not by names that are in a file
 * @no_server: servers are not asked
 */
struct debug_places {
	const char *symfs;
	bool by_id;
	bool no_server;
};

/**
 * struct debug_file - a file
 * @dwfl: holds it
 * @module: the file
 */
struct debug_file {
	Dwfl *dwfl;
	Dwfl_Module *module;
};

/**
 * debug_file_open() - be ready to read the debug information of a file
 * @path: an ELF file
 * @places: where that may be; must live as long; NULL: wherever it usually is
 *
 * What is looked for, and in this order: in the file itself; in the folder of build
 * ids that perf keeps; by build id and by the name that the file has of it, in
 * the usual places; by build id on the servers that DEBUGINFOD_URLS names.
 *
 * Return: the caller's until debug_file_close(); NULL if @path cannot be read
 * (without a message).
 */
struct debug_file *debug_file_open(const char *path,
				   const struct debug_places *places);

/**
 * debug_file_build_id() - the build id of an open file
 * @fd: an ELF file, which may be relocatable or have only debug information
 * @id: filled on success
 *
 * Return: true, or false if it has none or is no ELF file.
 */
bool debug_file_build_id(int fd, struct build_id *id);

/**
 * debug_file_close() - free it
 * @file: may be NULL
 */
void debug_file_close(struct debug_file *file);

struct elf_symbols;

/**
 * debug_symbols_load() - the symbols of a file that may be stripped
 * @path: the file
 * @places: as for debug_file_open()
 *
 * Return: as elf_symbols_load().
 */
struct elf_symbols *debug_symbols_load(const char *path,
				       const struct debug_places *places);

#endif /* KIPT_DEBUG_FILE_H */
