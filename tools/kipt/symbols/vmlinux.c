// SPDX-License-Identifier: GPL-2.0-only
/*
 * Symbols of a vmlinux, see vmlinux.h. Code in assembler has symbols without a
 * type: what is in a section of code counts, as in kallsyms.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <gelf.h>

#include "../cli/file_map.h"
#include "../cli/messages.h"
#include "kernel_symbols.h"
#include "vmlinux.h"

struct symbol {
	const char *name;
	const GElf_Sym *sym;
	bool code;
};

struct walk {
	/* False ends it. */
	bool (*take)(struct walk *walk, const struct symbol *symbol);
	const char *wanted;
	u64 address;
	bool found;
	/* Where the kernel's half begins in the file; ~0: nowhere. */
	u64 lowest;
	struct symbols *symbols;
	u64 bias;
	bool failed;
};

static bool is_code(Elf *elf, const GElf_Sym *sym)
{
	Elf_Scn *section = sym->st_shndx < SHN_LORESERVE ?
			   elf_getscn(elf, sym->st_shndx) : NULL;
	GElf_Shdr head;

	return section && gelf_getshdr(section, &head) &&
	       head.sh_flags & SHF_EXECINSTR;
}

static bool table_walk(Elf *elf, Elf_Scn *section, const GElf_Shdr *head,
		       struct walk *walk)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t i, count = head->sh_entsize ? head->sh_size / head->sh_entsize :
					     0;
	struct symbol symbol;
	GElf_Sym sym;

	for (i = 0; data && i < count; i++) {
		if (!gelf_getsym(data, i, &sym) || sym.st_shndx == SHN_UNDEF)
			continue;
		symbol.name = elf_strptr(elf, head->sh_link, sym.st_name);
		symbol.sym = &sym;
		symbol.code = is_code(elf, &sym);
		if (symbol.name && *symbol.name && !walk->take(walk, &symbol))
			return false;
	}
	return true;
}

static u64 lowest_of(Elf *elf)
{
	u64 lowest = ~0ULL;
	size_t i, count = 0;
	GElf_Phdr head;

	elf_getphdrnum(elf, &count);
	for (i = 0; i < count; i++) {
		if (gelf_getphdr(elf, i, &head) && head.p_type == PT_LOAD &&
		    head.p_vaddr >> 63 && head.p_vaddr < lowest)
			lowest = head.p_vaddr;
	}
	return lowest;
}

/* Returns false if it is no ELF file. */
static bool file_walk(int fd, struct walk *walk)
{
	Elf_Scn *section = NULL;
	GElf_Shdr head;
	bool more = true, is;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	is = elf && elf_kind(elf) == ELF_K_ELF;
	walk->lowest = is ? lowest_of(elf) : ~0ULL;
	while (is && more && (section = elf_nextscn(elf, section))) {
		if (gelf_getshdr(section, &head) &&
		    head.sh_type == SHT_SYMTAB)
			more = table_walk(elf, section, &head, walk);
	}
	elf_end(elf);
	return is;
}

static bool name_take(struct walk *walk, const struct symbol *symbol)
{
	if (strcmp(symbol->name, walk->wanted))
		return true;
	walk->address = symbol->sym->st_value;
	walk->found = true;
	return false;
}

bool vmlinux_address(const char *path, const char *name, u64 *address)
{
	struct walk walk = { .take = name_take, .wanted = name };
	int fd = file_open_tell(path);
	bool is = fd >= 0 && file_walk(fd, &walk);

	if (fd < 0)
		return false;
	close(fd);
	/* All of x86's kernel begins with it, so a stripped one will do. */
	if (!walk.found && !strcmp(name, "_text") && ~walk.lowest) {
		walk.address = walk.lowest;
		walk.found = true;
	}
	if (!is)
		say_error("%s is no ELF file: vmlinux is meant, not the compressed kernel that is booted",
			  path);
	else if (!walk.found)
		say_error("%s has no symbol %s, so nothing shows how far its kernel was moved: a vmlinux that is not stripped is needed",
			  path, name);
	*address = walk.address;
	return walk.found;
}

static bool code_take(struct walk *walk, const struct symbol *symbol)
{
	int type = GELF_ST_TYPE(symbol->sym->st_info);
	int bind = GELF_ST_BIND(symbol->sym->st_info);

	if (!symbol->code || !(symbol->sym->st_value >> 63) ||
	    (type != STT_FUNC && type != STT_NOTYPE))
		return true;
	walk->failed = !kernel_symbols_add(walk->symbols,
					   symbol->sym->st_value + walk->bias,
					   bind == STB_LOCAL ? 't' :
					   bind == STB_WEAK ? 'W' : 'T',
					   symbol->name, "");
	return !walk->failed;
}

bool vmlinux_symbols(struct symbols *symbols, const char *path, u64 bias)
{
	struct walk walk = { .take = code_take, .symbols = symbols,
			     .bias = bias };
	int fd = file_open_regular(path);
	bool is = fd >= 0 && file_walk(fd, &walk);

	if (fd >= 0)
		close(fd);
	return is && !walk.failed;
}
