/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files of a program that was killed, opened by who may read all of them: their
 * names are those of whoever ran it, and what is in them, too. Each is opened
 * once, and is the same from then on whatever becomes of its name.
 */
#ifndef KIPT_CRASH_FILES_H
#define KIPT_CRASH_FILES_H

#include "build_id.h"
#include "names.h"

struct crash_files;

/**
 * crash_files_create() - nothing is opened yet
 *
 * Return: the caller's until crash_files_destroy(); NULL without memory.
 */
struct crash_files *crash_files_create(void);

/**
 * crash_files_destroy() - close them
 * @files: may be NULL
 */
void crash_files_destroy(struct crash_files *files);

/**
 * crash_files_find() - the file that was mapped, if its name still leads to it
 * @files: files
 * @path: its name
 * @then: build id of what was mapped
 *
 * Return: a descriptor, of @files; -1 if it is another file now, is gone, or
 * behind a symbolic link, which no name of a mapped file has.
 */
int crash_files_find(struct crash_files *files, const char *path,
		     const struct build_id *then);

/**
 * crash_files_name() - let symbols come from what was opened
 * @files: files; must live as long as @names
 * @names: names; of none of the files was anything looked up yet
 *
 * Return: true, or false without memory.
 */
bool crash_files_name(const struct crash_files *files, struct names *names);

#endif /* KIPT_CRASH_FILES_H */
