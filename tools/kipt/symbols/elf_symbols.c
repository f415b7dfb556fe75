// SPDX-License-Identifier: GPL-2.0-only
/*
 * Symbols of ELF files, see elf_symbols.h. Knows nothing of processes; what
 * is in the files is not trusted, libelf checks it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <gelf.h>

#include "../cli/file_map.h"
#include "../cli/lookup.h"
#include "elf_symbols.h"

/* Of symbol tables and their names so many bytes are read. */
#define TABLES_MAX	(1ULL << 30)

struct elf_symbols {
	struct symbols *symbols;
	struct elf_file file;
	bool has_symtab;
};

void elf_file_read(struct elf_file *file, Elf *elf)
{
	size_t i, count = 0;
	GElf_Ehdr ehdr;
	GElf_Phdr head;

	file->fixed = gelf_getehdr(elf, &ehdr) && ehdr.e_type == ET_EXEC;
	file->segment_count = 0;
	elf_getphdrnum(elf, &count);
	for (i = 0; i < count; i++) {
		struct elf_segment *segment;

		if (!gelf_getphdr(elf, i, &head) || head.p_type != PT_LOAD ||
		    file->segment_count == ELF_SEGMENTS_MAX)
			continue;
		segment = &file->segments[file->segment_count++];
		segment->offset = head.p_offset;
		segment->address = head.p_vaddr;
		segment->size = head.p_filesz;
		segment->room = head.p_memsz;
		segment->code = head.p_flags & PF_X;
	}
}

/* @elf: the file, or NULL. Return: whether the symbol's section is known. */
static bool section_of(Elf *elf, const GElf_Sym *sym, GElf_Shdr *head)
{
	Elf_Scn *section = elf ? elf_getscn(elf, sym->st_shndx) : NULL;

	return section && gelf_getshdr(section, head);
}

/* Of its own, or up to the end of its section; 0: nobody knows. */
static u64 symbol_size(Elf *elf, const GElf_Sym *sym)
{
	GElf_Shdr head;

	if (sym->st_size || !section_of(elf, sym, &head) || sym->st_value < head.sh_addr ||
	    sym->st_value - head.sh_addr >= head.sh_size)
		return sym->st_size;
	return head.sh_size - (sym->st_value - head.sh_addr);
}

/* Assembly without ".type": a label that other files see. Without a size it may be all there is
 * of a file that was stripped, and reach over what else was in it.
 */
static bool is_label(Elf *elf, const GElf_Sym *sym, bool all)
{
	GElf_Shdr head;

	return GELF_ST_TYPE(sym->st_info) == STT_NOTYPE &&
	       GELF_ST_BIND(sym->st_info) != STB_LOCAL && sym->st_shndx != SHN_UNDEF &&
	       (all || sym->st_size) && section_of(elf, sym, &head) &&
	       head.sh_flags & SHF_EXECINSTR;
}

/* @elf: the file, or NULL; @all: its table has all symbols */
static bool symbol_add(struct symbols *symbols, Elf *elf, const GElf_Sym *sym,
		       const char *name, bool all)
{
	int type = GELF_ST_TYPE(sym->st_info);
	int rank = GELF_ST_BIND(sym->st_info) == STB_LOCAL ? 0 : 2;
	bool label = is_label(elf, sym, all);

	if (label)
		rank = -2;
	if ((type != STT_FUNC && type != STT_GNU_IFUNC && !label) || !sym->st_value ||
	    !name || !*name)
		return true;
	return symbols_add(symbols, sym->st_value, symbol_size(elf, sym),
			   rank + (name[0] != '_'), name, "", "");
}

bool elf_symbols_add(struct elf_symbols *elf, const GElf_Sym *sym,
		     const char *name)
{
	return symbol_add(elf->symbols, NULL, sym, name, false);
}

bool elf_symbols_stripped(const struct elf_symbols *elf)
{
	return !elf->has_symtab;
}

static void symtab_read(struct symbols *symbols, Elf *elf, Elf_Scn *section,
			const GElf_Shdr *head)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t i, count = head->sh_entsize ? head->sh_size / head->sh_entsize :
					     0;
	GElf_Sym sym;

	for (i = 0; data && i < count; i++) {
		if (gelf_getsym(data, i, &sym) &&
		    !symbol_add(symbols, elf, &sym,
				elf_strptr(elf, head->sh_link, sym.st_name),
				head->sh_type == SHT_SYMTAB))
			return;
	}
}

