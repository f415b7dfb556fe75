/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Build ids of the files that processes execute, each read once.
 */
#ifndef KIPT_MAPPED_IDS_H
#define KIPT_MAPPED_IDS_H

#include "../symbols/build_id.h"

/**
 * struct mapped_ids - those that were read
 * @tree: by device, inode and path, as tsearch() makes it; NULL: none yet
 */
struct mapped_ids {
	void *tree;
};

/**
 * struct mapped_file - a file as /proc/PID/maps has it
 * @pid: the process
 * @start, @end: addresses: the first one, and the last one + 1
 * @major, @minor, @inode: of the file
 * @path: its path as the process sees it
 */
struct mapped_file {
	u32 pid;
	u64 start, end;
	u32 major, minor;
	u64 inode;
	const char *path;
};

/**
 * mapped_ids_get() - the build id of a mapped file
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
