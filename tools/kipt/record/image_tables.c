// SPDX-License-Identifier: GPL-2.0-only
/*
 * Collects the tables of kipt_raw.h, see image_tables.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../cli/list_room.h"
#include "../cli/messages.h"
#include "../kernel/raw_device.h"
#include "image_tables.h"

#define PAGE_BYTES	4096ULL
/* PROC_PID_INIT_INO of linux/proc_ns.h, the same since namespaces have inodes. */
#define FIRST_PID_NAMESPACE	0xeffffffcU

/* The module has processes by their numbers in the first PID namespace. */
static bool numbers_are_the_same(void)
{
	struct stat own;

	if (stat("/proc/self/ns/pid", &own) || own.st_ino == FIRST_PID_NAMESPACE)
		return true;
	say_note("programs have other numbers in this PID namespace: code of those that ended is missing");
	return false;
}

bool image_tables_open(struct image_tables *tables,
		       const struct kipt_session *session)
{
	*tables = (struct image_tables){ .device = -1 };
	if (numbers_are_the_same())
		tables->device = raw_open(session);
	return tables->device >= 0;
}

u32 image_tables_file(struct image_tables *tables, int fd)
{
	int number = fd < 0 ? -1 : ioctl(tables->device, KIPT_RAW_FILE, &fd);

	if (fd >= 0)
		close(fd);
	return number < 0 ? KIPT_RAW_NO_FILE : (u32)number;
}

bool image_tables_no_memory(struct image_tables *tables)
{
	if (!tables->failed)
		say_errno(ENOMEM, "cannot hold the mappings of processes");
	tables->failed = true;
	return false;
}

bool image_tables_range(struct image_tables *tables,
			const struct kipt_raw_range *range)
{
	struct kipt_raw_range *ranges;

	/* [vsyscall] lies in the kernel's half. */
	if (range->end > KIPT_RAW_USER_END ||
	    (range->begin | range->end | range->offset) % PAGE_BYTES)
		return true;
	ranges = list_room(tables->ranges, tables->range_count, sizeof(*ranges));
	if (!ranges)
		return image_tables_no_memory(tables);
	tables->ranges = ranges;
	ranges += tables->range_count++;
	*ranges = *range;
	if (range->file == KIPT_RAW_NO_FILE)
		ranges->offset = 0;
	return true;
}

bool image_tables_space(struct image_tables *tables,
			const struct kipt_raw_space *space)
{
	struct kipt_raw_space *spaces = list_room(tables->spaces, tables->space_count,
						  sizeof(*spaces));

	if (!spaces)
		return image_tables_no_memory(tables);
	tables->spaces = spaces;
	spaces[tables->space_count++] = *space;
	return true;
}

bool image_tables_give(struct image_tables *tables, u32 id)
{
	struct kipt_raw_images wish = {
		.spaces = (uintptr_t)tables->spaces,
		.ranges = (uintptr_t)tables->ranges,
		.nr_spaces = tables->space_count,
		.nr_ranges = tables->range_count,
	};

	if (!tables->range_count)
		return true;
	if (!ioctl(tables->device, KIPT_RAW_IMAGES, &wish))
		return true;
	say_errno(errno, "session %u does not take the files that %zu programs had mapped, in %zu ranges",
		  id, tables->space_count, tables->range_count);
	return false;
}

void image_tables_free(struct image_tables *tables)
{
	free(tables->spaces);
	free(tables->ranges);
	if (tables->device >= 0)
		close(tables->device);
	*tables = (struct image_tables){ .device = -1 };
}
