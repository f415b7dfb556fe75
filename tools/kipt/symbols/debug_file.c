// SPDX-License-Identifier: GPL-2.0-only
/*
 * Debug files through libdwfl, see debug_file.h.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <elfutils/libdwelf.h>

#include "../cli/file_map.h"
#include "../cli/messages.h"
#include "debug_file.h"
#include "debug_search.h"
#include "debug_server.h"
#include "elf_symbols.h"

/* Bytes that sections may take unpacked, or that many times the size of their file. */
#define UNPACKED_MOST	(1ULL << 30)
#define UNPACKED_TIMES	32

/* What libdwfl keeps pointers to. */
struct holder {
	struct debug_file file;
	const struct debug_places *places;
	Dwfl_Callbacks callbacks;
};

static const struct debug_places anywhere;
static char *no_places = "";

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

/* 0: it is not compressed. */
static u64 section_unpacked(Elf_Scn *section, const GElf_Shdr *head, const char *name)
{
	Elf_Data *data;
	GElf_Chdr packed;
	u64 size;

	if (head->sh_flags & SHF_COMPRESSED)
		return gelf_getchdr(section, &packed) ? packed.ch_size : 0;
	if (!name || strncmp(name, ".zdebug", strlen(".zdebug")))
		return 0;
	/* "ZLIB", and the size, the highest byte first. */
	data = elf_rawdata(section, NULL);
	if (!data || data->d_size < 4 + sizeof(size))
		return 0;
	memcpy(&size, (const u8 *)data->d_buf + 4, sizeof(size));
	return __builtin_bswap64(size);
}

/*
 * What sections take that are unpacked, up to more than @most; ~0: it is no ELF file.
 * libdwfl would unpack that whole, too.
 */
static u64 unpacked_size(Elf *elf, u64 most)
{
	Elf_Scn *section = NULL;
	u64 size = 0, more;
	GElf_Shdr head;
	size_t names;

	if (elf_kind(elf) != ELF_K_ELF || elf_getshdrstrndx(elf, &names))
		return ~0ULL;
	while (size <= most && (section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &head))
			continue;
		more = section_unpacked(section, &head, elf_strptr(elf, names, head.sh_name));
		size += more < most ? more : most + 1;
	}
	return size;
}

static bool fits_memory(int fd, const char *path)
{
	u64 most = UNPACKED_MOST, size;
	struct stat st;
	Elf *elf;

	if (!fstat(fd, &st) && (u64)st.st_size * UNPACKED_TIMES > most)
		most = (u64)st.st_size * UNPACKED_TIMES;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	size = unpacked_size(elf, most);
	elf_end(elf);
	if (size > most && ~size)
		say_note("debug information of %s is not read: unpacked it would take more than %llu MiB; objcopy --decompress-debug-sections makes a file that is read",
			 path, (unsigned long long)most >> 20);
	return size <= most;
}

/* What debug files have in common is asked for when one of them was found. */
static void shared_of(Dwfl_Module *module, struct debug_search *search)
{
	const char *main = NULL, *debug = NULL, *link;
	const void *bytes;
	Dwarf_Addr bias;
	Dwarf *dwarf = dwfl_module_getdwarf(module, &bias);
	ssize_t size = dwarf ? dwelf_dwarf_gnu_debugaltlink(dwarf, &link, &bytes) : -1;

	search->shared = true;
	search->id.size = size > 0 && size <= BUILD_ID_MAX ? size : 0;
	if (search->id.size)
		memcpy(search->id.bytes, bytes, search->id.size);
	dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, &main, &debug);
	search->file = search->id.size ? debug ? debug : main : NULL;
}

/* A server is asked when nothing is on this machine: all that is left to libdwfl, for which
 * neither names nor places are.
 */
static int debug_find(Dwfl_Module *module, void **data, const char *name,
		      Dwarf_Addr base, const char *file, const char *link,
		      GElf_Word sum, char **found)
{
	const struct holder *holder = *data;
	struct debug_search search = {
		.symfs = holder->places->symfs,
		.file = file,
		.link = link,
		.sum = sum,
	};
	int fd;

	/* Only of what is shared libdwfl has a name without a CRC. */
	if (link && !sum)
		shared_of(module, &search);
	else if (!id_of(module, &search.id))
		search.id.size = 0;
	if (holder->places->by_id)
		search.file = NULL;
	debug_server_begin(holder->file.dwfl, !holder->places->no_server);
	fd = debug_search(&search, found);
	if (fd < 0)
		fd = dwfl_standard_find_debuginfo(module, data, name, base,
						  NULL, NULL, 0, found);
	debug_server_end(fd >= 0);
	if (fd < 0 || fits_memory(fd, *found))
		return fd;
	close(fd);
	free(*found);
	*found = NULL;
	return -1;
}

/* The descriptor is libdwfl's from then on, if it takes the file. */
static bool file_report(struct holder *holder, const char *path)
{
	struct debug_file *file = &holder->file;
	int fd = file_open_regular(path);
	void **data;

	if (fd < 0)
		return false;
	if (!fits_memory(fd, path)) {
		close(fd);
		return false;
	}
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

struct debug_file *debug_file_open(const char *path,
				   const struct debug_places *places)
{
	struct holder *holder = calloc(1, sizeof(*holder));

	if (!holder)
		return NULL;
	holder->places = places ? places : &anywhere;
	holder->callbacks = (Dwfl_Callbacks){
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = debug_find,
		.section_address = dwfl_offline_section_address,
		.debuginfo_path = &no_places,
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