static Elf_Scn *section_named(Elf *elf, const char *want, GElf_Shdr *head)
{
	Elf_Scn *section = NULL;
	size_t strings;

	if (elf_getshdrstrndx(elf, &strings))
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		const char *name;

		if (!gelf_getshdr(section, head))
			continue;
		name = elf_strptr(elf, strings, head->sh_name);
		if (name && !strcmp(name, want))
			return section;
	}
	return NULL;
}

/* A sparse file of others has room for tables that no memory has. */
static bool table_take(Elf *elf, const GElf_Shdr *head, u64 *room)
{
	Elf_Scn *strings = elf_getscn(elf, head->sh_link);
	GElf_Shdr names;

	if (!strings || !gelf_getshdr(strings, &names) ||
	    head->sh_size > *room || names.sh_size > *room - head->sh_size)
		return false;
	*room -= head->sh_size + names.sh_size;
	return true;
}

/**
 * struct relocs - relocations and the names of their symbols
 * @elf: the file
 * @head: their section
 * @data, @syms: what it and its symbols have
 * @strings: the section of names
 * @count: how many
 */
struct relocs {
	Elf *elf;
	GElf_Shdr head;
	Elf_Data *data, *syms;
	size_t strings, count;
};

static bool relocs_open(struct relocs *relocs, Elf *elf, const char *name, u64 *room)
{
	Elf_Scn *section = section_named(elf, name, &relocs->head);
	Elf_Scn *names = section ? elf_getscn(elf, relocs->head.sh_link) : NULL;
	GElf_Shdr table;

	if (!names || !gelf_getshdr(names, &table) || !relocs->head.sh_entsize ||
	    !table_take(elf, &relocs->head, room))
		return false;
	relocs->elf = elf;
	relocs->data = elf_getdata(section, NULL);
	relocs->syms = elf_getdata(names, NULL);
	relocs->strings = table.sh_link;
	relocs->count = relocs->head.sh_size / relocs->head.sh_entsize;
	return relocs->data && relocs->syms;
}

/* One relocation, REL or RELA, as the latter. */
static bool reloc_get(const struct relocs *relocs, size_t i, GElf_Rela *rela)
{
	GElf_Rel rel;

	if (relocs->head.sh_type == SHT_RELA)
		return gelf_getrela(relocs->data, i, rela);
	if (!gelf_getrel(relocs->data, i, &rel))
		return false;
	*rela = (GElf_Rela){ .r_offset = rel.r_offset, .r_info = rel.r_info };
	return true;
}

/* Adds the stub of a relocation, if that has a symbol with a name. False: there is no room. */
static bool stub_add(struct symbols *symbols, const struct relocs *relocs,
		     const GElf_Rela *rela, u64 stub, u64 size)
{
	size_t number = GELF_R_SYM(rela->r_info);
	const char *name = NULL;
	GElf_Sym sym;

	if (number && gelf_getsym(relocs->syms, number, &sym))
		name = elf_strptr(relocs->elf, relocs->strings, sym.st_name);
	return !name || !*name || symbols_add(symbols, stub, size, 0, name, "@plt", "");
}

/* The address of the pointer that a stub jumps through; 0: it is no such stub. */
static u64 stub_slot(const u8 *bytes, size_t size, u64 address)
{
	static const u8 endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	size_t at = size >= sizeof(endbr) && !memcmp(bytes, endbr, sizeof(endbr)) ?
		    sizeof(endbr) : 0;
	s32 distance;

	if (at < size && bytes[at] == 0xf2)
		at++;
	if (size < at + 6 || bytes[at] != 0xff || bytes[at + 1] != 0x25)
		return 0;
	memcpy(&distance, bytes + at + 2, sizeof(distance));
	return address + at + 6 + (s64)distance;
}

