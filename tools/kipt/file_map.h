/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A whole file in memory, read only.
 */
#ifndef KIPT_FILE_MAP_H
#define KIPT_FILE_MAP_H

#include <stdbool.h>

#include "../../kmod/decode/port.h"

/**
 * struct file_map - a file
 * @bytes: what it holds; not NULL, also when it is empty
 * @size: how much
 */
struct file_map {
	const u8 *bytes;
	u64 size;
};

/**
 * file_open_regular() - open a file to read it
 * @path: its name
 *
 * Not a FIFO, which would let wait, nor a device.
 *
 * Return: the descriptor, or -1 with errno; EINVAL if it is no regular file.
 */
int file_open_regular(const char *path);

/**
 * file_open_tell() - the same
 * @path: its name
 *
 * Return: the descriptor, or -1 after a sentence.
 */
int file_open_tell(const char *path);

/**
 * file_map_open() - map a file
 * @map: filled on success
 * @path: its name
 *
 * Return: true, or false after a sentence.
 */
bool file_map_open(struct file_map *map, const char *path);

/**
 * file_map_try() - map a file that need not be there
 * @map: filled on success
 * @path: its name
 *
 * Return: true, or false, which is not told, with errno.
 */
bool file_map_try(struct file_map *map, const char *path);

/**
 * file_map_close() - unmap it
 * @map: was opened, or all zero
 */
void file_map_close(struct file_map *map);

#endif /* KIPT_FILE_MAP_H */
