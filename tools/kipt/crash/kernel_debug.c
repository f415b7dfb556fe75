// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files of a kernel that died, see kernel_debug.h. What VMCOREINFO says may be
 * made up: it chooses among files that only root writes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../cli/file_map.h"
#include "../cli/kipt.h"
#include "../cli/messages.h"
#include "../symbols/debug_file.h"
#include "kernel_debug.h"
#include "module_debug.h"
#include "vmcoreinfo.h"

/* x86 moves its kernel by multiples of 2 MiB, and by less than 1 GiB. */
#define MOVED_ALIGN	(2U << 20)
#define MOVED_MAX	(1U << 30)
/* Each has a process. */
#define MODULES_MAX	64U

/* @lines: of its file; NULL: there is none. */
struct module_lines {
	struct module_lines *next;
	char name[64];
	char id[BUILD_ID_TEXT];
	char path[4096];
	struct line_reader *lines;
};

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

	return !fstat(fd, &st) && !st.st_uid && !(st.st_mode & 022);
}

static bool is_id(const struct build_id *id, const char *wanted)
{
	char text[BUILD_ID_TEXT];

	build_id_text(id, text);
	return !strcmp(text, wanted);
}

/* The descriptor of a file of root's that has the build id, or -1. */
static int file_open(const char *path, const char *wanted)
{
	int fd = file_open_regular(path);
	struct build_id id;

	if (fd < 0 || (is_roots(fd) && debug_file_build_id(fd, &id) && is_id(&id, wanted)))
		return fd;
	close(fd);
	return -1;
}

static void id_path(const char *id, char *path, size_t size)
{
	snprintf(path, size, "/usr/lib/debug/.build-id/%.2s/%s.debug", id, id + 2);
}

static bool file_find(struct kernel_debug *debug)
{
	u32 i;

	if (debug->tried)
		return debug->fd >= 0;
	debug->tried = true;
	if (!debug->id[0])
		return false;
	id_path(debug->id, debug->path, sizeof(debug->path));
	debug->fd = file_open(debug->path, debug->id);
	for (i = 0; debug->fd < 0 && debug->release[0] && i < ARRAY_SIZE(places); i++) {
		snprintf(debug->path, sizeof(debug->path), places[i], debug->release);
		debug->fd = file_open(debug->path, debug->id);
	}
	return debug->fd >= 0;
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
	if (end == moved || *end || debug->moved % MOVED_ALIGN || debug->moved >= MOVED_MAX)
		debug->id[0] = 0;
	if (!vmcoreinfo_text(info, "OSRELEASE", debug->release, sizeof(debug->release)) ||
	    debug->release[0] == '.' || strchr(debug->release, '/'))
		debug->release[0] = 0;
}

/* Anybody's file: only its reader looks into it. */
static bool named_take(struct kernel_debug *debug)
{
	struct build_id id;

	debug->lines = line_reader_create(debug->fd, debug->path);
	debug->lines_tried = line_reader_build_id(debug->lines, &id) && is_id(&id, debug->id);
	if (debug->lines_tried)
		return true;
	line_reader_destroy(debug->lines);
	debug->lines = NULL;
	return false;
}

bool kernel_debug_open(struct kernel_debug *debug, const char *info, const char *path)
{
	debug->fd = -1;
	info_read(debug, info);
	if (!path)
		return true;
	debug->fd = file_open_tell(path);
	if (debug->fd < 0)
		return false;
	snprintf(debug->path, sizeof(debug->path), "%s", path);
	debug->tried = named_take(debug);
	if (debug->tried)
		return true;
	close(debug->fd);
	debug->fd = -1;
	if (!debug->id[0])
		say_note("--vmlinux %s: it is not used, as the dump does not say the build id of its kernel, or not how far that was moved",
			 path);
	else
		say_note("--vmlinux %s: its build id is not that of the kernel that died, %s: it is not used",
			 path, debug->id);
	return true;
}

void kernel_debug_close(struct kernel_debug *debug)
{
	struct module_lines *module;

	line_reader_destroy(debug->lines);
	while ((module = debug->modules)) {
		debug->modules = module->next;
		line_reader_destroy(module->lines);
		free(module);
	}
	if (debug->tried && debug->fd >= 0)
		close(debug->fd);
	*debug = (struct kernel_debug){ .fd = -1 };
}

/* NULL: there is no vmlinux. */
static struct line_reader *reader_get(struct kernel_debug *debug)
{
	if (!debug->lines_tried && file_find(debug))
		debug->lines = line_reader_create(debug->fd, debug->path);
	debug->lines_tried = true;
	return debug->lines;
}

bool kernel_debug_symbols(struct kernel_debug *debug, struct symbols *symbols)
{
	if (!debug || !line_reader_symbols(reader_get(debug), symbols, debug->moved))
		return false;
	say_note("names of the kernel come from %s", debug->path);
	return true;
}

static bool module_file_take(void *ctx, const char *path)
{
	struct module_lines *module = ctx;
	int fd = file_open(path, module->id);

	if (fd < 0)
		return false;
	snprintf(module->path, sizeof(module->path), "%s", path);
	module->lines = line_reader_create(fd, module->path);
	close(fd);
	return true;
}

static void module_open(struct kernel_debug *debug, struct module_lines *module)
{
	char path[sizeof(module->id) + 64];
	struct build_id id;

	if (!(debug->memory ?
	      crash_module_build_id(debug->memory, &debug->layout, module->name, &id) :
	      running_module_build_id(module->name, &id)) ||
	    id.size < 2)
		return;
	build_id_text(&id, module->id);
	id_path(module->id, path, sizeof(path));
	if (!module_file_take(module, path) && debug->release[0])
		module_files_each(debug->release, module->name, module_file_take, module);
}

/* NULL if there are too many, or no memory. */
static struct module_lines *module_get(struct kernel_debug *debug, const char *name)
{
	struct module_lines *module;

	for (module = debug->modules; module; module = module->next) {
		if (!strcmp(module->name, name))
			return module;
	}
	if (debug->module_count == MODULES_MAX || strlen(name) >= sizeof(module->name))
		return NULL;
	module = calloc(1, sizeof(*module));
	if (!module)
		return NULL;
	strcpy(module->name, name);
	module->next = debug->modules;
	debug->modules = module;
	debug->module_count++;
	module_open(debug, module);
	return module;
}

static bool source_find(void *ctx, u64 address, const struct place *place, char *text,
			size_t size)
{
	struct kernel_debug *debug = ctx;
	struct module_lines *module;

	if (strcmp(place->object, "kernel")) {
		module = module_get(debug, place->object);
		return module && place->symbol &&
		       line_reader_get(module->lines, place->symbol, place->offset, text,
				       size);
	}
	return line_reader_get(reader_get(debug), NULL, address - debug->moved, text, size);
}

void kernel_debug_names(struct kernel_debug *debug, struct names *names)
{
	names_kernel_source(names, source_find, debug);
}
