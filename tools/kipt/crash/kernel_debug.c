// SPDX-License-Identifier: GPL-2.0-only
/*
 * The vmlinux of a kernel that died, see kernel_debug.h. What VMCOREINFO says may be
 * made up: it chooses among files that only root writes.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../cli/file_map.h"
#include "../cli/messages.h"
#include "../symbols/debug_file.h"
#include "../symbols/vmlinux.h"
#include "kernel_debug.h"
#include "vmcoreinfo.h"

/* Of its release. Debug information is more likely in the first ones. */
static const char *const places[] = {
	"/usr/lib/debug/boot/vmlinux-%s",
	"/usr/lib/debug/lib/modules/%s/vmlinux",
	"/boot/vmlinux-%s",
	"/lib/modules/%s/build/vmlinux",
};

static bool is_roots(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && !st.st_uid && !(st.st_mode & (S_IWGRP | S_IWOTH));
}

/* Takes it if it is of this kernel. */
static bool file_take(struct kernel_debug *debug, int fd)
{
	char text[BUILD_ID_TEXT];
	struct build_id id;

	if (fd >= 0 && debug_file_build_id(fd, &id)) {
		build_id_text(&id, text);
		if (!strcmp(text, debug->id)) {
			debug->fd = fd;
			return true;
		}
	}
	if (fd >= 0)
		close(fd);
	return false;
}

static bool path_take(struct kernel_debug *debug)
{
	int fd = file_open_regular(debug->path);

	if (fd < 0 || is_roots(fd))
		return file_take(debug, fd);
	close(fd);
	return false;
}

static bool file_find(struct kernel_debug *debug)
{
	u32 i;

	if (debug->tried)
		return debug->fd >= 0;
	debug->tried = true;
	if (!debug->id[0])
		return false;
	snprintf(debug->path, sizeof(debug->path), "/usr/lib/debug/.build-id/%.2s/%s.debug",
		 debug->id, debug->id + 2);
	if (path_take(debug))
		return true;
	for (i = 0; debug->release[0] && i < sizeof(places) / sizeof(*places); i++) {
		snprintf(debug->path, sizeof(debug->path), places[i], debug->release);
		if (path_take(debug))
			return true;
	}
	return false;
}

/* Of what a dump says nothing becomes another folder. */
static void info_read(struct kernel_debug *debug, const char *info)
{
	char moved[32], *end = moved;
	size_t length;

	if (!vmcoreinfo_text(info, "BUILD-ID", debug->id, sizeof(debug->id)))
		debug->id[0] = 0;
	length = strspn(debug->id, "0123456789abcdef");
	if (length < 16 || debug->id[length])
		debug->id[0] = 0;
	if (vmcoreinfo_text(info, "KERNELOFFSET", moved, sizeof(moved)))
		debug->moved = strtoull(moved, &end, 16);
	if (end == moved || *end)
		debug->id[0] = 0;
	if (!vmcoreinfo_text(info, "OSRELEASE", debug->release, sizeof(debug->release)) ||
	    strchr(debug->release, '/'))
		debug->release[0] = 0;
}

bool kernel_debug_open(struct kernel_debug *debug, const char *info, const char *path)
{
	int fd;

	*debug = (struct kernel_debug){ .fd = -1 };
	info_read(debug, info);
	if (!path)
		return true;
	fd = file_open_tell(path);
	if (fd < 0)
		return false;
	snprintf(debug->path, sizeof(debug->path), "%s", path);
	debug->tried = file_take(debug, fd);
	if (!debug->id[0])
		say_note("--vmlinux %s: it is not used, as the dump does not say the build id of its kernel, or not how far that was moved",
			 path);
	else if (!debug->tried)
		say_note("--vmlinux %s: its build id is not that of the kernel that died, %s: it is not used",
			 path, debug->id);
	return true;
}

void kernel_debug_close(struct kernel_debug *debug)
{
	line_reader_destroy(debug->lines);
	if (debug->tried && debug->fd >= 0)
		close(debug->fd);
	*debug = (struct kernel_debug){ .fd = -1 };
}

bool kernel_debug_symbols(struct kernel_debug *debug, struct symbols *symbols)
{
	size_t before = symbols_count(symbols);
	char name[32];

	if (!debug || !file_find(debug))
		return false;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", debug->fd);
	if (!vmlinux_symbols(symbols, name, debug->moved) ||
	    symbols_count(symbols) == before)
		return false;
	say_note("names of the kernel come from %s", debug->path);
	return true;
}

static bool source_find(void *ctx, u64 address, const struct place *place, char *text,
			size_t size)
{
	struct kernel_debug *debug = ctx;

	(void)place;
	if (!debug->lines_tried && file_find(debug))
		debug->lines = line_reader_create(debug->fd, debug->path);
	debug->lines_tried = true;
	return line_reader_get(debug->lines, address - debug->moved, text, size);
}

void kernel_debug_names(struct kernel_debug *debug, struct names *names)
{
	names_kernel_source(names, source_find, debug);
}
