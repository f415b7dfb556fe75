// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lines of source code, see source_line.h. libdw finds separate debug information
 * and reads it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <elfutils/libdwfl.h>

#include "../cli/file_map.h"
#include "../cli/printable.h"
#include "source_line.h"

struct source {
	Dwfl *dwfl;
	Dwfl_Module *module;
};

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.section_address = dwfl_offline_section_address,
};

/* As libdw does where there is no name, which it would open whatever it is. */
static int debuginfo_by_id(Dwfl_Module *module, void **data, const char *name,
			   Dwarf_Addr base, const char *file,
			   const char *link, GElf_Word sum, char **found)
{
	(void)file;
	(void)link;
	return dwfl_standard_find_debuginfo(module, data, name, base, NULL,
					    NULL, sum, found);
}

static const Dwfl_Callbacks callbacks_by_id = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = debuginfo_by_id,
	.section_address = dwfl_offline_section_address,
};

/* The descriptor is libdw's from then on, if it takes the file. */
static void file_report(struct source *source, const char *path)
{
	int fd = file_open_regular(path);

	if (fd < 0)
		return;
	dwfl_report_begin(source->dwfl);
	source->module = dwfl_report_offline(source->dwfl, "", path, fd);
	dwfl_report_end(source->dwfl, NULL, NULL);
	if (!source->module)
		close(fd);
}

struct source *source_load(const char *path, bool by_id)
{
	struct source *source = calloc(1, sizeof(*source));

	if (!source)
		return NULL;
	source->dwfl = dwfl_begin(by_id ? &callbacks_by_id : &callbacks);
	if (source->dwfl)
		file_report(source, path);
	if (source->module)
		return source;
	source_destroy(source);
	return NULL;
}

void source_destroy(struct source *source)
{
	if (!source)
		return;
	dwfl_end(source->dwfl);
	free(source);
}

/* Where libdw has what stands at an offset in the file; 0: nowhere. */
static Dwarf_Addr address_of(struct source *source, u64 offset)
{
	GElf_Addr bias = 0;
	Elf *elf = dwfl_module_getelf(source->module, &bias);
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
	line = dwfl_module_getsrc(source->module, address);
	file = line ? dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL) :
		      NULL;
	if (!file || !number)
		return false;
	slash = strrchr(file, '/');
	snprintf(text, size, "%s:%d", slash ? slash + 1 : file, number);
	plain_text(text);
	return true;
}
