// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lines of source code, see source_line.h. libdw finds separate debug information
 * and reads it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../cli/printable.h"
#include "source_line.h"

struct source {
	struct debug_file *file;
};

struct source *source_load(const char *path, const struct debug_places *places)
{
	struct source *source = calloc(1, sizeof(*source));

	if (!source)
		return NULL;
	source->file = debug_file_open(path, places);
	if (source->file)
		return source;
	source_destroy(source);
	return NULL;
}

void source_destroy(struct source *source)
{
	if (!source)
		return;
	debug_file_close(source->file);
	free(source);
}

/* Where libdw has what stands at an offset in the file; 0: nowhere. */
static Dwarf_Addr address_of(struct source *source, u64 offset)
{
	GElf_Addr bias = 0;
	Elf *elf = dwfl_module_getelf(source->file->module, &bias);
	size_t i, count = 0;
	GElf_Phdr head;

	if (!elf || elf_getphdrnum(elf, &count))
		return 0;
	for (i = 0; i < count; i++) {
		if (gelf_getphdr(elf, i, &head) && head.p_type == PT_LOAD &&
		    offset >= head.p_offset &&
		    offset - head.p_offset < head.p_filesz)
			return bias + head.p_vaddr + (offset - head.p_offset);
	}
	return 0;
}

bool source_text(struct source *source, u64 offset, char *text, size_t size)
{
	Dwarf_Addr address = source ? address_of(source, offset) : 0;
	const char *file, *slash;
	Dwfl_Line *line;
	int number = 0;

	if (!address)
		return false;
	line = dwfl_module_getsrc(source->file->module, address);
	file = line ? dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL) :
		      NULL;
	if (!file || !number)
		return false;
	slash = strrchr(file, '/');
	snprintf(text, size, "%s:%d", slash ? slash + 1 : file, number);
	plain_text(text);
	return true;
}
