// SPDX-License-Identifier: GPL-2.0-only
/*
 * Looks for debug files, see debug_search.h. In the places where libdwfl looks, which opens
 * whatever is there: a FIFO would block it.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zlib.h>

#include "../cli/file_map.h"
#include "../cli/file_read.h"
#include "build_id_cache.h"
#include "debug_file.h"
#include "debug_search.h"

#define DEBUG_FOLDER	"/usr/lib/debug"

static const char *folder_of(const struct debug_search *search)
{
	return search->symfs ? search->symfs : "";
}

static u32 sum_of(int fd)
{
	u8 bytes[65536];
	u64 at = 0, got;
	u32 sum = 0;

	while ((got = file_read_at(fd, at, bytes, sizeof(bytes)))) {
		sum = crc32(sum, bytes, got);
		at += got;
	}
	return sum;
}

static bool is_itself(const struct debug_search *search, int fd)
{
	struct stat a, b;

	return search->file && !fstat(fd, &a) && !stat(search->file, &b) &&
	       a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static bool is_wanted(const struct debug_search *search, int fd)
{
	struct build_id id;

	if (is_itself(search, fd))
		return false;
	if (search->id.size)
		return debug_file_build_id(fd, &id) && build_id_same(&id, &search->id);
	return !search->link || sum_of(fd) == search->sum;
}

/* @path is freed. */
static int file_try(const struct debug_search *search, char *path, char **found)
{
	int fd = path ? file_open_regular(path) : -1;

	if (fd >= 0 && is_wanted(search, fd)) {
		*found = path;
		return fd;
	}
	if (fd >= 0)
		close(fd);
	free(path);
	return -1;
}

/* In a folder, of which so many bytes count. */
static int folder_try(const struct debug_search *search, const char *folder, int length,
		      const char *below, const char *name, char **found)
{
	char *path;

	return asprintf(&path, "%.*s%s/%s", length, folder, below, name) < 0 ? -1 :
	       file_try(search, path, found);
}

/* What has the paths of a machine's files, and those without their first folders. */
static int debug_folder_try(const struct debug_search *search, const char *file, int length,
			    const char *name, char **found)
{
	const char *at = file, *end = file + length;
	char *path;
	int fd = -1;

	while (at && fd < 0) {
		if (asprintf(&path, "%s" DEBUG_FOLDER "%.*s/%s", folder_of(search),
			     (int)(end - at), at, name) < 0)
			return -1;
		fd = file_try(search, path, found);
		if (at == end)
			break;
		at = memchr(at + 1, '/', end - at - 1);
		if (!at)
			at = end;
	}
	return fd;
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int name_try(const struct debug_search *search, const char *file, const char *name,
		    char **found)
{
	int length = strrchr(file, '/') - file, fd;

	fd = folder_try(search, file, length, "", name, found);
	if (fd < 0)
		fd = folder_try(search, file, length, "/.debug", name, found);
	if (fd < 0)
		fd = debug_folder_try(search, file, length, base_of(name), found);
	return fd;
}

/* By the name that the file has of it, or what distributions make of the file's own. */
static int names_try(const struct debug_search *search, const char *file, char **found)
{
	const char *base = base_of(file);
	char name[512];
	int fd;

	if (search->link)
		return name_try(search, file, search->link, found);
	snprintf(name, sizeof(name), "%s.debug", base);
	fd = name_try(search, file, name, found);
	return fd < 0 ? name_try(search, file, base, found) : fd;
}

/* The file may be a link. */
static int file_names_try(const struct debug_search *search, char **found)
{
	int fd = search->file[0] == '/' ? names_try(search, search->file, found) : -1;
	char *real = fd < 0 ? realpath(search->file, NULL) : NULL;

	if (real && strcmp(real, search->file))
		fd = names_try(search, real, found);
	free(real);
	return fd;
}

/* Beside a file, by the name that it has of what is shared, or in the folder .dwz there. */
static int shared_beside(const struct debug_search *search, const char *file, char **found)
{
	const char *slash = strrchr(file, '/');
	int fd;

	if (!slash)
		return -1;
	fd = folder_try(search, file, slash - file, "", search->link, found);
	return fd >= 0 ? fd : folder_try(search, file, slash - file, "/.dwz",
					 base_of(search->link), found);
}

static int shared_try(const struct debug_search *search, char **found)
{
	char *path, *real, *top;
	int fd;

	if (search->link[0] == '/')
		return asprintf(&path, "%s%s", folder_of(search), search->link) < 0 ? -1 :
		       file_try(search, path, found);
	fd = shared_beside(search, search->file, found);
	/* The file may be a link. */
	real = fd < 0 ? realpath(search->file, NULL) : NULL;
	if (real)
		fd = shared_beside(search, real, found);
	free(real);
	if (fd < 0 && asprintf(&top, "%s" DEBUG_FOLDER "/.", folder_of(search)) >= 0) {
		fd = shared_beside(search, top, found);
		free(top);
	}
	return fd;
}

/* In the folder that perf keeps. */
static int cache_try(const struct debug_search *search, char **found)
{
	struct build_id form;
	char path[4096];
	int fd = -1;
	u32 i;

	for (i = 0; i < BUILD_ID_FORMS && fd < 0; i++) {
		if (build_id_cache_form(&search->id, i, &form) &&
		    build_id_cache_path(&form, "debug", NULL, path, sizeof(path)))
			fd = file_try(search, strdup(path), found);
	}
	return fd;
}

static int id_try(const struct debug_search *search, char **found)
{
	char hex[BUILD_ID_TEXT], *path;

	build_id_text(&search->id, hex);
	return asprintf(&path, "%s" DEBUG_FOLDER "/.build-id/%.2s/%s.debug", folder_of(search),
			hex, hex + 2) < 0 ? -1 : file_try(search, path, found);
}

int debug_search(const struct debug_search *search, char **found)
{
	int fd = -1;

	if (search->id.size) {
		fd = cache_try(search, found);
		if (fd < 0)
			fd = id_try(search, found);
	}
	if (fd >= 0 || !search->file)
		return fd;
	return search->shared ? shared_try(search, found) : file_names_try(search, found);
}
