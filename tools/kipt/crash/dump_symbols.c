// SPDX-License-Identifier: GPL-2.0-only
/*
 * Symbols out of a dump, see dump_symbols.h: first the kernel's own, then those of
 * modules. kallsyms is as it is in memory: names whose characters are tokens, addresses
 * as offsets of 32 bits. Up to 6.14 these are from kallsyms_relative_base, where
 * negative ones count from it downwards, if the kernel has those; later ones are
 * from where the offset itself is. Builds of modules come last: struct module has address
 * and size of the parts of a module, after those of its text and as far from each other as
 * these. Before 6.4 there is one part, and the size of its text comes right after that of
 * the whole.
 */
#include <elf.h>
#include <errno.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../cli/messages.h"
#include "../symbols/kernel_symbols.h"
#include "dump_symbols.h"
#include "kernel_debug.h"
#include "vmcoreinfo.h"

#define TOKENS		256
#define TOKEN_BYTES	(16 << 10)
#define NAME_MAX_BYTES	512

/* Far more than a kernel has, which may be anything in a damaged dump: so many
 * symbols, and characters of all names.
 */
#define SYMBOLS_MAX	(1U << 20)
#define NAMES_MAX	(32U << 20)

struct kallsyms {
	struct crash_memory *memory;
	u64 names, offsets, base;
	u32 count;
	/* Characters that names may still have. */
	u32 left;
	bool from_base;
	/* With a base: negative offsets are addresses, others numbers. */
	bool negative;
	char tokens[TOKEN_BYTES + 1];
	u16 token_at[TOKENS];
	struct symbols *symbols;
};

static bool tokens_get(struct kallsyms *k, const char *info)
{
	u64 table, index;
	u32 i, size;

	if (!vmcoreinfo_symbol(info, "kallsyms_token_table", &table) ||
	    !vmcoreinfo_symbol(info, "kallsyms_token_index", &index) ||
	    !crash_memory_get(k->memory, index, k->token_at, sizeof(k->token_at)))
		return false;
	size = k->token_at[TOKENS - 1] + NAME_MAX_BYTES;
	if (size > TOKEN_BYTES)
		size = TOKEN_BYTES;
	size = crash_memory_read(k->memory, 0, table, k->tokens, size);
	k->tokens[size] = 0;
	for (i = 0; i < TOKENS; i++) {
		if (k->token_at[i] >= size)
			return false;
	}
	return true;
}

static bool tables_get(struct kallsyms *k, const char *info)
{
	u64 count, base;

	if (!vmcoreinfo_symbol(info, "kallsyms_names", &k->names) ||
	    !vmcoreinfo_symbol(info, "kallsyms_num_syms", &count) ||
	    !vmcoreinfo_symbol(info, "kallsyms_offsets", &k->offsets) ||
	    !crash_memory_get(k->memory, count, &k->count, sizeof(k->count)) ||
	    k->count > SYMBOLS_MAX)
		return false;
	k->from_base = vmcoreinfo_symbol(info, "kallsyms_relative_base",
					 &base);
	if (k->from_base &&
	    !crash_memory_get(k->memory, base, &k->base, sizeof(k->base)))
		return false;
	return tokens_get(k, info);
}

static u64 address_of(const struct kallsyms *k, u32 i, s32 offset)
{
	if (!k->from_base)
		return k->offsets + 4ULL * i + (s64)offset;
	if (!k->negative)
		return k->base + (u32)offset;
	return offset < 0 ? k->base - 1 - (s64)offset : (u64)offset;
}

/* No kernel has 2 GiB: a negative offset from the base shows the form. The
 * begin of the text is known, and has to be among the addresses.
 */
static bool form_find(struct kallsyms *k, u64 text)
{
	bool found = false;
	s32 offset;
	u32 i;

	for (i = 0; i < k->count; i++) {
		if (!crash_memory_get(k->memory, k->offsets + 4ULL * i, &offset,
			       sizeof(offset)))
			return false;
		if (k->from_base && offset < 0)
			k->negative = true;
		found |= address_of(k, i, offset) == text;
	}
	return found;
}

/* A token may mean many characters; false at the end of the room. */
static bool name_expand(const struct kallsyms *k, const u8 *tokens, u32 count,
			char *name)
{
	u32 i, used = 0;

	for (i = 0; i < count; i++) {
		const char *token = k->tokens + k->token_at[tokens[i]];
		size_t size = strlen(token);

		if (used + size >= NAME_MAX_BYTES)
			return false;
		memcpy(name + used, token, size);
		used += size;
	}
	name[used] = 0;
	return used > 1;
}

