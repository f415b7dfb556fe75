// SPDX-License-Identifier: GPL-2.0-only
/*
 * Opens files by names that others chose, see crash_files.h. They are read, not
 * mapped: one that is cut short meanwhile has less, and harms nobody.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "crash_files.h"
#include "file_map.h"

/* Others are not looked at: descriptors have an end. */
#define FILES_MAX	512

/* As much of a file as snapshots keep to tell its build id. */
#define HEAD_BYTES	4096

struct opened {
	char *path;
	int fd;
	bool has_id;
	struct build_id id;
};

struct crash_files {
	struct opened list[FILES_MAX];
	u32 count;
};

struct crash_files *crash_files_create(void)
{
	return calloc(1, sizeof(struct crash_files));
}

void crash_files_destroy(struct crash_files *files)
{
	u32 i;

	if (!files)
		return;
	for (i = 0; i < files->count; i++) {
		free(files->list[i].path);
		if (files->list[i].fd >= 0)
			close(files->list[i].fd);
	}
	free(files);
}

/* NULL: it is not looked at. */
static struct opened *file_get(struct crash_files *files, const char *path)
{
	struct opened *file;
	u8 head[HEAD_BYTES];
	ssize_t got;
	u32 i;

	for (i = 0; i < files->count; i++) {
		if (!strcmp(files->list[i].path, path))
			return &files->list[i];
	}
	if (files->count == FILES_MAX)
		return NULL;
	file = &files->list[files->count];
	file->path = strdup(path);
	if (!file->path)
		return NULL;
	files->count++;
	file->fd = file_open_no_links(path);
	if (file->fd < 0)
		return file;
	got = pread(file->fd, head, sizeof(head), 0);
	file->has_id = got > 0 && build_id_find(&file->id, head, got);
	return file;
}

int crash_files_find(struct crash_files *files, const char *path,
		     const struct build_id *then)
{
	const struct opened *file = file_get(files, path);

	return file && file->has_id && build_id_same(&file->id, then) ?
	       file->fd : -1;
}

bool crash_files_name(const struct crash_files *files, struct names *names)
{
	u32 i;

	for (i = 0; i < files->count; i++) {
		const struct opened *file = &files->list[i];

		if (file->has_id &&
		    !names_opened(names, file->path, file->fd))
			return false;
	}
	return true;
}
