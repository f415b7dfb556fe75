// SPDX-License-Identifier: GPL-2.0-only
/*
 * Build ids of mapped files, see mapped_ids.h.
 */
#define _GNU_SOURCE
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "../cli/file_map.h"
#include "mapped_ids.h"

/* The smallest there is. */
#define VDSO_BYTES	4096

struct file_id {
	u32 major, minor;
	u64 inode;
	struct build_id id;
	char path[];
};

static int entry_compare(const void *left, const void *right)
{
	const struct file_id *a = left, *b = right;

	if (a->inode != b->inode)
		return a->inode < b->inode ? -1 : 1;
	if (a->major != b->major)
		return a->major < b->major ? -1 : 1;
	if (a->minor != b->minor)
		return a->minor < b->minor ? -1 : 1;
	return strcmp(a->path, b->path);
}

/* False: it is no line of /proc/PID/maps, or nothing there can be executed. */
static bool line_take(struct mapped_file *file, u32 pid, char *line)
{
	unsigned long long start, end, offset, inode;
	int path = 0;

	line[strcspn(line, "\n")] = 0;
	if (sscanf(line, "%llx-%llx %4s %llx %x:%x %llu %n", &start, &end,
		   file->rights, &offset, &file->major, &file->minor, &inode,
		   &path) < 7 || file->rights[2] != 'x')
		return false;
	file->pid = pid;
	file->start = start;
	file->end = end;
	file->offset = offset;
	file->inode = inode;
	file->path = path ? line + path : "";
	return true;
}

FILE *mapped_files_open(u32 pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	return fopen(path, "re");
}

bool mapped_files_read(FILE *maps, u32 pid, bool (*take)(void *ctx, struct mapped_file *file),
		       void *ctx)
{
	struct mapped_file mapped;
	char *line = NULL;
	size_t room = 0;
	bool ok = true;

	while (ok && getline(&line, &room, maps) > 0)
		ok = !line_take(&mapped, pid, line) || take(ctx, &mapped);
	free(line);
	fclose(maps);
	return ok;
}

bool mapped_files_each(u32 pid, bool (*take)(void *ctx, struct mapped_file *file),
		       void *ctx)
{
	FILE *maps = mapped_files_open(pid);

	return !maps || mapped_files_read(maps, pid, take, ctx);
}

int mapped_file_open(const struct mapped_file *file)
{
	char path[4200];
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/map_files/%llx-%llx", file->pid,
		 (unsigned long long)file->start,
		 (unsigned long long)file->end);
	fd = file_open_regular(path);
	if (fd >= 0)
		return fd;
	snprintf(path, sizeof(path), "/proc/%u/root%s", file->pid, file->path);
	return file_open_regular(path);
}

static bool has_id(const struct mapped_file *file)
{
	return file->path[0] == '/' && file->inode;
}

void mapped_file_id(struct build_id *id, const struct mapped_file *file)
{
	int fd = has_id(file) ? mapped_file_open(file) : -1;

	if (fd < 0 || !build_id_read(id, fd))
		id->size = 0;
	if (fd >= 0)
		close(fd);
}

static struct file_id *entry_make(const struct mapped_file *file)
{
	struct file_id *entry = calloc(1, sizeof(*entry) + strlen(file->path) + 1);

	if (!entry)
		return NULL;
	entry->major = file->major;
	entry->minor = file->minor;
	entry->inode = file->inode;
	strcpy(entry->path, file->path);
	return entry;
}

const struct build_id *mapped_ids_get(struct mapped_ids *ids,
				      const struct mapped_file *file)
{
	struct file_id *entry, **found;

	if (!has_id(file))
		return NULL;
	entry = entry_make(file);
	found = entry ? tsearch(entry, &ids->tree, entry_compare) : NULL;
	if (!found) {
		free(entry);
		return NULL;
	}
	if (*found == entry)
		mapped_file_id(&entry->id, file);
	else
		free(entry);
	return (*found)->id.size ? &(*found)->id : NULL;
}

void mapped_ids_free(struct mapped_ids *ids)
{
	tdestroy(ids->tree, free);
	ids->tree = NULL;
}

bool mapped_ids_vdso(struct build_id *id)
{
	const u8 *vdso = (const u8 *)getauxval(AT_SYSINFO_EHDR);

	return vdso && build_id_find(id, vdso, VDSO_BYTES);
}
