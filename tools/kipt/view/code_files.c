// SPDX-License-Identifier: GPL-2.0-only
/*
 * The files that code is of, see code_files.h.
 */
#include <stdlib.h>
#include <string.h>

#include "../cli/list_room.h"
#include "code_files.h"

/* So many answers are kept. A power of two. */
#define RECENT		4096

bool code_files_init(struct code_files *files)
{
	memset(files, 0, sizeof(*files));
	files->recent = calloc(RECENT, sizeof(*files->recent));
	return files->recent;
}

void code_files_free(struct code_files *files)
{
	size_t i;

	for (i = 0; i < files->paths.count; i++)
		free(files->list[i].called);
	free(files->list);
	text_list_free(&files->paths);
	free(files->recent);
}

/* The number of a file, which is new or not. */
static u32 file_number(struct code_files *files, const struct file_place *place, u64 address)
{
	const char *path = place->path ? place->path : place->called;
	size_t count = files->paths.count;
	struct code_file *list = list_room(files->list, count, sizeof(*list));
	u32 number;

	if (!list)
		return TEXT_NONE;
	files->list = list;
	number = text_list_number(&files->paths, path, CODE_FILES);
	if (number == TEXT_NONE || number < count)
		return number;
	list[number] = (struct code_file){
		.called = strdup(place->called),
		.kernel = !place->path,
		.address = address,
		.offset = place->offset,
	};
	return number;
}

const struct code_place *code_files_find(struct code_files *files, struct names *names,
					 u32 pid, u64 address)
{
	u32 of = names_pid(pid, address);
	struct code_place *recent =
		&files->recent[(address ^ address >> 12 ^ of) & (RECENT - 1)];
	struct file_place place;
	bool found;

	if (recent->end && recent->address == address && recent->pid == of &&
	    recent->changes == names_changes(names))
		return recent;
	found = names_file(names, of, address, &place);
	*recent = (struct code_place){
		.address = address,
		/* Symbols may have been read now. */
		.changes = names_changes(names),
		.offset = found ? place.offset : 0,
		.end = found ? place.end : ~0ULL,
		.pid = of,
		.file = found ? file_number(files, &place, address) : TEXT_NONE,
	};
	return recent;
}

static void layout_settle(struct code_files *files, struct names *names, size_t number)
{
	struct code_file *file = &files->list[number];

	if (!file->kernel)
		file_layout_read(&file->layout, files->paths.texts[number]);
	else if (!file->called ||
		 !names_kernel_range(names, file->called, &file->layout.begin,
				     &file->layout.end))
		file->layout.begin = file->offset;
	if (!file_layout_address(&file->layout, file->offset, &file->offset))
		file->offset = file->layout.begin;
}

void code_files_settle(struct code_files *files, struct names *names)
{
	size_t i;

	for (i = 0; i < files->paths.count; i++)
		layout_settle(files, names, i);
}
