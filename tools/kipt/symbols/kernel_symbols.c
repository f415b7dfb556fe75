// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kernel symbols, see kernel_symbols.h. Text symbols only; of several at an
 * address a global one with a plain name counts, and last the names that
 * early boot code has for it (__pi_).
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../cli/file_map.h"
#include "../cli/messages.h"
#include "kernel_symbols.h"

#define KALLSYMS	"/proc/kallsyms"
#define NO_ADDRESSES	"no addresses of kernel code in %s: it is no copy of " KALLSYMS ", or none that root made"
#define NAME_MOST	511
#define OBJECT_MOST	127

/* Padding before functions and type hashes bear names of no function. */
static bool name_is_padding(const char *name)
{
	return !strncmp(name, "__pfx_", 6) || !strncmp(name, "__cfi_", 6);
}

static int name_rank(char type, const char *name)
{
	int rank = type == 'T' ? 4 : type == 'W' ? 2 : 0;

	if (!strncmp(name, "__pi_", 5))
		rank -= 8;
	return rank + (name[0] != '_') - (strchr(name, '.') != NULL);
}

static bool is_code(char type)
{
	return type && strchr("tTwW", type);
}

bool kernel_symbols_add(struct symbols *symbols, u64 address, char type,
			const char *name, const char *object)
{
	if (!address || !is_code(type) || name_is_padding(name))
		return true;
	return symbols_add(symbols, address, 0, name_rank(type, name), name,
			   "", object);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static char *blank_skip(char *at)
{
	while (is_blank(*at))
		at++;
	return at;
}

static char *word_end(char *at)
{
	while (*at && !is_blank(*at))
		at++;
	return at;
}

/* What is longer than a name can be is cut. */
static void word_cut(char *word, char *end, size_t most)
{
	if ((size_t)(end - word) > most)
		end = word + most;
	*end = 0;
}

bool kernel_symbol_parse(char *line, struct kernel_symbol *symbol)
{
	char *at = blank_skip(line), *end;

	if (!isxdigit((unsigned char)*at))
		return false;
	symbol->address = strtoull(at, &at, 16);
	if (!is_blank(*at))
		return false;
	at = blank_skip(at);
	symbol->type = *at;
	if (!*at)
		return false;
	at = blank_skip(at + 1);
	end = word_end(at);
	if (end == at)
		return false;
	symbol->name = at;
	symbol->object = "";
	at = blank_skip(end);
	word_cut(symbol->name, end, NAME_MOST);
	if (*at != '[')
		return true;
	symbol->object = ++at;
	word_cut(at, at + strcspn(at, "]"), OBJECT_MOST);
	return true;
}

/* "address type name\t[module]"; false without memory. */
static bool line_take(struct symbols *symbols, char *line, bool all)
{
	struct kernel_symbol s;

	if (!kernel_symbol_parse(line, &s) || !s.address)
		return true;
	if (!all)
		return kernel_symbols_add(symbols, s.address, s.type, s.name,
					  s.object);
	return symbols_add(symbols, s.address, 0,
			   is_code(s.type), s.name, "", s.object);
}

static bool file_take(struct symbols *symbols, FILE *file, bool all,
		      size_t *lines)
{
	char line[FILE_LINE_MOST];
	bool ok = true;

	for (*lines = 0; ok && file_line(line, file); ++*lines)
		ok = line_take(symbols, line, all);
	return ok;
}

/* NULL without memory, or after a sentence if the file cannot be opened. */
static struct symbols *symbols_read(const char *path, bool found, bool all, size_t *lines)
{
	struct symbols *symbols = symbols_create();
	FILE *file = file_stream(path ? path : KALLSYMS, path && found, "kernel symbols");
	bool ok = file && symbols && file_take(symbols, file, all, lines);

	if (ok && !feof(file))
		say_note("%s: line %zu cannot be read, or is longer than any of " KALLSYMS ": symbols after it are left out",
			 path ? path : KALLSYMS, *lines + 1);
	if (file)
		fclose(file);
	if (ok)
		return symbols;
	symbols_destroy(symbols);
	return NULL;
}

struct symbols *kernel_symbols_all(const char *path, size_t *lines)
{
	return symbols_read(path, false, true, lines);
}

struct symbols *kernel_symbols_load(const char *path, bool found)
{
	size_t lines;
	struct symbols *symbols = symbols_read(path, found, false, &lines);

	if (!symbols)
		return NULL;
	if (symbols_count(symbols))
		return symbols;
	if (path)
		say_note("no kernel symbols: " NO_ADDRESSES, path);
	else
		say_note("no kernel symbols: " KALLSYMS " hides the addresses (kernel.kptr_restrict) or has none");
	symbols_destroy(symbols);
	return NULL;
}

/* Up to the first one: there are many. */
static bool file_has_code(FILE *file)
{
	struct kernel_symbol symbol;
	char line[FILE_LINE_MOST];
	bool found = false;

	while (!found && file_line(line, file))
		found = kernel_symbol_parse(line, &symbol) && symbol.address &&
			is_code(symbol.type);
	return found;
}

bool kernel_symbols_check(const char *path)
{
	struct stat st;
	FILE *file;
	bool found;

	/* What is no file, as a pipe, can be read only once. */
	if (!path || !*path || (!stat(path, &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)))
		return true;
	file = fopen(path, "re");
	found = file && file_has_code(file);
	if (!file || ferror(file))
		say_errno(errno, "cannot read kernel symbols from %s", path);
	else if (!found)
		say_error(NO_ADDRESSES, path);
	if (file)
		fclose(file);
	return found;
}

u64 kernel_symbol_address(const char *path, bool found, const char *name)
{
	FILE *file = file_stream(path, found, NULL);
	struct kernel_symbol symbol;
	char line[FILE_LINE_MOST];
	u64 address = 0;

	while (file && !address && file_line(line, file)) {
		/* Most lines are of others. */
		if (strstr(line, name) && kernel_symbol_parse(line, &symbol) &&
		    !*symbol.object && !strcmp(symbol.name, name))
			address = symbol.address;
	}
	if (file)
		fclose(file);
	return address;
}