/* Names of 128 tokens or more have a length of two bytes. */
static bool length_get(const struct kallsyms *k, u64 *at, u32 *length)
{
	u8 byte;

	if (!crash_memory_get(k->memory, (*at)++, &byte, 1))
		return false;
	*length = byte;
	if (!(byte & 0x80))
		return true;
	if (!crash_memory_get(k->memory, (*at)++, &byte, 1))
		return false;
	*length = (*length & 0x7f) | (u32)byte << 7;
	return true;
}

/* False where the tables cannot be read any further, or names do not end. */
static bool kernel_symbol_take(struct kallsyms *k, u32 i, u64 *at)
{
	u8 tokens[NAME_MAX_BYTES];
	char name[NAME_MAX_BYTES];
	u32 length;
	s32 offset;

	if (!length_get(k, at, &length) || length > sizeof(tokens) ||
	    !crash_memory_get(k->memory, *at, tokens, length) ||
	    !crash_memory_get(k->memory, k->offsets + 4ULL * i, &offset,
			      sizeof(offset)))
		return false;
	*at += length;
	if (!name_expand(k, tokens, length, name))
		return true;
	if (strlen(name) > k->left)
		return false;
	k->left -= strlen(name);
	return kernel_symbols_add(k->symbols, address_of(k, i, offset),
				  name[0], name + 1, "");
}

static bool kernel_take(struct kallsyms *k)
{
	u64 at = k->names;
	u32 i;

	for (i = 0; i < k->count; i++) {
		if (!kernel_symbol_take(k, i, &at)) {
			say_note("only %u of %u kernel symbols are in the dump",
				 i, k->count);
			return false;
		}
	}
	return true;
}

/**
 * kallsyms_add() - the symbols of the kernel proper
 * @symbols: where to
 * @memory: as for crash_symbols_load()
 * @info: VMCOREINFO
 *
 * Return: true, or false after a sentence if some are missing.
 */
static bool kallsyms_add(struct symbols *symbols, struct crash_memory *memory,
			const char *info)
{
	struct kallsyms k = { .memory = memory, .left = NAMES_MAX, .symbols = symbols };
	u64 text;

	if (!vmcoreinfo_symbol(info, "_stext", &text) || !tables_get(&k, info))
		say_note("the kernel's symbols are not in the dump: --kallsyms takes a copy of /proc/kallsyms");
	else if (!form_find(&k, text))
		say_note("the kernel's symbols are in a form that this kipt does not know: --kallsyms takes a copy of /proc/kallsyms");
	else
		return kernel_take(&k);
	return false;
}

#define MODULES_MAX	4096U
/* Of all modules together; a list in a damaged dump may go round. */
#define MODULE_SYMBOLS	(1U << 18)
#define MODULE_NAME	56

struct module {
	u64 address;
	char name[MODULE_NAME + 1];
	u64 text;
	u32 text_size;
	u64 symtab, strtab;
	u32 count;
};

/* The head of the list is no module: what would be its name is none. */
static bool name_fits(const char *name)
{
	size_t i;

	for (i = 0; name[i]; i++) {
		if (!((name[i] >= 'a' && name[i] <= 'z') ||
		      (name[i] >= 'A' && name[i] <= 'Z') ||
		      (name[i] >= '0' && name[i] <= '9') ||
		      strchr("_-.", name[i])))
			return false;
	}
	return i > 0;
}

static bool module_get(struct crash_memory *memory,
		       const struct kipt_crash_layout *layout,
		       struct module *module)
{
	u64 at = module->address, kallsyms;

	if (!crash_memory_get(memory, at + layout->module_name, module->name,
			      MODULE_NAME))
		return false;
	module->name[MODULE_NAME] = 0;
	return name_fits(module->name) &&
	       crash_memory_get(memory, at + layout->module_text,
				&module->text, 8) &&
	       crash_memory_get(memory, at + layout->module_text_size,
				&module->text_size, 4) &&
	       crash_memory_get(memory, at + layout->module_kallsyms,
				&kallsyms, 8) &&
	       crash_memory_get(memory, kallsyms + layout->kallsyms_symtab,
				&module->symtab, 8) &&
	       crash_memory_get(memory, kallsyms + layout->kallsyms_count,
				&module->count, 4) &&
	       crash_memory_get(memory, kallsyms + layout->kallsyms_strtab,
				&module->strtab, 8);
}

