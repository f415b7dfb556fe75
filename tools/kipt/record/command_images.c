// SPDX-License-Identifier: GPL-2.0-only
/*
 * From /proc/PID/maps to the tables of kipt_raw.h, see command_images.h. What a program
 * has mapped before it ends is taken for what it had all the time: code of a library
 * that was unmapped before is missing, as is that of a program that forks nothing and
 * then executes another.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../cli/file_times.h"
#include "../cli/list_room.h"
#include "../perf/mapped_ids.h"
#include "command_images.h"

struct command_file {
	u32 major, minor;
	u64 inode;
	u32 number;
};

bool command_images_open(struct command_images *images,
			 const struct kipt_session *session)
{
	*images = (struct command_images){ 0 };
	clock_gettime(CLOCK_REALTIME, &images->begun);
	return image_tables_open(&images->tables, session);
}

/*
 * If it is as it was before the command began: a file may have taken the place of the
 * mapped one. Device and inode of a mapping are not those of the file where file systems
 * lie over each other.
 */
static int file_open(const struct command_images *images,
		     const struct mapped_file *file)
{
	int fd = mapped_file_open(file);
	struct stat found;

	if (fd < 0 || (!fstat(fd, &found) && file_is_older(&found, &images->begun)))
		return fd;
	close(fd);
	return -1;
}

static u32 file_number(struct command_images *images,
		       const struct mapped_file *file)
{
	struct command_file *files;
	u32 number;
	size_t i;

	if (!strcmp(file->path, "[vdso]"))
		return KIPT_RAW_VDSO;
	if (file->path[0] != '/')
		return KIPT_RAW_NO_FILE;
	for (i = 0; i < images->count; i++)
		if (images->files[i].inode == file->inode &&
		    images->files[i].major == file->major &&
		    images->files[i].minor == file->minor)
			return images->files[i].number;
	files = list_room(images->files, images->count, sizeof(*files));
	if (!files) {
		image_tables_no_memory(&images->tables);
		return KIPT_RAW_NO_FILE;
	}
	images->files = files;
	number = image_tables_file(&images->tables, file_open(images, file));
	files[images->count++] = (struct command_file){
		.major = file->major, .minor = file->minor, .inode = file->inode,
		.number = number,
	};
	return number;
}

void command_images_note(struct command_images *images, pid_t tid, pid_t pid,
			 u64 since)
{
	struct kipt_raw_space space = {
		.tgid = pid,
		.flags = KIPT_RAW_SPACE_NEW,
		.from = since,
		.first = images->tables.range_count,
	};
	struct kipt_raw_range range = { 0 };
	struct mapped_file mapped;
	char path[32], *line = NULL;
	size_t room = 0;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", tid);
	maps = fopen(path, "re");
	while (maps && getline(&line, &room, maps) > 0) {
		if (!mapped_file_line(&mapped, tid, line))
			continue;
		range.begin = mapped.start;
		range.end = mapped.end;
		range.offset = mapped.offset;
		range.file = file_number(images, &mapped);
		image_tables_range(&images->tables, &range);
	}
	free(line);
	if (maps)
		fclose(maps);
	space.count = images->tables.range_count - space.first;
	image_tables_space(&images->tables, &space);
}

/* Of what a program had mapped at several times the last one holds. */
static int spaces_compare(const void *left, const void *right)
{
	const struct kipt_raw_space *a = left, *b = right;

	if (a->tgid != b->tgid)
		return a->tgid < b->tgid ? -1 : 1;
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return a->first < b->first ? -1 : a->first > b->first;
}

bool command_images_give(struct command_images *images, u32 id)
{
	if (images->tables.space_count)
		qsort(images->tables.spaces, images->tables.space_count,
		      sizeof(*images->tables.spaces), spaces_compare);
	return image_tables_give(&images->tables, id);
}

void command_images_free(struct command_images *images)
{
	image_tables_free(&images->tables);
	free(images->files);
	*images = (struct command_images){ .tables.device = -1 };
}
