// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kernel functions and modules by name, for filter.c. kallsyms has no sizes:
 * a symbol reaches to the next one, of whatever kind, and one that is the last
 * of its module so far that all of it is in, since nothing else that executes
 * is in the hole after it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../cli/messages.h"
#include "../symbols/kernel_symbols.h"
#include "did_you_mean.h"
#include "filter.h"

#define MODULES		"/proc/modules"
#define KPTR_RESTRICT	"/proc/sys/kernel/kptr_restrict"
#define CANDIDATES_MAX	8
#define NAME_TEXT	512
/* No function is larger. */
#define HOLE_MAX	65536

/* One meaning of the name: [start, @next) */
struct candidate {
	u64 start;
	u64 last_symbol;
	u64 next;
	char object[64];
	bool next_is_same;
};

struct search {
	char name[NAME_TEXT];
	char module[NAME_TEXT];
	bool loaded;
	struct candidate list[CANDIDATES_MAX];
	unsigned int count;
	bool has_module;
	struct candidate text;
	bool data;
	struct near near;
};

static void candidate_add(struct search *search,
			  const struct symbol_entry *entry)
{
	struct candidate *candidate;
	unsigned int i;

	for (i = 0; i < search->count && i < CANDIDATES_MAX; i++) {
		if (search->list[i].start == entry->start)
			return;
	}
	if (search->count++ >= CANDIDATES_MAX)
		return;
	candidate = &search->list[search->count - 1];
	candidate->start = candidate->last_symbol = entry->start;
	snprintf(candidate->object, sizeof(candidate->object), "%s",
		 *entry->object ? entry->object : "kernel");
}

static void module_take(struct search *search,
			const struct symbol_entry *entry)
{
	struct candidate *text = &search->text;

	if (!search->has_module || entry->start < text->start)
		text->start = entry->start;
	if (!search->has_module || entry->start > text->last_symbol)
		text->last_symbol = entry->start;
	snprintf(text->object, sizeof(text->object), "%s", entry->object);
	search->has_module = true;
}

static void name_look(void *ctx, const struct symbol_entry *entry)
{
	struct search *search = ctx;

	if (!strcmp(entry->name, search->name)) {
		if (entry->rank)
			candidate_add(search, entry);
		else
			search->data = true;
	}
	if (search->loaded && entry->rank &&
	    !strcmp(entry->object, search->module))
		module_take(search, entry);
}

static void next_take(struct candidate *candidate,
		      const struct symbol_entry *entry)
{
	const char *object = *entry->object ? entry->object : "kernel";

	if (entry->start <= candidate->last_symbol ||
	    (candidate->next && entry->start >= candidate->next))
		return;
	candidate->next = entry->start;
	candidate->next_is_same = !strcmp(object, candidate->object);
}

static void next_look(void *ctx, const struct symbol_entry *entry)
{
	struct search *search = ctx;
	unsigned int i;

	for (i = 0; i < search->count && i < CANDIDATES_MAX; i++)
		next_take(&search->list[i], entry);
	if (search->has_module)
		next_take(&search->text, entry);
}

static void near_look(void *ctx, const struct symbol_entry *entry)
{
	struct search *search = ctx;

	if (entry->rank && strncmp(entry->name, "__pfx_", 6))
		near_add(&search->near, entry->name);
}

static u64 candidate_size(const struct candidate *candidate)
{
	u64 most = candidate->last_symbol + HOLE_MAX;
	u64 end = candidate->next;

	if (!end || (!candidate->next_is_same && end > most))
		end = most;
	return end - candidate->start;
}

static size_t candidate_text(const struct filter *filter,
			     const struct candidate *candidate,
			     const char *before, char *text, size_t size)
{
	struct kipt_range range = {
		.kind = filter->kind,
		.first = candidate->start,
		.last = candidate->start + candidate_size(candidate) - 1,
	};
	char addresses[48];

	return snprintf(text, size, "%s%s [%s]", before,
			range_text(&range, addresses, sizeof(addresses)),
			candidate->object);
}

