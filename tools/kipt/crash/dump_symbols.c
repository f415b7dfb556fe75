// SPDX-License-Identifier: GPL-2.0-only
/*
 * Symbols out of a dump, see dump_symbols.h: those of modules, and both
 * together. The kernel's own are dump_kallsyms.c's.
 */
#include <elf.h>
#include <errno.h>
#include <string.h>

#include "../cli/messages.h"
#include "../symbols/kernel_symbols.h"
#include "dump_symbols.h"

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

bool crash_module_find(struct crash_memory *memory, const struct kipt_crash_layout *layout,
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
	if (!memory || !crash_kallsyms_add(symbols, memory, info))
		kernel_debug_symbols(debug, symbols);
	if (memory && layout && layout->module &&
	    !modules_take(symbols, memory, layout))
		say_errno(ENOMEM, "cannot hold all symbols of modules");
	if (symbols_count(symbols))
		return symbols;
	symbols_destroy(symbols);
	return NULL;
}
