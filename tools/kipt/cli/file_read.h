/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Part of a file, which may be cut while it is read.
 */
#ifndef KIPT_FILE_READ_H
#define KIPT_FILE_READ_H

#include <errno.h>
#include <unistd.h>

#include "../../../kmod/decode/port.h"

/**
 * file_read_at() - read bytes at an offset, whatever pread() gives at once
 * @fd: the file
 * @at: offset
 * @bytes: filled
 * @size: how many are wanted
 *
 * Return: how many were read; fewer at the end of the file, or after an error, which
 * errno names.
 */
static inline u64 file_read_at(int fd, u64 at, void *bytes, u64 size)
{
	u64 done = 0;
	ssize_t got;

	while (done < size) {
		got = pread(fd, (u8 *)bytes + done, size - done, at + done);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		done += got;
	}
	return done;
}

#endif /* KIPT_FILE_READ_H */