/* By address of the pointer: that of its stub. */
static bool stubs_find(struct lookup *stubs, Elf_Scn *section, const GElf_Shdr *plt,
		       size_t size)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t at;
	u64 slot;

	for (at = 0; data && data->d_buf && at + size <= data->d_size; at += size) {
		slot = stub_slot((const u8 *)data->d_buf + at, size, plt->sh_addr + at);
		if (slot && !lookup_add(stubs, slot, plt->sh_addr + at))
			return false;
	}
	return stubs->count;
}

/*
 * A function that is called, and whose address is taken, has its stub in .plt.got, and its
 * pointer a relocation in .rela.dyn, in no order.
 */
static void plt_got_read(struct symbols *symbols, Elf *elf, u64 *room)
{
	GElf_Shdr plt;
	Elf_Scn *section = section_named(elf, ".plt.got", &plt);
	struct lookup stubs = { 0 };
	struct relocs relocs;
	size_t i, size, *stub;
	GElf_Rela rela;

	if (!section || plt.sh_size > *room || !relocs_open(&relocs, elf, ".rela.dyn", room))
		return;
	size = plt.sh_entsize == 16 ? 16 : 8;
	if (stubs_find(&stubs, section, &plt, size)) {
		for (i = 0; i < relocs.count && reloc_get(&relocs, i, &rela); i++) {
			stub = lookup_get(&stubs, rela.r_offset);
			if (stub && !stub_add(symbols, &relocs, &rela, *stub, size))
				break;
		}
	}
	lookup_free(&stubs);
}

/*
 * Stubs have no symbols. The linker makes one of 16 bytes for each entry of
 * .rela.plt, in its order: in .plt.sec if there is one, else in .plt after
 * a first stub that calls the dynamic linker.
 */
static void plt_read(struct symbols *symbols, Elf *elf, u64 *room)
{
	struct relocs relocs;
	GElf_Rela rela;
	GElf_Shdr plt;
	size_t i;
	u64 stub;

	if (section_named(elf, ".plt.sec", &plt))
		stub = plt.sh_addr;
	else if (section_named(elf, ".plt", &plt))
		stub = plt.sh_addr + 16;
	else
		return;
	if (!relocs_open(&relocs, elf, ".rela.plt", room) &&
	    !relocs_open(&relocs, elf, ".rel.plt", room))
		return;
	for (i = 0; i < relocs.count && stub + 16 <= plt.sh_addr + plt.sh_size; i++, stub += 16) {
		if (reloc_get(&relocs, i, &rela) &&
		    !stub_add(symbols, &relocs, &rela, stub, 16))
			break;
	}
}

static bool tables_read(struct elf_symbols *symbols, Elf *elf)
{
	Elf_Scn *section = NULL;
	u64 room = TABLES_MAX;
	GElf_Shdr head;

	if (elf_kind(elf) != ELF_K_ELF)
		return false;
	elf_file_read(&symbols->file, elf);
	while ((section = elf_nextscn(elf, section))) {
		if (gelf_getshdr(section, &head) &&
		    (head.sh_type == SHT_SYMTAB ||
		     head.sh_type == SHT_DYNSYM) &&
		    table_take(elf, &head, &room)) {
			symbols->has_symtab |= head.sh_type == SHT_SYMTAB;
			symtab_read(symbols->symbols, elf, section, &head);
		}
	}
	plt_read(symbols->symbols, elf, &room);
	plt_got_read(symbols->symbols, elf, &room);
	return true;
}

static struct elf_symbols *elf_take(Elf *elf)
{
	struct elf_symbols *symbols = calloc(1, sizeof(*symbols));
	bool ok = false;

	if (symbols)
		symbols->symbols = symbols_create();
	if (symbols && symbols->symbols && elf)
		ok = tables_read(symbols, elf);
	if (elf)
		elf_end(elf);
	if (ok)
		return symbols;
	elf_symbols_destroy(symbols);
	return NULL;
}

struct elf_symbols *elf_symbols_load(const char *path)
{
	struct elf_symbols *symbols;
	int fd = file_open_regular(path);

	if (fd < 0)
		return NULL;
	elf_version(EV_CURRENT);
	symbols = elf_take(elf_begin(fd, ELF_C_READ, NULL));
	close(fd);
	return symbols;
}

