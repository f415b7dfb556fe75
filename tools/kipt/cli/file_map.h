/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A whole file in memory, read only.
 */
#ifndef KIPT_FILE_MAP_H
#define KIPT_FILE_MAP_H

#include <stdbool.h>
#include <stdio.h>

#include "../../../kmod/decode/port.h"

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
 * file_open_regular() - open a file that the user did not name, to read it
 * @path: its name
 *
 * It refuses a FIFO, whose open() would block, and does not even open a
 * device: a watchdog that was opened and closed resets the machine. Nor does it open files of
 * procfs, sysfs, tracefs and debugfs: some lose what is read, or never end.
 *
 * Return: the descriptor, or -1 with errno; EINVAL if it is none that may be opened.
 */
int file_open_regular(const char *path);

/**
 * file_begins_with() - does an open file begin with these bytes
 * @fd: open for reading; its position stays
 * @bytes: they
 * @size: 64 at most
 *
 * Return: true if so; false also where it cannot be read.
 */
bool file_begins_with(int fd, const void *bytes, size_t size);

/**
 * file_begins() - does a regular file begin with a text
 * @path: its name
 * @text: of 64 bytes at most
 *
 * Return: true if so; false also where it cannot be read.
 */
bool file_begins(const char *path, const char *text);

/**
 * file_open_no_links() - the same for a name that others chose
 * @path: its name; nothing in it is a symbolic link
 *
 * Return: as file_open_regular(); ELOOP if there is a symbolic link.
 */
int file_open_no_links(const char *path);

/**
 * file_open_tell() - open a regular file that the user named
 * @path: its name; may be in /proc, as /proc/vmcore is
 *
 * Return: the descriptor, or -1 after a message.
 */
int file_open_tell(const char *path);

/**
 * file_stream() - open a text file
 * @path: its name
 * @found: kipt found it, as in a folder that the user named, so that it may be anything:
 *	it is opened as file_open_regular() does it; false: the user named it, which may be a pipe
 * @what: what the file has, for the sentence about an error; NULL: no sentence
 *
 * Return: the caller's to close; NULL with errno.
 */
FILE *file_stream(const char *path, bool found, const char *what);

/* Bytes of the longest line, with what ends it. */
#define FILE_LINE_MOST	65536

/**
 * file_line() - read a line
 * @line: of FILE_LINE_MOST bytes; filled
 * @file: where from
 *
 * Return: false at the end of the file, after an error, or of a line that is longer.
 */
bool file_line(char *line, FILE *file);

/**
 * file_descriptor_path() - which file a descriptor has open
 * @fd: open
 *
 * Return: its path, which the caller frees; NULL with errno, ENOENT if the
 * file was deleted.
 */
char *file_descriptor_path(int fd);

/**
 * file_path_under() - where a path of another machine is, in a copy of its files
 * @root: folder with the copy
 * @path: the path there; its symbolic links lead to files of the copy, too
 *
 * Return: the path here, which the caller frees; NULL with errno.
 */
char *file_path_under(const char *root, const char *path);

/**
 * file_map_open() - map a file
 * @map: filled on success
 * @path: its name
 *
 * Return: true, or false after a message.
 */
bool file_map_open(struct file_map *map, const char *path);

/**
 * file_map_close() - unmap it
 * @map: was opened, or all zero
 */
void file_map_close(struct file_map *map);

#endif /* KIPT_FILE_MAP_H */
