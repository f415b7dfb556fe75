// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files in memory, see file_map.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file_map.h"
#include "say.h"

/* Sets errno; 0: it is no regular file. */
static bool fd_map(struct file_map *map, int fd)
{
	struct stat st;
	void *bytes;

	if (fstat(fd, &st))
		return false;
	if (!S_ISREG(st.st_mode)) {
		errno = 0;
		return false;
	}
	map->size = st.st_size;
	map->bytes = (const u8 *)"";
	if (!map->size)
		return true;
	bytes = mmap(NULL, map->size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED) {
		map->size = 0;
		return false;
	}
	map->bytes = bytes;
	return true;
}

bool file_map_try(struct file_map *map, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), error;
	bool ok;

	if (fd < 0)
		return false;
	ok = fd_map(map, fd);
	error = errno;
	close(fd);
	errno = error;
	return ok;
}

bool file_map_open(struct file_map *map, const char *path)
{
	bool ok = file_map_try(map, path);

	if (!ok && errno)
		say_errno(errno, "cannot read %s", path);
	else if (!ok)
		say_error("cannot read %s: not a regular file", path);
	return ok;
}

void file_map_close(struct file_map *map)
{
	if (map->size)
		munmap((void *)map->bytes, map->size);
	map->size = 0;
}