static void ambiguous_tell(const struct filter *filter,
			   const struct search *search)
{
	unsigned int i, shown = search->count < CANDIDATES_MAX ?
				search->count : CANDIDATES_MAX;
	char text[1024];
	size_t at = 0;

	for (i = 0; i < shown && at < sizeof(text); i++)
		at += candidate_text(filter, &search->list[i], i ? ", " : "",
				     text + at, sizeof(text) - at);
	if (search->has_module && at < sizeof(text))
		candidate_text(filter, &search->text, ", all of module ",
			       text + at, sizeof(text) - at);
	filter_bad(filter, "there are %u of that name; give the addresses of one: %s%s",
		   search->count + search->has_module, text,
		   search->count > shown ? ", and more" : "");
}

/* Is it loaded? Its address there may be hidden. */
static bool module_loaded(const char *path, const char *module)
{
	FILE *file = fopen(path ? path : MODULES, "re");
	char *line = NULL;
	size_t room = 0, len = strlen(module);
	bool found = false;

	while (file && !found && getline(&line, &room, file) > 0)
		found = !strncmp(line, module, len) && line[len] == ' ';
	free(line);
	if (file)
		fclose(file);
	return found;
}

static bool module_built_in(const char *module)
{
	char path[NAME_TEXT + 32];

	snprintf(path, sizeof(path), "/sys/module/%s", module);
	return !access(path, F_OK);
}

static void unknown_tell(const struct filter *filter,
			 struct filter_where *where, struct search *search)
{
	char near[NEAR_MAX * (NEAR_NAME + 2) + 16];

	if (search->data) {
		filter_bad(filter, "that is data of the kernel, not code");
		return;
	}
	if (search->loaded) {
		filter_bad(filter, "the module has no code that kallsyms knows");
		return;
	}
	if (!where->modules && module_built_in(search->module)) {
		filter_bad(filter, "that module is built into the kernel, whose parts have no address of their own: name functions of it");
		return;
	}
	near_init(&search->near, search->name, strlen(search->name));
	symbols_each(where->kernel, near_look, search);
	filter_bad(filter, "no function of the kernel and no loaded module has that name%s; a function of a program is FILE:SYMBOL",
		   near_text(&search->near, near, sizeof(near)));
}

static void hidden_tell(const struct filter *filter)
{
	FILE *file = fopen(KPTR_RESTRICT, "re");
	int value = -1;

	if (file && fscanf(file, "%d", &value) != 1)
		value = -1;
	if (file)
		fclose(file);
	if (value == 2)
		filter_bad(filter, "the kernel hides its addresses: kernel.kptr_restrict is 2; as root 'sysctl kernel.kptr_restrict=1' shows them to root, or give ADDR-ADDR");
	else
		filter_bad(filter, "the kernel hides its addresses (kernel.kptr_restrict is %d): it needs CAP_SYSLOG to see them; run kipt as root, or give ADDR-ADDR",
			   value);
}

static bool kernel_load(const struct filter *filter,
			struct filter_where *where)
{
	if (!where->kernel)
		where->kernel = kernel_symbols_all(where->kallsyms,
						   &where->kernel_lines);
	if (!where->kernel)
		return false;
	if (symbols_count(where->kernel))
		return true;
	if (where->kernel_lines)
		hidden_tell(filter);
	else
		filter_bad(filter, "this kernel has no symbols (CONFIG_KALLSYMS): give ADDR-ADDR");
	return false;
}

/* Modules are known with underscores, whatever their file is called. */
static void names_make(const struct filter *filter, struct search *search)
{
	char *dash;

	snprintf(search->name, sizeof(search->name), "%.*s",
		 (int)filter->name_len, filter->name);
	snprintf(search->module, sizeof(search->module), "%s", search->name);
	while ((dash = strchr(search->module, '-')))
		*dash = '_';
}

enum filter_result filter_kernel(const struct filter *filter,
				 struct filter_where *where,
				 struct kipt_range *range)
{
	const struct candidate *found;
	struct search search = { 0 };

	if (!kernel_load(filter, where))
		return FILTER_REFUSED;
	names_make(filter, &search);
	search.loaded = module_loaded(where->modules, search.module);
	symbols_each(where->kernel, name_look, &search);
	symbols_each(where->kernel, next_look, &search);
	if (search.count + search.has_module > 1) {
		ambiguous_tell(filter, &search);
		return FILTER_REFUSED;
	}
	if (!search.count && !search.has_module) {
		unknown_tell(filter, where, &search);
		return FILTER_REFUSED;
	}
	found = search.count ? &search.list[0] : &search.text;
	return filter_part(filter, found->start, candidate_size(found),
			   range) ? FILTER_DONE : FILTER_REFUSED;
}
