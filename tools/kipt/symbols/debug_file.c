// SPDX-License-Identifier: GPL-2.0-only
/*
 * Debug files through libdwfl, see debug_file.h.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <elfutils/libdwelf.h>

#include "../cli/file_map.h"
#include "build_id_cache.h"
#include "debug_file.h"
#include "debug_server.h"
#include "elf_symbols.h"

/* What libdwfl keeps pointers to. */
struct holder {
	struct debug_file file;
	const struct debug_places *places;
	Dwfl_Callbacks callbacks;
	char *paths;
};

static const struct debug_places anywhere;

static bool id_of(Dwfl_Module *module, struct build_id *id)
{
	const unsigned char *bytes;
	GElf_Addr address;
	int size = dwfl_module_build_id(module, &bytes, &address);

	if (size <= 0 || size > BUILD_ID_MAX)
		return false;
	id->size = size;
	memcpy(id->bytes, bytes, size);
	return true;
}

bool debug_file_build_id(int fd, struct build_id *id)
{
	const void *bytes;
	ssize_t size;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	size = elf ? dwelf_elf_gnu_build_id(elf, &bytes) : -1;
	id->size = size > 0 && size <= BUILD_ID_MAX ? size : 0;
	if (id->size)
		memcpy(id->bytes, bytes, id->size);
	elf_end(elf);
	return id->size;
}

static bool id_is(int fd, const struct build_id *id)
{
	struct build_id found;

	return debug_file_build_id(fd, &found) && build_id_same(&found, id);
}

static int cache_find_as(const struct build_id *form, const struct build_id *id,
			 char **found)
{
	char path[4096];
	int fd;

	if (!build_id_cache_path(form, "debug", NULL, path, sizeof(path)))
		return -1;
	fd = file_open_regular(path);
	if (fd < 0)
		return -1;
	*found = id_is(fd, id) ? strdup(path) : NULL;
	if (*found)
		return fd;
	close(fd);
	return -1;
}

/* The descriptor of the debug file that perf keeps, or -1. */
static int cache_find(const struct build_id *id, char **found)
{
	struct build_id form;
	int fd = -1;
	u32 i;

	for (i = 0; i < BUILD_ID_FORMS && fd < 0; i++) {
		if (build_id_cache_form(id, i, &form))
			fd = cache_find_as(&form, id, found);
	}
	return fd;
}

/* libdwfl opens what is named in the file, whatever it is: not for @by_id. A
 * server is asked when nothing is on this machine.
 */
static int debug_find(Dwfl_Module *module, void **data, const char *name,
		      Dwarf_Addr base, const char *file, const char *link,
		      GElf_Word sum, char **found)
{
	const struct holder *holder = *data;
	struct build_id id;
	int fd;

	debug_server_begin(holder->file.dwfl, !holder->places->no_server);
	fd = id_of(module, &id) ? cache_find(&id, found) : -1;
	if (holder->places->by_id)
		file = link = NULL;
	if (fd < 0)
		fd = dwfl_standard_find_debuginfo(module, data, name, base,
						  file, link, sum, found);
	debug_server_end(fd >= 0);
	return fd;
}

/* The descriptor is libdwfl's from then on, if it takes the file. */
static bool file_report(struct holder *holder, const char *path)
{
	struct debug_file *file = &holder->file;
	int fd = file_open_regular(path);
	void **data;

	if (fd < 0)
		return false;
	dwfl_report_begin(file->dwfl);
	file->module = dwfl_report_offline(file->dwfl, "", path, fd);
	dwfl_report_end(file->dwfl, NULL, NULL);
	if (!file->module) {
		close(fd);
		return false;
	}
	dwfl_module_info(file->module, &data, NULL, NULL, NULL, NULL, NULL,
			 NULL);
	*data = holder;
	return true;
}

/* As libdwfl has it: beside the file, in .debug there, and in one folder. */
static bool paths_make(struct holder *holder)
{
	const char *symfs = holder->places->symfs;

	return asprintf(&holder->paths, "+:.debug:%s/usr/lib/debug",
			symfs ? symfs : "") >= 0;
}

struct debug_file *debug_file_open(const char *path,
				   const struct debug_places *places)
{
	struct holder *holder = calloc(1, sizeof(*holder));

	if (!holder)
		return NULL;
	holder->places = places ? places : &anywhere;
	if (!paths_make(holder)) {
		free(holder);
		return NULL;
	}
	holder->callbacks = (Dwfl_Callbacks){
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = debug_find,
		.section_address = dwfl_offline_section_address,
		.debuginfo_path = &holder->paths,
	};
	holder->file.dwfl = dwfl_begin(&holder->callbacks);
	if (holder->file.dwfl && file_report(holder, path))
		return &holder->file;
	debug_file_close(&holder->file);
	return NULL;
}

void debug_file_close(struct debug_file *file)
{
	struct holder *holder = (struct holder *)file;

	if (!file)
		return;
	if (file->dwfl)
		dwfl_end(file->dwfl);
	free(holder->paths);
	free(holder);
}

/* False: there is no room for more. */
static bool symbol_take(struct elf_symbols *elf, struct debug_file *file,
			int number, GElf_Addr bias)
{
	GElf_Addr address;
	const char *name;
	GElf_Sym sym;
	int type;

	name = dwfl_module_getsym_info(file->module, number, &sym, &address,
				       NULL, NULL, NULL);
	type = GELF_ST_TYPE(sym.st_info);
	if (!name || !*name || (type != STT_FUNC && type != STT_GNU_IFUNC) ||
	    sym.st_shndx == SHN_UNDEF)
		return true;
	sym.st_value = address - bias;
	return elf_symbols_add(elf, &sym, name);
}

static void symbols_take(struct elf_symbols *elf, struct debug_file *file)
{
	int i, count = dwfl_module_getsymtab(file->module);
	GElf_Addr bias = 0;

	if (!dwfl_module_getelf(file->module, &bias))
		return;
	for (i = 1; i < count; i++) {
		if (!symbol_take(elf, file, i, bias))
			return;
	}
}

struct elf_symbols *debug_symbols_load(const char *path,
				       const struct debug_places *places)
{
	struct elf_symbols *elf = elf_symbols_load(path);
	struct debug_file *file;

	if (!elf || !elf_symbols_stripped(elf))
		return elf;
	file = debug_file_open(path, places);
	if (file)
		symbols_take(elf, file);
	debug_file_close(file);
	return elf;
}