struct elf_symbols *elf_symbols_memory(void *image, size_t size)
{
	elf_version(EV_CURRENT);
	return elf_take(elf_memory(image, size));
}

struct elf_symbols *elf_symbols_made(const struct elf_file *file,
				     struct symbols *symbols)
{
	struct elf_symbols *elf = calloc(1, sizeof(*elf));

	if (!elf || file->segment_count > ELF_SEGMENTS_MAX) {
		symbols_destroy(symbols);
		free(elf);
		return NULL;
	}
	*elf = (struct elf_symbols){ .symbols = symbols, .file = *file };
	return elf;
}

const struct symbols *elf_symbols_parts(const struct elf_symbols *elf,
					struct elf_file *file)
{
	*file = elf->file;
	return elf->symbols;
}

void elf_symbols_destroy(struct elf_symbols *elf)
{
	if (!elf)
		return;
	symbols_destroy(elf->symbols);
	free(elf);
}

/* Of the segment's bytes alone, as offsets in the file; @offset: in it and none before it. */
static void place_clip(const struct elf_file *file, const struct elf_segment *segment,
		       u64 offset, struct symbol_place *place)
{
	u64 last = segment->address + segment->size;
	const struct elf_segment *before;

	if (place->first < segment->address)
		place->first = segment->address;
	if (place->end > last)
		place->end = last;
	place->first += segment->offset - segment->address;
	place->end += segment->offset - segment->address;
	for (before = file->segments; before < segment; before++) {
		if (before->offset > offset && before->offset < place->end)
			place->end = before->offset;
		if (before->offset <= offset && before->offset + before->size > place->first)
			place->first = before->offset + before->size;
	}
}

bool elf_symbols_find(struct elf_symbols *elf, u64 offset,
		      struct symbol_place *place)
{
	unsigned int i;
	bool found;

	for (i = 0; i < elf->file.segment_count; i++) {
		const struct elf_segment *segment = &elf->file.segments[i];

		if (offset - segment->offset >= segment->size)
			continue;
		found = symbols_find(elf->symbols, offset - segment->offset +
				     segment->address, place);
		place_clip(&elf->file, segment, offset, place);
		if (found)
			place->start += segment->offset - segment->address;
		return found;
	}
	place->first = 0;
	place->end = 0;
	return false;
}

struct function_walk {
	void (*found)(void *ctx, const struct elf_function *function);
	void *ctx;
};

static void functions_of(Elf *elf, Elf_Scn *section, const GElf_Shdr *head,
			 const struct function_walk *walk)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t i, count = head->sh_entsize ? head->sh_size / head->sh_entsize :
					     0;
	GElf_Sym sym;

	for (i = 0; data && i < count; i++) {
		struct elf_function function;
		int type;

		if (!gelf_getsym(data, i, &sym))
			continue;
		type = GELF_ST_TYPE(sym.st_info);
		function.name = elf_strptr(elf, head->sh_link, sym.st_name);
		function.address = sym.st_value;
		function.size = sym.st_size;
		function.chosen = type == STT_GNU_IFUNC;
		if ((type == STT_FUNC || function.chosen) && sym.st_value &&
		    sym.st_shndx != SHN_UNDEF && function.name)
			walk->found(walk->ctx, &function);
	}
}

bool elf_functions_each(const char *path, struct elf_file *file,
			void (*found)(void *ctx,
				      const struct elf_function *function),
			void *ctx)
{
	const struct function_walk walk = { .found = found, .ctx = ctx };
	int fd = file_open_regular(path);
	Elf_Scn *section = NULL;
	GElf_Shdr head;
	bool ok;
	Elf *elf;

	if (fd < 0) {
		errno = errno == EINVAL ? 0 : errno;
		return false;
	}
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	ok = elf && elf_kind(elf) == ELF_K_ELF;
	if (ok)
		elf_file_read(file, elf);
	while (ok && (section = elf_nextscn(elf, section))) {
		if (gelf_getshdr(section, &head) &&
		    (head.sh_type == SHT_SYMTAB ||
		     head.sh_type == SHT_DYNSYM))
			functions_of(elf, section, &head, &walk);
	}
	elf_end(elf);
	close(fd);
	if (!ok)
		errno = 0;
	return ok;
}
