// SPDX-License-Identifier: GPL-2.0-only
/*
 * From /proc/PID/maps to the tables of kipt_raw.h, see command_images.h. What a program
 * has mapped before it ends is taken for what it had all the time: code of a library
 * that was unmapped before is missing, as is that of a program that forks nothing and
 * then executes another.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "../cli/list_room.h"
#include "command_images.h"

/* A path may have 4,095 bytes; what comes before it has fewer than a hundred. */
#define LINE_BYTES	(4096 + 128)

struct command_file {
	dev_t device;
	ino_t inode;
	u32 number;
};

/* A line of /proc/PID/maps. */
struct line {
	struct kipt_raw_range range;
	dev_t device;
	ino_t inode;
	const char *path;
};

bool command_images_open(struct command_images *images,
			 const struct kipt_session *session)
{
	*images = (struct command_images){ 0 };
	clock_gettime(CLOCK_REALTIME, &images->begun);
	return image_tables_open(&images->tables, session);
}

/* Return: false if no code is mapped there. */
static bool line_read(char *text, struct line *line)
{
	unsigned long long begin, end, offset, inode;
	unsigned int major_number, minor_number;
	char executable;
	int path = 0;

	text[strcspn(text, "\n")] = 0;
	if (sscanf(text, "%llx-%llx %*2c%c%*c %llx %x:%x %llu %n", &begin, &end,
		   &executable, &offset, &major_number, &minor_number, &inode,
		   &path) != 7 || executable != 'x')
		return false;
	*line = (struct line){
		.range = { .begin = begin, .end = end, .offset = offset },
		.device = makedev(major_number, minor_number),
		.inode = inode,
		.path = path ? text + path : "",
	};
	return true;
}

static bool is_older(const struct timespec *time, const struct timespec *other)
{
	return time->tv_sec < other->tv_sec ||
	       (time->tv_sec == other->tv_sec && time->tv_nsec < other->tv_nsec);
}

/*
 * The file that is mapped, as the process sees it, if it is as it was before the command
 * began: neither written to since, nor put there. Device and inode of a mapping are not
 * those of the file where file systems lie over each other.
 */
static int file_open(const struct command_images *images, pid_t tid,
		     const struct line *line)
{
	char path[LINE_BYTES];
	struct stat found;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/root%s", tid, line->path);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		fd = open(line->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -1;
	if (!fstat(fd, &found) && is_older(&found.st_mtim, &images->begun) &&
	    is_older(&found.st_ctim, &images->begun))
		return fd;
	close(fd);
	return -1;
}

static u32 file_number(struct command_images *images, pid_t tid,
		       const struct line *line)
{
	struct command_file *files;
	u32 number;
	size_t i;

	if (!strcmp(line->path, "[vdso]"))
		return KIPT_RAW_VDSO;
	if (line->path[0] != '/')
		return KIPT_RAW_NO_FILE;
	for (i = 0; i < images->count; i++)
		if (images->files[i].inode == line->inode &&
		    images->files[i].device == line->device)
			return images->files[i].number;
	files = list_room(images->files, images->count, sizeof(*files));
	if (!files) {
		image_tables_no_memory(&images->tables);
		return KIPT_RAW_NO_FILE;
	}
	images->files = files;
	number = image_tables_file(&images->tables, file_open(images, tid, line));
	files[images->count++] = (struct command_file){
		.device = line->device, .inode = line->inode, .number = number,
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
	char path[32], text[LINE_BYTES];
	struct line line;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/maps", tid);
	file = fopen(path, "re");
	while (file && fgets(text, sizeof(text), file)) {
		if (!line_read(text, &line))
			continue;
		line.range.file = file_number(images, tid, &line);
		image_tables_range(&images->tables, &line.range);
	}
	if (file)
		fclose(file);
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
