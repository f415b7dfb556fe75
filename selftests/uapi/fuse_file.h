/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A file system in user space with one executable file, "code", whose server
 * answers until a test stops it. For tests of who waits for it.
 */
#ifndef FUSE_FILE_H
#define FUSE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/**
 * struct fuse_file - the file system
 * @fd: /dev/fuse
 * @server: process that answers
 * @path: where it is mounted
 * @muted: shared with the server: it reads requests and answers none
 */
struct fuse_file {
	int fd;
	pid_t server;
	char path[64];
	volatile bool *muted;
};

/*
 * Mount it, with a file of one page that begins with @code. Return: 0, or a
 * negative errno: -ENODEV if this kernel has no FUSE.
 */
int fuse_file_begin(struct fuse_file *file, const void *code, size_t len);

/* Kill the server and unmount. */
void fuse_file_end(struct fuse_file *file);

#endif /* FUSE_FILE_H */
