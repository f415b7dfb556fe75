// SPDX-License-Identifier: GPL-2.0-only
/*
 * From /proc/PID/maps to the tables of kipt_raw.h, see command_images.h. What a program
 * begins with is what it has all the time, as far as nothing else is there at its end.
 * Code that it maps later (dlopen()) is missing when it has ended: nobody sees whether
 * something else was there before.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../cli/file_times.h"
#include "../cli/list_room.h"
#include "../symbols/mapped_ids.h"
#include "command_images.h"

struct command_file {
	u32 major, minor;
	u64 inode;
	char *path;
	u32 number;
};

bool command_images_open(struct command_images *images,
			 const struct kipt_session *session)
{
	*images = (struct command_images){ 0 };
	/* That of the times of files, which goes in steps. */
	clock_gettime(CLOCK_REALTIME_COARSE, &images->begun);
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

/*
 * Device and inode alone do not name a file: subvolumes of btrfs have inodes of their
 * own and show one device here. KIPT_RAW_NO_FILE: it is memory of no file, or unknown.
 */
static u32 known_number(const struct command_images *images,
			const struct mapped_file *file, bool *known)
{
	size_t i;

	*known = true;
	if (!strcmp(file->path, "[vdso]"))
		return KIPT_RAW_VDSO;
	for (i = 0; i < images->count && file->path[0] == '/'; i++)
		if (images->files[i].inode == file->inode &&
		    images->files[i].major == file->major &&
		    images->files[i].minor == file->minor &&
		    !strcmp(images->files[i].path, file->path))
			return images->files[i].number;
	*known = file->path[0] != '/';
	return KIPT_RAW_NO_FILE;
}

static u32 file_number(struct command_images *images,
		       const struct mapped_file *file)
{
	struct command_file *files, *added;
	bool known;
	u32 number = known_number(images, file, &known);

	if (known)
		return number;
	files = list_room(images->files, images->count, sizeof(*files));
	if (files)
		images->files = files;
	added = files ? &files[images->count] : NULL;
	if (added)
		*added = (struct command_file){
			.major = file->major, .minor = file->minor,
			.inode = file->inode, .path = strdup(file->path),
		};
	if (!added || !added->path) {
		image_tables_no_memory(&images->tables);
		return KIPT_RAW_NO_FILE;
	}
	added->number = image_tables_file(&images->tables, file_open(images, file));
	images->count++;
	return added->number;
}

static bool range_add(void *ctx, struct mapped_file *mapped)
{
	struct command_images *images = ctx;
	const struct kipt_raw_range range = {
		.begin = mapped->start,
		.end = mapped->end,
		.offset = mapped->offset,
		.file = file_number(images, mapped),
	};

	return image_tables_range(&images->tables, &range);
}

/* What was noted last is of less use than what comes now. */
static void last_drop(struct image_tables *tables, pid_t pid, u64 since)
{
	const struct kipt_raw_space *last;

	if (!tables->space_count)
		return;
	last = &tables->spaces[tables->space_count - 1];
	if (last->tgid != (u32)pid || last->from != since)
		return;
	tables->range_count = last->first;
	tables->space_count--;
}

void command_images_begin(struct command_images *images, pid_t tid, pid_t pid,
			  u64 since)
{
	struct kipt_raw_space space;

	last_drop(&images->tables, pid, since);
	space = (struct kipt_raw_space){
		.tgid = pid,
		.flags = KIPT_RAW_SPACE_NEW,
		.from = since,
		.first = images->tables.range_count,
	};

	mapped_files_each(tid, range_add, images);
	space.count = images->tables.range_count - space.first;
	image_tables_space(&images->tables, &space);
}

/* Ranges of a space, from @at to @end, that were not passed yet. */
struct comparing {
	struct command_images *images;
	size_t at, end;
};

/* Mappings come by address, as ranges are. */
static bool range_check(void *ctx, struct mapped_file *mapped)
{
	struct comparing *comparing = ctx;
	struct kipt_raw_range *ranges = comparing->images->tables.ranges, *range;
	bool known;
	u32 number = known_number(comparing->images, mapped, &known);
	size_t i;

	while (comparing->at < comparing->end &&
	       ranges[comparing->at].end <= mapped->start)
		comparing->at++;
	for (i = comparing->at; i < comparing->end && ranges[i].begin < mapped->end; i++) {
		range = &ranges[i];
		if (range->file == number &&
		    (number == KIPT_RAW_VDSO ||
		     range->offset - range->begin == mapped->offset - mapped->start))
			continue;
		range->file = KIPT_RAW_NO_FILE;
		range->offset = 0;
	}
	return true;
}

/* The last note of how the program began; NULL: there is none. */
static const struct kipt_raw_space *space_find(const struct command_images *images,
					       pid_t pid, u64 since)
{
	size_t i = images->tables.space_count;
	const struct kipt_raw_space *space;

	while (i--) {
		space = &images->tables.spaces[i];
		if (space->tgid == (u32)pid && space->from == since)
			return space;
	}
	return NULL;
}

void command_images_end(struct command_images *images, pid_t pid, u64 since)
{
	const struct kipt_raw_space *space = space_find(images, pid, since);
	struct comparing comparing = { .images = images };
	/* Another process may get its number. */
	const struct kipt_raw_space after = {
		.tgid = pid,
		.flags = KIPT_RAW_SPACE_NEW,
		.from = __builtin_ia32_rdtsc(),
	};

	if (space) {
		comparing.at = space->first;
		comparing.end = comparing.at + space->count;
		mapped_files_each(pid, range_check, &comparing);
	}
	image_tables_space(&images->tables, &after);
}

/* Of what a program had mapped while it began the last one holds. */
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
	size_t i;

	image_tables_free(&images->tables);
	for (i = 0; i < images->count; i++)
		free(images->files[i].path);
	free(images->files);
	*images = (struct command_images){ .tables.device = -1 };
}
