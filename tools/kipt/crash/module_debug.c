// SPDX-License-Identifier: GPL-2.0-only
/*
 * Builds of modules, see module_debug.h. struct module has address and size of the parts
 * of a module, after those of its text and as far from each other as these. Before 6.4
 * there is one part, and the size of its text comes right after that of the whole.
 */
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dump_symbols.h"
#include "module_debug.h"

/* Of struct module, from the address of the text on: more than seven parts take. */
#define PARTS_BYTES	640U
/* Far more than a part has; and than is read of a module. */
#define PART_MAX	(16U << 20)
#define READ_MAX	(64U << 20)
#define PAGE		4096U
/* Where the kernel and modules are. */
#define MODULES_BEGIN	0xffffffff80000000ULL
/* More files than below /lib/modules. */
#define FILES_MAX	100000U

/* @damaged: there are several different ones. @left: bytes that may be read. */
struct search {
	struct crash_memory *memory;
	struct build_id *id;
	bool found, damaged;
	u32 left;
};

static void note_take(struct search *search, const u8 *bytes, u32 size)
{
	static const u8 head[] = { 3, 0, 0, 0, 'G', 'N', 'U', 0 };
	struct build_id id;

	if (size < 16 || memcmp(bytes + 8, head, sizeof(head)) ||
	    !build_id_note(&id, bytes, size))
		return;
	if (!search->found)
		*search->id = id;
	else if (!build_id_same(search->id, &id))
		search->damaged = true;
	search->found = true;
}

/* A note may go on in the next page. */
static void part_search(struct search *search, u64 begin, u32 size)
{
	u8 bytes[PAGE + 16 + BUILD_ID_MAX];
	u32 at, i, here;

	for (at = 0; at < size && search->left >= PAGE; at += PAGE) {
		here = size - at < sizeof(bytes) ? size - at : sizeof(bytes);
		here = crash_memory_read(search->memory, 0, begin + at, bytes, here);
		search->left -= PAGE;
		for (i = 0; i < PAGE && i < here; i += 4)
			note_take(search, bytes + i, here - i);
	}
}

bool crash_module_build_id(struct crash_memory *memory,
			   const struct kipt_crash_layout *layout, const char *name,
			   struct build_id *id)
{
	struct search search = { .memory = memory, .id = id, .left = READ_MAX };
	u32 i, apart = layout->module_text_size - layout->module_text, size[2];
	u64 module, begin;

	if (!layout->module || apart < 8 || apart > 64 ||
	    !crash_module_find(memory, layout, name, &module))
		return false;
	module += layout->module_text;
	for (i = 0; i < PARTS_BYTES; i += 8) {
		if (!crash_memory_get(memory, module + i, &begin, sizeof(begin)) ||
		    !crash_memory_get(memory, module + i + apart - 4, size, sizeof(size)))
			break;
		if (begin < MODULES_BEGIN || begin % PAGE)
			continue;
		/* Only one of them is a size for certain, the other is no large number. */
		if (size[0] < PART_MAX && size[0] > size[1])
			size[1] = size[0];
		if (size[1] < PART_MAX)
			part_search(&search, begin, size[1]);
	}
	return search.found && !search.damaged;
}

bool running_module_build_id(const char *name, struct build_id *id)
{
	u8 bytes[256];
	char path[128];
	FILE *file;
	size_t size;

	snprintf(path, sizeof(path), "/sys/module/%s/notes/.note.gnu.build-id", name);
	file = strchr(name, '/') ? NULL : fopen(path, "re");
	if (!file)
		return false;
	size = fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	return build_id_note(id, bytes, size);
}

/* In names of files, modules may have '-' for '_'. */
static bool is_module(const char *file, const char *name)
{
	for (; *name; file++, name++) {
		if ((*file == '-' ? '_' : *file) != *name)
			return false;
	}
	return !strcmp(file, ".ko") || !strcmp(file, ".ko.debug");
}

bool module_files_each(const char *release, const char *name,
		       bool (*take)(void *ctx, const char *path), void *ctx)
{
	char debug[128], plain[128], *const roots[] = { debug, plain, NULL };
	bool taken = false;
	u32 count = 0;
	FTSENT *entry;
	FTS *tree;

	snprintf(debug, sizeof(debug), "/usr/lib/debug/lib/modules/%s", release);
	snprintf(plain, sizeof(plain), "/lib/modules/%s", release);
	tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	while (tree && !taken && count++ < FILES_MAX && (entry = fts_read(tree))) {
		if (entry->fts_info == FTS_F && is_module(entry->fts_name, name))
			taken = take(ctx, entry->fts_path);
	}
	if (tree)
		fts_close(tree);
	return taken;
}
