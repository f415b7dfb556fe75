/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files of a program that was killed, shown by who may read all of them: their
 * names are those of whoever ran it, and what is in them, too. So a process that
 * is that user opens and reads them (child_process.h). Each is opened once, and is the
 * same from then on whatever becomes of its name.
 */
#ifndef KIPT_SAFE_FILES_H
#define KIPT_SAFE_FILES_H

#include "../symbols/address_names.h"
#include "../symbols/build_id.h"

/* So long it may let wait: debug information may be large. */
#define CRASH_FILES_SECONDS	20

struct crash_files;

/**
 * crash_files_create() - start the process that reads
 * @seconds: who waited so long for answers, all together, ends it
 *
 * It has a copy of this process's memory: nothing should be there yet that is
 * not the user's.
 *
 * Return: the caller's until crash_files_destroy(); NULL after a sentence.
 */
struct crash_files *crash_files_create(u32 seconds);

/**
 * crash_files_destroy() - end it
 * @files: may be NULL
 */
void crash_files_destroy(struct crash_files *files);

/**
 * crash_files_become() - from now on files can be opened
 * @files: files
 * @uid: by this user
 *
 * A note says if that cannot be, or later that the process ended: what is in
 * files is missing then.
 */
void crash_files_become(struct crash_files *files, u32 uid);

/**
 * crash_files_find() - the file that was mapped, if its name still leads to it
 * @files: files
 * @path: its name
 * @then: build id of what was mapped
 *
 * Return: its number; -1 if it is another file now, is gone, cannot be read by
 * the user, or is reached through a symbolic link, which no name of a mapped file has.
 */
int crash_files_find(struct crash_files *files, const char *path,
		     const struct build_id *then);

/**
 * crash_files_read() - copy a part of a file
 * @files: files
 * @number: of the file
 * @offset: in it
 * @bytes: filled
 * @size: how many are wanted, up to a page
 *
 * Return: how many were copied.
 */
u32 crash_files_read(struct crash_files *files, int number, u64 offset,
		     u8 *bytes, u32 size);

/**
 * crash_files_name() - let symbols and lines of source come from what was opened
 * @files: files; must live as long as @names
 * @names: names; of none of the files was anything looked up yet
 *
 * Return: true, or false without memory.
 */
bool crash_files_name(struct crash_files *files, struct names *names);

#endif /* KIPT_SAFE_FILES_H */
