/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Input of a fuzz target as a file, for readers that want one. User space.
 */
#ifndef KIPT_FUZZ_INPUT_FILE_H
#define KIPT_FUZZ_INPUT_FILE_H

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Return: a file in memory that holds nothing but the input, the same one each time. Not
 * to be closed.
 */
static inline int input_file(const uint8_t *data, size_t size)
{
	static int fd = -1;

	if (fd < 0)
		fd = memfd_create("input", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	return fd;
}

#endif /* KIPT_FUZZ_INPUT_FILE_H */
