// SPDX-License-Identifier: GPL-2.0-only
/*
 * From the mappings of a recording of perf to the tables of kipt_raw.h. Each file
 * goes to the kernel once, as it was found; processes that have forked share ranges.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../../uapi/linux/kipt_raw.h"
#include "../cli/list_room.h"
#include "../cli/lookup.h"
#include "../cli/messages.h"
#include "../kernel/raw_device.h"
#include "../perf/perf_maps.h"
#include "code_images.h"

#define PAGE_BYTES	4096ULL
/* PROC_PID_INIT_INO of linux/proc_ns.h, the same since namespaces have inodes. */
#define FIRST_PID_NAMESPACE	0xeffffffcU

struct images {
	int device;
	struct perf_file *file;
	struct perf_maps *maps;
	struct perf_aux aux;
	struct kipt_raw_space *spaces;
	struct kipt_raw_range *ranges;
	size_t space_count, range_count;
	/* By address: the number of a file; of a tree, the first space that has it. */
	struct lookup numbers, trees;
	bool failed;
};

static bool no_memory(struct images *images)
{
	if (!images->failed)
		say_errno(ENOMEM, "cannot hold the mappings of processes");
	images->failed = true;
	return false;
}

static bool event_take(void *ctx, const struct perf_event *event)
{
	struct images *images = ctx;

	return perf_aux_take(&images->aux, images->file, event) &&
	       perf_maps_take(images->maps, images->file, event);
}

/* The same file as was found, unless somebody has replaced it meanwhile. */
static int file_open(const struct perf_code *code)
{
	struct stat now;
	int fd = open(code->local, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return -1;
	if (!fstat(fd, &now) && now.st_dev == code->found.st_dev &&
	    now.st_ino == code->found.st_ino &&
	    now.st_size == code->found.st_size &&
	    now.st_mtim.tv_sec == code->found.st_mtim.tv_sec &&
	    now.st_mtim.tv_nsec == code->found.st_mtim.tv_nsec)
		return fd;
	close(fd);
	return -1;
}

/* Its number; KIPT_RAW_NO_FILE if it cannot be had. */
static u32 file_give(struct images *images, const struct perf_code *code)
{
	int fd = code->local && *code->local ? file_open(code) : -1;
	int number = fd < 0 ? -1 : ioctl(images->device, KIPT_RAW_FILE, &fd);

	if (fd >= 0)
		close(fd);
	return number < 0 ? KIPT_RAW_NO_FILE : (u32)number;
}

/* Of 32 bits it is [vdso32] here: the module knows which one a process has. */
static bool is_vdso(const struct perf_code *code)
{
	return code->path && !strncmp(code->path, "[vdso", strlen("[vdso"));
}

static bool file_number(struct images *images, const struct perf_code *code,
			u32 *number)
{
	const size_t *known = lookup_get(&images->numbers, (uintptr_t)code);

	*number = known ? *known : is_vdso(code) ? KIPT_RAW_VDSO :
		  file_give(images, code);
	return known || lookup_add(&images->numbers, (uintptr_t)code, *number) ||
	       no_memory(images);
}

static bool mapping_take(void *ctx, const struct perf_mapping *mapping)
{
	struct images *images = ctx;
	struct kipt_raw_range range = {
		.begin = mapping->start,
		.end = mapping->end,
		.offset = mapping->offset,
	};
	struct kipt_raw_range *ranges;

	/* Only pages are mapped; anything else was written by nobody's kernel. */
	if ((range.begin | range.end | range.offset) % PAGE_BYTES)
		return true;
	if (!file_number(images, mapping->code, &range.file))
		return false;
	if (range.file == KIPT_RAW_NO_FILE)
		range.offset = 0;
	ranges = list_room(images->ranges, images->range_count, sizeof(*ranges));
	if (!ranges)
		return no_memory(images);
	images->ranges = ranges;
	ranges[images->range_count++] = range;
	return true;
}

static bool ranges_take(struct images *images, const struct perf_space *from,
			struct kipt_raw_space *space)
{
	const size_t *known = lookup_get(&images->trees, (uintptr_t)from->root);

	if (known) {
		space->first = images->spaces[*known].first;
		space->count = images->spaces[*known].count;
		return true;
	}
	space->first = images->range_count;
	if (!perf_tree_each(from->root, mapping_take, images))
		return false;
	space->count = images->range_count - space->first;
	return lookup_add(&images->trees, (uintptr_t)from->root,
			  images->space_count) || no_memory(images);
}

static bool space_take(void *ctx, const struct perf_space *from)
{
	struct images *images = ctx;
	struct kipt_raw_space space = {
		.tgid = from->pid,
		.flags = from->begins ? KIPT_RAW_SPACE_NEW : 0,
		.from = from->from,
	};
	struct kipt_raw_space *spaces;

	if (!ranges_take(images, from, &space))
		return false;
	spaces = list_room(images->spaces, images->space_count, sizeof(*spaces));
	if (!spaces)
		return no_memory(images);
	images->spaces = spaces;
	spaces[images->space_count++] = space;
	return true;
}

/* The module has processes by their numbers in the first PID namespace. */
static bool numbers_are_the_same(void)
{
	struct stat own;

	if (stat("/proc/self/ns/pid", &own) || own.st_ino == FIRST_PID_NAMESPACE)
		return true;
	say_note("programs have other numbers in this PID namespace: code of those that ended is missing");
	return false;
}

static bool recording_read(struct images *images, const char *path)
{
	if (!perf_file_events(images->file, event_take, images) ||
	    !perf_maps_settle(images->maps, images->file, &images->aux.clock))
		return false;
	if (!images->aux.clock.mult) {
		say_note("%s says nothing of the TSC: code of programs that ended is missing",
			 path);
		return false;
	}
	if (perf_maps_lost(images->maps)) {
		say_note("perf lost %llu events: nobody knows what programs had mapped, and code of those that ended is missing",
			 (unsigned long long)perf_maps_lost(images->maps));
		return false;
	}
	perf_maps_files(images->maps, images->file, NULL);
	return true;
}

static bool tables_give(struct images *images, u32 id)
{
	struct kipt_raw_images wish = {
		.spaces = (uintptr_t)images->spaces,
		.ranges = (uintptr_t)images->ranges,
		.nr_spaces = images->space_count,
		.nr_ranges = images->range_count,
	};

	if (!images->range_count ||
	    !ioctl(images->device, KIPT_RAW_IMAGES, &wish))
		return true;
	say_errno(errno, "session %u does not take the files that %zu programs had mapped, in %zu ranges",
		  id, images->space_count, images->range_count);
	return false;
}

static void images_free(struct images *images)
{
	perf_maps_destroy(images->maps);
	perf_aux_free(&images->aux);
	perf_file_close(images->file);
	lookup_free(&images->numbers);
	lookup_free(&images->trees);
	free(images->spaces);
	free(images->ranges);
	if (images->device >= 0)
		close(images->device);
}

bool code_images_give(const char *path, const struct kipt_session *session)
{
	struct images images = { .device = raw_open(session) };
	bool ok = images.device >= 0;

	if (ok)
		images.file = perf_file_open(path);
	if (images.file)
		images.maps = perf_maps_create();
	ok = ok && images.maps && numbers_are_the_same() && recording_read(&images, path) &&
	     perf_maps_each(images.maps, space_take, &images) &&
	     tables_give(&images, session->id);
	images_free(&images);
	return ok;
}