static bool symbol_take(struct symbols *symbols, struct crash_memory *memory,
			const struct module *module, const Elf64_Sym *symbol)
{
	char name[256], type;
	u32 size;

	if (symbol->st_value - module->text >= module->text_size ||
	    ELF64_ST_TYPE(symbol->st_info) > STT_FUNC)
		return true;
	size = crash_memory_read(memory, 0, module->strtab + symbol->st_name,
				 name, sizeof(name) - 1);
	name[size] = 0;
	type = ELF64_ST_BIND(symbol->st_info) == STB_GLOBAL ? 'T' :
	       ELF64_ST_BIND(symbol->st_info) == STB_WEAK ? 'W' : 't';
	return !name[0] || kernel_symbols_add(symbols, symbol->st_value, type,
					      name, module->name);
}

/* Uses up some of @left. False without memory. */
static bool module_take(struct symbols *symbols, struct crash_memory *memory,
			const struct module *module, u32 *left)
{
	Elf64_Sym symbol;
	u32 i;

	for (i = 0; i < module->count && *left; i++, --*left) {
		if (!crash_memory_get(memory,
				      module->symtab + i * sizeof(symbol),
				      &symbol, sizeof(symbol))) {
			say_note("only %u of %u symbols of module %s are in the dump",
				 i, module->count, module->name);
			return true;
		}
		if (!symbol_take(symbols, memory, module, &symbol))
			return false;
	}
	return true;
}

/* False at the end of the list; @broken if it is not in the dump any further. */
static bool module_next(struct crash_memory *memory, const struct kipt_crash_layout *layout,
			struct module *module, bool *broken)
{
	u64 next;

	*broken = !crash_memory_get(memory, module->address + layout->module_list, &next,
				    sizeof(next));
	if (*broken)
		return false;
	module->address = next - layout->module_list;
	return module->address != layout->module;
}

/* False without memory. */
static bool modules_take(struct symbols *symbols, struct crash_memory *memory,
			 const struct kipt_crash_layout *layout)
{
	struct module module = { .address = layout->module };
	u32 i = 0, left = MODULE_SYMBOLS;
	bool broken = false;

	do {
		if (module_get(memory, layout, &module) &&
		    !module_take(symbols, memory, &module, &left))
			return false;
	} while (++i < MODULES_MAX && left && module_next(memory, layout, &module, &broken));
	if (broken)
		say_note("the list of modules breaks off in the dump: names of some are missing");
	return true;
}

/**
 * module_find() - where the kernel has what it knows of a module
 * @memory: as for crash_symbols_load()
 * @layout: says where the modules are
 * @name: of the module
 * @address: of its struct module, filled on success
 *
 * Return: true if it is in the list of modules.
 */
static bool module_find(struct crash_memory *memory, const struct kipt_crash_layout *layout,
		       const char *name, u64 *address)
{
	struct module module = { .address = layout->module };
	bool broken;
	u32 i = 0;

	do {
		if (module_get(memory, layout, &module) && !strcmp(module.name, name)) {
			*address = module.address;
			return true;
		}
	} while (++i < MODULES_MAX && module_next(memory, layout, &module, &broken));
	return false;
}

struct symbols *crash_symbols_load(struct crash_memory *memory,
				   const char *info,
				   const struct kipt_crash_layout *layout,
				   struct kernel_debug *debug)
{
	struct symbols *symbols = symbols_create();

	if (!symbols) {
		say_errno(ENOMEM, "cannot hold the kernel's symbols");
		return NULL;
	}
	if (!memory || !kallsyms_add(symbols, memory, info))
		kernel_debug_symbols(debug, symbols);
	if (memory && layout && layout->module &&
	    !modules_take(symbols, memory, layout))
		say_errno(ENOMEM, "cannot hold all symbols of modules");
	if (symbols_count(symbols))
		return symbols;
	symbols_destroy(symbols);
	return NULL;
}

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
struct id_search {
	struct crash_memory *memory;
	struct build_id *id;
	bool found, damaged;
	u32 left;
};

static void note_take(struct id_search *search, const u8 *bytes, u32 size)
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
static void part_search(struct id_search *search, u64 begin, u32 size)
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
	struct id_search search = { .memory = memory, .id = id, .left = READ_MAX };
	u32 i, apart = layout->module_text_size - layout->module_text, size[2];
	u64 module, begin;

	if (!layout->module || apart < 8 || apart > 64 ||
	    !module_find(memory, layout, name, &module))
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
