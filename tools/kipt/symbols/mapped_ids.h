/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Build ids of the files that processes execute, each read once.
 */
#ifndef KIPT_MAPPED_IDS_H
#define KIPT_MAPPED_IDS_H

#include <stdio.h>

#include "build_id.h"

/**
 * struct mapped_ids - those that were read
 * @tree: by device, inode and path, as tsearch() makes it; NULL: none yet
 */
struct mapped_ids {
	void *tree;
};

/**
 * struct mapped_file - a file as /proc/PID/maps has it
 * @pid: the process, or a task of it
 * @start, @end: addresses: the first one, and the last one + 1
 * @offset: in the file, of @start
 * @rights: such as "r-xp"
 * @major, @minor, @inode: of the file
 * @path: its path as the process sees it, or a name such as "[vdso]"; "": none
 */
struct mapped_file {
	u32 pid;
	u64 start, end;
	u64 offset;
	char rights[5];
	u32 major, minor;
	u64 inode;
	const char *path;
};

/**
 * mapped_files_open() - open /proc/PID/maps
 * @pid: a process, or a task of it
 *
 * Return: for mapped_files_read(); NULL with errno: the process is gone, or another user's.
 */
FILE *mapped_files_open(u32 pid);

/**
 * mapped_files_read() - go through what a process may execute
 * @maps: from mapped_files_open(); closed
 * @pid: as there
 * @take: gets each mapping that can be executed, by address; false ends it. @file is its to
 *	change, and valid until it returns
 * @ctx: its first argument
 *
 * Return: false if @take did.
 */
bool mapped_files_read(FILE *maps, u32 pid, bool (*take)(void *ctx, struct mapped_file *file),
		       void *ctx);

/**
 * mapped_files_each() - mapped_files_read() of a process that may be gone
 * @pid: a process, or a task of it
 * @take: as there
 * @ctx: its first argument
 *
 * A process that is gone, or another user's, has none.
 *
 * Return: false if @take did.
 */
bool mapped_files_each(u32 pid, bool (*take)(void *ctx, struct mapped_file *file),
		       void *ctx);

/**
 * mapped_file_open() - open a mapped file for reading
 * @file: which
 *
 * By the mapping where that is allowed, which is the file even if its name is another's
 * by now; else by its path as the process sees it.
 *
 * Return: the caller's descriptor; negative: it cannot be opened, or is no regular file.
 */
int mapped_file_open(const struct mapped_file *file);

/**
 * mapped_file_id() - read the build id of a mapped file
 * @id: filled; of size 0 if the file has none, or cannot be read
 * @file: which
 */
void mapped_file_id(struct build_id *id, const struct mapped_file *file);

/**
 * mapped_ids_get() - mapped_file_id(), which reads each file once
 * @ids: may be all zero; mapped_ids_free() frees it
 * @file: which
 *
 * Return: it, owned by @ids; NULL if the file has none, or cannot be read.
 */
const struct build_id *mapped_ids_get(struct mapped_ids *ids,
				      const struct mapped_file *file);

/**
 * mapped_ids_free() - free it
 * @ids: may be all zero
 */
void mapped_ids_free(struct mapped_ids *ids);

/**
 * mapped_ids_vdso() - the build id of the code that the kernel maps into processes
 * @id: filled on success
 *
 * Return: false if there is none.
 */
bool mapped_ids_vdso(struct build_id *id);

#endif /* KIPT_MAPPED_IDS_H */
