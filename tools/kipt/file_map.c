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

int file_open_regular(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return -1;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		return fd;
	close(fd);
	errno = EINVAL;
	return -1;
}

int file_open_tell(const char *path)
{
	int fd = file_open_regular(path);

	if (fd < 0 && errno == EINVAL)
		say_error("cannot read %s: not a regular file", path);
	else if (fd < 0)
		say_errno(errno, "cannot read %s", path);
	return fd;
}

/* Sets errno. */
static bool fd_map(struct file_map *map, int fd)
{
	struct stat st;
	void *bytes;

	if (fstat(fd, &st))
		return false;
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
	int fd = file_open_regular(path), error;
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
	int fd = file_open_tell(path);
	bool ok;

	if (fd < 0)
		return false;
	ok = fd_map(map, fd);
	if (!ok)
		say_errno(errno, "cannot map %s", path);
	close(fd);
	return ok;
}

void file_map_close(struct file_map *map)
{
	if (map->size)
		munmap((void *)map->bytes, map->size);
	map->size = 0;
}
