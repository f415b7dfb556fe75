// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of functions in options, see wanted.h.
 */
#include <stdio.h>
#include <string.h>

#include "../cli/messages.h"
#include "../filter/did_you_mean.h"
#include "../symbols/demangle.h"
#include "profile.h"
#include "wanted.h"

/* Bytes of a name, at most, that is compared in both forms. */
#define NAME_MOST	4096

/* Characters of the first name of a list. */
static size_t name_length(const char *list)
{
	size_t i, depth = 0;

	for (i = 0; list[i] && (depth || list[i] != ','); i++) {
		if (list[i] == '(' || list[i] == '<')
			depth++;
		else if ((list[i] == ')' || list[i] == '>') && depth)
			depth--;
	}
	return i;
}

static bool name_begins(const char *name, const char *want, size_t length)
{
	return length && !strncmp(name, want, length) &&
	       (!name[length] || name[length] == '(');
}

/* Lines have names as the source has them, JSON as the symbol table does: the user may give
 * either.
 */
static bool name_is(const char *name, const char *want, size_t length)
{
	char mangled[NAME_MOST], text[NAME_MOST];

	if (name_begins(name, want, length))
		return true;
	if (demangle(name, text, sizeof(text)))
		return name_begins(text, want, length);
	if (length >= sizeof(mangled))
		return false;
	memcpy(mangled, want, length);
	mangled[length] = 0;
	return demangle(mangled, text, sizeof(text)) && !strcmp(name, text);
}

/* What it is called; NULL: nothing. */
static const char *name_of(const struct profile_symbol *symbol, char *text,
			   size_t size)
{
	if (symbol->name || !symbol->called)
		return symbol->name;
	snprintf(text, size, "0x%llx", (unsigned long long)symbol->start);
	return text;
}

bool wanted_has(const char *list, const struct profile_symbol *symbol)
{
	char text[32];
	const char *name = name_of(symbol, text, sizeof(text));
	size_t length;

	if (!name)
		return false;
	for (;; list += length + 1) {
		length = name_length(list);
		if (name_is(name, list, length))
			return true;
		if (!list[length])
			return false;
	}
}

static bool name_check(const struct profile *profile, const char *option,
		       const char *want, size_t length)
{
	char text[NEAR_MAX * (NEAR_NAME + 2) + 16], address[32];
	struct near near;
	u32 i;

	near_init(&near, want, length);
	for (i = 0; i < profile->symbol_count; i++) {
		const char *name = name_of(&profile->symbols[i], address,
					   sizeof(address));

		if (name && name_is(name, want, length))
			return true;
		if (profile->symbols[i].name)
			near_add(&near, name);
	}
	say_error("--%s %.*s: no function of that name ran in the trace, or in what was chosen of it%s",
		  option, (int)length, want, near_text(&near, text,
						       sizeof(text)));
	return false;
}

bool wanted_check(const struct profile *profile, const char *option)
{
	const char *list = profile->wanted;
	bool good = true;
	size_t length;

	for (;; list += length + 1) {
		length = name_length(list);
		good &= name_check(profile, option, list, length);
		if (!list[length])
			return good;
	}
}
