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

/* @called: the symbol that was looked for last, or NULL; it has @bytes from @begin on,
 * none if it was not found. @inlined: NULL: nobody asked.
 */
struct source {
	struct debug_file *file;
	struct inlined_table *inlined;
	char *called;
	GElf_Addr begin;
	u64 bytes;
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
	inlined_table_destroy(source->inlined);
	debug_file_close(source->file);
	free(source->called);
	free(source);
}

/* Where the file was linked to have what is at an offset in the file; 0: nowhere. */
static u64 address_of(struct source *source, u64 offset)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(source->file->module, &bias);
	size_t i, count = 0;
	GElf_Phdr head;

	if (!elf || elf_getphdrnum(elf, &count))
		return 0;
	for (i = 0; i < count; i++) {
		if (gelf_getphdr(elf, i, &head) && head.p_type == PT_LOAD &&
		    offset >= head.p_offset &&
		    offset - head.p_offset < head.p_filesz)
			return head.p_vaddr + (offset - head.p_offset);
	}
	return 0;
}

/* @address: where libdwfl has it. */
static bool line_text(struct source *source, Dwarf_Addr address, char *text, size_t size)
{
	Dwfl_Line *line = dwfl_module_getsrc(source->file->module, address);
	const char *file, *slash;
	int number = 0;

	file = line ? dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL) :
		      NULL;
	if (!file || !number)
		return false;
	slash = strrchr(file, '/');
	snprintf(text, size, "%s:%d", slash ? slash + 1 : file, number);
	plain_text(text);
	return true;
}

bool source_text(struct source *source, u64 offset, char *text, size_t size)
{
	u64 address = source ? address_of(source, offset) : 0;

	return address && source_address_text(source, address, text, size);
}

bool source_address_text(struct source *source, u64 address, char *text, size_t size)
{
	GElf_Addr bias = 0;

	return source && dwfl_module_getelf(source->file->module, &bias) &&
	       line_text(source, address + bias, text, size);
}

const struct inlined *source_inlined(struct source *source, u64 offset)
{
	u64 address = source ? address_of(source, offset) : 0;

	if (!address)
		return NULL;
	if (!source->inlined)
		source->inlined = inlined_table_create(source->file);
	return source->inlined ? inlined_find(source->inlined, address) : NULL;
}

/* Looking through all symbols takes long, and most questions are of the one before. */
static void symbol_find(struct source *source, const char *name)
{
	Dwfl_Module *module = source->file->module;
	int i, found = 0, count = dwfl_module_getsymtab(module);
	const char *called;
	GElf_Addr address;
	GElf_Sym sym;

	if (source->called && !strcmp(source->called, name))
		return;
	free(source->called);
	source->called = strdup(name);
	source->bytes = 0;
	for (i = 1; i < count && found < 2; i++) {
		called = dwfl_module_getsym_info(module, i, &sym, &address, NULL, NULL, NULL);
		if (!called || strcmp(called, name) || sym.st_shndx == SHN_UNDEF)
			continue;
		source->begin = address;
		source->bytes = found++ ? 0 : sym.st_size;
	}
}

bool source_symbol_text(struct source *source, const char *name, u64 offset, char *text,
			size_t size)
{
	if (source)
		symbol_find(source, name);
	return source && offset < source->bytes &&
	       line_text(source, source->begin + offset, text, size);
}
