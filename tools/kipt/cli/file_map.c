// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files in memory, see file_map.h.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <linux/magic.h>
#include <linux/openat2.h>

#include "file_map.h"
#include "file_read.h"
#include "messages.h"

/*
 * The kernel's own files are regular ones, too; to read /proc/kmsg or trace_pipe takes away what
 * others wait for. What /proc/PID/root and map_files lead to is none of them.
 */
static bool is_kernels(int place)
{
	struct statfs fs;

	return fstatfs(place, &fs) || fs.f_type == PROC_SUPER_MAGIC ||
	       fs.f_type == SYSFS_MAGIC || fs.f_type == TRACEFS_MAGIC ||
	       fs.f_type == DEBUGFS_MAGIC;
}

/* Another descriptor of the same file, which can be read; @named: by the user. */
static int place_open(int place, bool named)
{
	char path[32];
	struct stat st;

	if (fstat(place, &st))
		return -1;
	if (!S_ISREG(st.st_mode) || (!named && is_kernels(place))) {
		errno = EINVAL;
		return -1;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", place);
	return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

/* @place: opened with O_PATH, or -1; closed here. */
static int place_take(int place, bool named)
{
	int fd, error;

	if (place < 0)
		return -1;
	fd = place_open(place, named);
	error = errno;
	close(place);
	errno = error;
	return fd;
}

int file_open_regular(const char *path)
{
	return place_take(open(path, O_PATH | O_CLOEXEC), false);
}

int file_open_no_links(const char *path)
{
	const struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_NO_SYMLINKS,
	};

	return place_take(syscall(SYS_openat2, AT_FDCWD, path, &how,
				  sizeof(how)), false);
}

bool file_begins_with(int fd, const void *bytes, size_t size)
{
	u8 begin[64];

	return size <= sizeof(begin) && file_read_at(fd, 0, begin, size) == size &&
	       !memcmp(begin, bytes, size);
}

bool file_begins(const char *path, const char *text)
{
	int fd = file_open_regular(path);
	bool begins;

	if (fd < 0)
		return false;
	begins = file_begins_with(fd, text, strlen(text));
	close(fd);
	return begins;
}

char *file_descriptor_path(int fd)
{
	char link[32];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return realpath(link, NULL);
}

char *file_path_under(const char *root, const char *path)
{
	const struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT,
	};
	int folder = open(root, O_PATH | O_CLOEXEC | O_DIRECTORY);
	int place = folder < 0 ? -1 : syscall(SYS_openat2, folder, path, &how,
					      sizeof(how));
	char *found = place < 0 ? NULL : file_descriptor_path(place);
	int error = errno;

	if (place >= 0)
		close(place);
	if (folder >= 0)
		close(folder);
	errno = error;
	return found;
}

int file_open_tell(const char *path)
{
	int fd = place_take(open(path, O_PATH | O_CLOEXEC), true);

	if (fd < 0 && errno == EINVAL)
		say_error("cannot read %s: not a regular file", path);
	else if (fd < 0)
		say_errno(errno, "cannot read %s", path);
	return fd;
}

FILE *file_stream(const char *path, bool found, const char *what)
{
	int fd = found ? file_open_regular(path) : -1;
	FILE *file = found ? fd < 0 ? NULL : fdopen(fd, "r") : fopen(path, "re");

	if (!file && what && found && errno == EINVAL)
		say_error("cannot read %s from %s: not a regular file, or one of the kernel", what, path);
	else if (!file && what)
		say_errno(errno, "cannot read %s from %s", what, path);
	if (!file && fd >= 0)
		close(fd);
	return file;
}

bool file_line(char *line, FILE *file)
{
	char *end = line + FILE_LINE_MOST - 1;

	*end = '\n';
	/* A line may have bytes of 0, so that its length says nothing. */
	return fgets(line, FILE_LINE_MOST, file) && (*end || end[-1] == '\n');
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
