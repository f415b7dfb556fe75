/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files that code is of, by number: mapped files, the kernel and its modules.
 */
#ifndef KIPT_CODE_FILES_H
#define KIPT_CODE_FILES_H

#include "../cli/text_list.h"
#include "../symbols/address_names.h"
#include "../symbols/file_layout.h"

/* As many as a drcov file, and struct code_range, can number. */
#define CODE_FILES	65536U

/**
 * struct code_file - a file, the kernel or a module of it
 * @called: its path where it was mapped, or the name of the kernel's module; NULL
 *	without memory
 * @kernel: it is one of the kernel's
 * @address: one address it had first, and
 * @offset: of that in the file, as &struct code_place has it; of the kernel the address;
 *	after code_files_settle() the address it was linked to have
 * @layout: after code_files_settle(): how it was linked
 */
struct code_file {
	char *called;
	bool kernel;
	u64 address;
	u64 offset;
	struct file_layout layout;
};

/**
 * struct code_place - where an address was found
 * @address: it
 * @changes: what names_changes() said then
 * @offset: in the file; of the kernel the address
 * @end: address up to which the file is mapped; 0: nothing was looked for yet
 * @pid: whose the address is; 0: the kernel's, or not known
 * @file: number of the file; TEXT_NONE: it is in none
 */
struct code_place {
	u64 address;
	u64 changes;
	u64 offset;
	u64 end;
	u32 pid;
	u32 file;
};

/**
 * struct code_files - files that code was found in
 * @paths: where they can be read; of the kernel's, their names
 * @list: as many
 * @recent: places that were found last
 */
struct code_files {
	struct text_list paths;
	struct code_file *list;
	struct code_place *recent;
};

/**
 * code_files_init() - none yet
 * @files: filled
 *
 * Return: true, or false without memory.
 */
bool code_files_init(struct code_files *files);

/**
 * code_files_free() - free what they own
 * @files: were initialized, or all zero
 */
void code_files_free(struct code_files *files);

/**
 * code_files_find() - where an address is
 * @files: gain the file if it is new
 * @names: know it
 * @pid: whose address it is; 0: not known
 * @address: the address
 *
 * Return: the place, @files' and valid until the next call.
 */
const struct code_place *code_files_find(struct code_files *files, struct names *names,
					 u32 pid, u64 address);

/**
 * code_files_settle() - no more will come: read how they were linked
 * @files: the files
 * @names: know where the kernel is
 */
void code_files_settle(struct code_files *files, struct names *names);

#endif /* KIPT_CODE_FILES_H */
