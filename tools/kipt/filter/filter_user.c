// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions of programs and libraries, for filter.c. The ELF file says where
 * in itself a function is, the mappings of the process where the file
 * is in memory; a file that is not position independent needs no process.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../cli/messages.h"
#include "../symbols/elf_symbols.h"
#include "did_you_mean.h"
#include "filter.h"

#define PATH_TEXT	4096
#define CANDIDATES_MAX	8

struct candidate {
	u64 address;
	u64 size;
	u64 next;
	bool chosen;
};

struct search {
	const struct filter *filter;
	char path[PATH_TEXT];
	/* As the process has it; "" if it has not. */
	char mapped[PATH_TEXT];
	struct elf_file elf;
	struct candidate list[CANDIDATES_MAX];
	unsigned int count;
	u64 functions;
	struct near near;
};

static bool name_is(const struct filter *filter, const char *name)
{
	return strlen(name) == filter->name_len &&
	       !strncmp(name, filter->name, filter->name_len);
}

/* The same function may be in .symtab and in .dynsym. */
static void candidate_add(struct search *search,
			  const struct elf_function *function)
{
	struct candidate *candidate;
	unsigned int i;

	for (i = 0; i < search->count && i < CANDIDATES_MAX; i++) {
		if (search->list[i].address == function->address)
			return;
	}
	if (search->count++ >= CANDIDATES_MAX)
		return;
	candidate = &search->list[search->count - 1];
	candidate->address = function->address;
	candidate->size = function->size;
	candidate->next = 0;
	candidate->chosen = function->chosen;
}

static void name_look(void *ctx, const struct elf_function *function)
{
	struct search *search = ctx;

	search->functions++;
	if (name_is(search->filter, function->name))
		candidate_add(search, function);
}

/* Assembly may not say how large a function is: it reaches to the next. */
static void next_look(void *ctx, const struct elf_function *function)
{
	struct candidate *candidate = &((struct search *)ctx)->list[0];

	if (function->address > candidate->address &&
	    (!candidate->next || function->address < candidate->next))
		candidate->next = function->address;
}

static void near_look(void *ctx, const struct elf_function *function)
{
	near_add(&((struct search *)ctx)->near, function->name);
}

static const struct elf_segment *segment_of(const struct elf_file *elf,
					    u64 address)
{
	unsigned int i;

	for (i = 0; i < elf->segment_count; i++) {
		if (address - elf->segments[i].address <
		    elf->segments[i].size)
			return &elf->segments[i];
	}
	return NULL;
}

static u64 function_size(const struct search *search)
{
	const struct candidate *function = &search->list[0];
	const struct elf_segment *segment;
	u64 end;

	if (function->size)
		return function->size;
	segment = segment_of(&search->elf, function->address);
	end = segment ? segment->address + segment->size :
			function->address + 1;
	if (function->next && function->next < end)
		end = function->next;
	return end - function->address;
}

static bool has_slash(const struct filter *filter)
{
	return memchr(filter->file, '/', filter->file_len);
}

/* Is the mapping one of the file that is meant? */
static bool mapping_is(const struct filter *filter, const char *root,
		       const struct mapping *mapping)
{
	const char *slash = strrchr(mapping->path, '/');
	char path[PATH_TEXT], mapped[2 * PATH_TEXT];
	struct stat a, b;

	if (mapping->path[0] != '/')
		return false;
	snprintf(path, sizeof(path), "%.*s", (int)filter->file_len,
		 filter->file);
	if (!has_slash(filter))
		return !strcmp(slash + 1, path);
	snprintf(mapped, sizeof(mapped), "%s%s", root, mapping->path);
	if (!stat(path, &a) && !stat(mapped, &b))
		return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
	return !strcmp(mapping->path, path);
}

/* The file in the process, if it has it; false after a sentence. */
static bool mapped_find(struct search *search,
			const struct filter_where *where)
{
	const struct filter *filter = search->filter;
	size_t i;

	for (i = 0; where->process && i < where->process->count; i++) {
		const struct mapping *mapping = &where->process->list[i];

		if (!mapping_is(filter, where->root, mapping) ||
		    !strcmp(search->mapped, mapping->path))
			continue;
		if (search->mapped[0]) {
			filter_bad(filter, "the process has two files of that name, %s and %s: give the path",
				   search->mapped, mapping->path);
			return false;
		}
		snprintf(search->mapped, sizeof(search->mapped), "%s",
			 mapping->path);
	}
	return true;
}

/* From an offset in the file to where it is in the process. */
static bool place(const struct search *search,
		  const struct filter_where *where, u64 offset, u64 *address)
{
	size_t i;

	for (i = where->process->count; i > 0; i--) {
		const struct mapping *mapping = &where->process->list[i - 1];

		if (strcmp(mapping->path, search->mapped) ||
		    offset - mapping->offset >= mapping->end - mapping->start)
			continue;
		*address = mapping->start + (offset - mapping->offset);
		return true;
	}
	return false;
}

