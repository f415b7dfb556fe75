// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of C++ and Rust through libiberty, see demangle.h. A short name may mean
 * one of gigabytes: it is left where the room ends.
 */
#include <setjmp.h>
#include <string.h>

#include <libiberty/demangle.h>

#include "../cli/printable.h"
#include "demangle.h"

#define NAME_MOST	4096
#define BASE_62	"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

struct text {
	char *bytes;
	size_t size;
	size_t length;
	jmp_buf full;
};

/* libiberty has all it needs on the stack, and does not look at what this does. */
static void text_add(const char *more, size_t length, void *to)
{
	struct text *text = to;

	if (length >= text->size - text->length)
		longjmp(text->full, 1);
	memcpy(text->bytes + text->length, more, length);
	text->length += length;
	text->bytes[text->length] = 0;
}

static bool name_take(const char *name, struct text *text)
{
	if (setjmp(text->full))
		return false;
	/* The older names of Rust are also such of C++. */
	if (rust_demangle_callback(name, DMGL_NO_OPTS, text_add, text))
		return text->length;
	text->length = 0;
	return cplus_demangle_v3_callback(name, DMGL_NO_OPTS, text_add, text) &&
	       text->length;
}

/* A binder of lifetimes in a name of Rust, "G" and a number to the base of 62, has
 * libiberty count to that number, whatever it is. No program has thousands of them.
 */
static bool binds_many(const char *name)
{
	const char *at = name;
	size_t digits;

	while ((at = strchr(at, 'G'))) {
		digits = strspn(++at, BASE_62);
		if (digits > 2 && at[digits] == '_')
			return true;
	}
	return false;
}

bool demangle(const char *name, char *text, size_t size)
{
	struct text to = { .bytes = text, .size = size };
	size_t length = strcspn(name, "@");
	const char *suffix = name + length;
	char plain[NAME_MOST];

	if (name[0] != '_' || (name[1] != 'Z' && name[1] != 'R') ||
	    length >= sizeof(plain) || !size)
		return false;
	memcpy(plain, name, length);
	plain[length] = 0;
	if (name[1] == 'R' && binds_many(plain))
		return false;
	if (!name_take(plain, &to) || strlen(suffix) >= size - to.length)
		return false;
	strcpy(text + to.length, suffix);
	plain_text(text);
	return true;
}
