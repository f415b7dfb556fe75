// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files in memory, see file_map.h.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file_map.h"
#include "say.h"

static int reopen(int found)
{
	char name[32];

	snprintf(name, sizeof(name), "/proc/self/fd/%d", found);
	return open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

/*
 * The name may be one that somebody else chose, and now lead to a device that
 * does something when it is opened, as watchdogs do.
 */
int file_open_regular(const char *path)
{
	int found = open(path, O_PATH | O_CLOEXEC), fd = -1, error = EINVAL;
	struct stat st;

	if (found < 0)
		return -1;
	if (!fstat(found, &st) && S_ISREG(st.st_mode)) {
		fd = reopen(found);
		error = errno;
	}
	close(found);
	errno = error;
	return fd;
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