static bool file_open(struct search *search, const struct filter_where *where)
{
	const struct filter *filter = search->filter;

	/* What the process has counts, in its own view of the file system. */
	if (search->mapped[0])
		snprintf(search->path, sizeof(search->path), "%.2000s%.2000s",
			 where->root, search->mapped);
	else
		snprintf(search->path, sizeof(search->path), "%.*s",
			 (int)filter->file_len, filter->file);
	errno = 0;
	if (elf_functions_each(search->path, &search->elf, name_look, search))
		return true;
	if (errno)
		filter_bad(filter, "cannot read %s: %s (%s)", search->path,
			   strerror(errno), say_errno_name(errno));
	else
		filter_bad(filter, "%s is no ELF file", search->path);
	return false;
}

static void unknown_tell(struct search *search)
{
	const struct filter *filter = search->filter;
	char near[NEAR_MAX * (NEAR_NAME + 2) + 16], name[NEAR_NAME];

	if (!search->functions) {
		filter_bad(filter, "%s has no symbols (it was stripped): give ADDR-ADDR or the path of the file alone",
			   search->path);
		return;
	}
	snprintf(name, sizeof(name), "%.*s", (int)filter->name_len,
		 filter->name);
	near_init(&search->near, name, strlen(name));
	elf_functions_each(search->path, &search->elf, near_look, search);
	filter_bad(filter, "%s has no function '%.*s' among the %llu that it names%s",
		   search->path, (int)filter->name_len, filter->name,
		   (unsigned long long)search->functions,
		   near_text(&search->near, near, sizeof(near)));
}

static void ambiguous_tell(const struct search *search)
{
	unsigned int i, shown = search->count < CANDIDATES_MAX ?
				search->count : CANDIDATES_MAX;
	char text[512];
	size_t at = 0;

	for (i = 0; i < shown && at < sizeof(text); i++)
		at += snprintf(text + at, sizeof(text) - at, "%s0x%llx/0x%llx",
			       i ? ", " : "",
			       (unsigned long long)search->list[i].address,
			       (unsigned long long)search->list[i].size);
	filter_bad(search->filter, "%s has %u functions of that name, at %s%s%s; give the address of one in memory",
		   search->path, search->count, text,
		   search->count > shown ? ", and more" : "",
		   search->elf.fixed ? "" : " in the file");
}

static bool function_known(struct search *search)
{
	if (!search->count)
		unknown_tell(search);
	else if (search->count > 1)
		ambiguous_tell(search);
	else if (search->list[0].chosen)
		filter_bad(search->filter, "which code that is is chosen when the program starts (IFUNC), this name is of what chooses: name the function that is used, or give ADDR-ADDR");
	else
		return true;
	return false;
}

static enum filter_result function_resolve(struct search *search,
					   const struct filter_where *where,
					   struct kipt_range *range)
{
	const struct filter *filter = search->filter;
	const struct elf_segment *segment;
	u64 start, size;

	if (!function_known(search))
		return FILTER_REFUSED;
	elf_functions_each(search->path, &search->elf, next_look, search);
	start = search->list[0].address;
	size = function_size(search);
	segment = segment_of(&search->elf, start);
	if (!segment) {
		filter_bad(filter, "%s has the function in none of its segments",
			   search->path);
		return FILTER_REFUSED;
	}
	if (!search->elf.fixed &&
	    (!search->mapped[0] ||
	     !place(search, where, start - segment->address + segment->offset,
		    &start)))
		return FILTER_NOT_MAPPED;
	return filter_part(filter, start, size, range) ? FILTER_DONE :
							 FILTER_REFUSED;
}

/* From the first to the last byte that can be executed. */
static enum filter_result file_resolve(struct search *search,
				       const struct filter_where *where,
				       struct kipt_range *range)
{
	bool found = false;
	unsigned int i;

	for (i = 0; i < search->elf.segment_count; i++) {
		const struct elf_segment *segment = &search->elf.segments[i];
		u64 start = segment->address;

		if (!segment->code || !segment->size)
			continue;
		if (!search->elf.fixed &&
		    (!search->mapped[0] ||
		     !place(search, where, segment->offset, &start)))
			return FILTER_NOT_MAPPED;
		if (!found || start < range->first)
			range->first = start;
		if (!found || start + segment->size - 1 > range->last)
			range->last = start + segment->size - 1;
		found = true;
	}
	range->kind = search->filter->kind;
	if (found)
		return FILTER_DONE;
	filter_bad(search->filter, "%s has no code", search->path);
	return FILTER_REFUSED;
}

static enum filter_result search_run(struct search *search,
				     struct filter_where *where,
				     struct kipt_range *range)
{
	const struct filter *filter = search->filter;

	if (!mapped_find(search, where))
		return FILTER_REFUSED;
	if (!search->mapped[0] && !has_slash(filter))
		return FILTER_NOT_MAPPED;
	if (!file_open(search, where))
		return FILTER_REFUSED;
	return filter->form == FILTER_FILE ?
		       file_resolve(search, where, range) :
		       function_resolve(search, where, range);
}

enum filter_result filter_user(const struct filter *filter,
			       struct filter_where *where,
			       struct kipt_range *range)
{
	struct search *search = calloc(1, sizeof(*search));
	enum filter_result result = FILTER_REFUSED;

	if (!search) {
		filter_bad(filter, "%s", strerror(ENOMEM));
		return result;
	}
	search->filter = filter;
	result = search_run(search, where, range);
	free(search);
	return result;
}
