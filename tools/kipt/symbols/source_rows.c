// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lines of all code of a file, see source_rows.h.
 */
#include <dwarf.h>
#include <stdlib.h>

#include "source_rows.h"

static void functions_give(Dwfl_Module *module, GElf_Addr bias,
			   const struct source_taker *taker)
{
	int i, type, count = dwfl_module_getsymtab(module);
	GElf_Addr address;
	const char *name;
	GElf_Sym sym;

	for (i = 1; i < count; i++) {
		name = dwfl_module_getsym_info(module, i, &sym, &address, NULL, NULL, NULL);
		type = GELF_ST_TYPE(sym.st_info);
		if (name && *name && type == STT_FUNC && sym.st_shndx != SHN_UNDEF)
			taker->function(taker->ctx, name, address - bias);
	}
}

/* False: the line has no code. @next: the one after it. */
static bool row_make(Dwarf_Line *line, Dwarf_Line *next, struct source_row *row)
{
	Dwarf_Addr begin, end;
	bool ends = true;
	int number = 0;

	if (dwarf_lineendsequence(line, &ends) || ends ||
	    dwarf_lineaddr(line, &begin) || dwarf_lineaddr(next, &end) ||
	    dwarf_lineno(line, &number) || number < 0 || end < begin)
		return false;
	*row = (struct source_row){
		.begin = begin,
		.end = end,
		.file = dwarf_linesrc(line, NULL, NULL),
		.line = number,
	};
	return row->file;
}

static void unit_give(Dwarf_Die *unit, const struct source_taker *taker)
{
	struct source_row *rows, *row, *first = NULL;
	Dwarf_Attribute attribute;
	const char *folder = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
	Dwarf_Lines *lines;
	size_t i, count;

	if (dwarf_getsrclines(unit, &lines, &count) || !count)
		return;
	rows = malloc(count * sizeof(*rows));
	for (row = rows, i = 0; rows && i + 1 < count; i++) {
		if (!row_make(dwarf_onesrcline(lines, i), dwarf_onesrcline(lines, i + 1), row))
			continue;
		row->folder = folder ? folder : "";
		/* Of several of one address, the last has the code. */
		if (!first || first->begin != row->begin) {
			row->first_file = row->file;
			row->first_line = row->line;
		} else {
			row->first_file = first->first_file;
			row->first_line = first->first_line;
		}
		first = row;
		if (row->end == row->begin) {
			rows[count - 1] = *row;
			first = &rows[count - 1];
		} else {
			row++;
		}
	}
	if (row > rows)
		taker->unit(taker->ctx, rows, row - rows);
	free(rows);
}

bool source_rows(const char *path, const struct debug_places *places,
		 const struct source_taker *taker)
{
	struct debug_file *file = debug_file_open(path, places);
	Dwarf_Addr bias, elf_bias;
	Dwarf_Die *unit = NULL;
	bool known;

	if (!file)
		return false;
	known = dwfl_module_getdwarf(file->module, &bias) &&
		dwfl_module_getelf(file->module, &elf_bias);
	if (known)
		functions_give(file->module, elf_bias, taker);
	while (known && (unit = dwfl_module_nextcu(file->module, unit, &bias)))
		unit_give(unit, taker);
	debug_file_close(file);
	return known;
}
