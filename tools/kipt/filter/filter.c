// SPDX-License-Identifier: GPL-2.0-only
/*
 * The text of a filter, see filter.h. Knows no kernel, no file and no
 * process: filter_kernel.c and filter_user.c do.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "../cli/args.h"
#include "../cli/messages.h"
#include "filter.h"

#define NUMBER_TEXT	24

void filter_bad(const struct filter *filter, const char *format, ...)
{
	char text[2048];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	say_error("--%s %s: %s", range_option(filter->kind), filter->text,
		  text);
}

/* A number of @len characters; addresses need the 0x that kallsyms lacks. */
static bool number_take(const char *text, size_t len, u64 *number)
{
	char digits[NUMBER_TEXT];

	if (len >= sizeof(digits))
		return false;
	memcpy(digits, text, len);
	digits[len] = 0;
	return args_number(digits, ~0ULL, number);
}

static bool address_take(const struct filter *filter, const char *text,
			 size_t len, u64 *address)
{
	if (len > 2 && text[0] == '0' && tolower(text[1]) == 'x' &&
	    number_take(text, len, address))
		return true;
	filter_bad(filter, "'%.*s' is no address: write 0x and hexadecimal digits",
		   (int)len, text);
	return false;
}

/* The sign of a canonical address fills 7 bits or more, with 5-level paging. */
static bool canonical(u64 address)
{
	u64 upper = address >> 56;

	return !upper || upper == 0xff;
}

static bool addresses_check(const struct filter *filter)
{
	if (filter->last < filter->first)
		filter_bad(filter, "the last address is less than the first");
	else if (!canonical(filter->first) || !canonical(filter->last))
		filter_bad(filter, "that is no canonical address: the CPU has none between 0x00ffffffffffffff and 0xff00000000000000");
	else
		return true;
	return false;
}

/* "/SIZE"; it is after a symbol or an address. */
static bool size_take(struct filter *filter, const char *text)
{
	if (number_take(text, strlen(text), &filter->size) && filter->size)
		return true;
	filter_bad(filter, "'%s' is no size: a number of bytes from 1, decimal or 0x",
		   text);
	return false;
}

static bool addresses_parse(struct filter *filter, const char *text)
{
	size_t len = strcspn(text, "-/");

	filter->form = FILTER_ADDRESSES;
	if (!text[len]) {
		filter_bad(filter, "where does it end? Write ADDR-ADDR, the last one inclusive, or ADDR/SIZE");
		return false;
	}
	if (!address_take(filter, text, len, &filter->first))
		return false;
	if (text[len] == '-')
		return address_take(filter, text + len + 1,
				    strlen(text + len + 1), &filter->last) &&
		       addresses_check(filter);
	if (!size_take(filter, text + len + 1))
		return false;
	filter->last = filter->first + filter->size - 1;
	return addresses_check(filter);
}

/* "NAME[+OFFSET][/SIZE]" */
static bool symbol_parse(struct filter *filter, const char *text)
{
	size_t len = strcspn(text, "+/");
	const char *rest = text + len;

	filter->name = text;
	filter->name_len = len;
	if (!len) {
		filter_bad(filter, "the name of a symbol is missing: write SYMBOL, MODULE, FILE:SYMBOL, ADDR-ADDR, or the path of a file");
		return false;
	}
	if (*rest == '+') {
		rest++;
		len = strcspn(rest, "/");
		if (!number_take(rest, len, &filter->offset)) {
			filter_bad(filter, "'%.*s' is no offset: a number of bytes, decimal or 0x",
				   (int)len, rest);
			return false;
		}
		rest += len;
	}
	return !*rest || size_take(filter, rest + 1);
}

/* Names of modules may begin with digits. kallsyms has addresses without 0x;
 * they are distinguished from names by their length.
 */
static bool is_addresses(const char *text)
{
	size_t digits = strspn(text, "0123456789");
	size_t hex = strspn(text, "0123456789abcdefABCDEF");

	return !strncasecmp(text, "0x", 2) || hex >= 8 ||
	       (digits && (text[digits] == '-' || text[digits] == '/'));
}

static bool is_path(const char *text)
{
	return text[0] == '/' || !strncmp(text, "./", 2) ||
	       !strncmp(text, "../", 3);
}

/* Names of files may have colons, those of symbols have none. */
static bool file_parse(struct filter *filter, const char *colon)
{
	filter->file = filter->text;
	filter->file_len = colon - filter->text;
	if (filter->file_len) {
		filter->form = FILTER_FUNCTION;
		return symbol_parse(filter, colon + 1);
	}
	filter_bad(filter, "the name of a file is missing before the colon");
	return false;
}

bool filter_parse(struct filter *filter, const char *text, u32 kind)
{
	const char *colon = strrchr(text, ':');

	memset(filter, 0, sizeof(*filter));
	filter->text = text;
	filter->kind = kind;
	if (colon)
		return file_parse(filter, colon);
	if (is_addresses(text))
		return addresses_parse(filter, text);
	if (is_path(text)) {
		filter->form = FILTER_FILE;
		filter->file = text;
		filter->file_len = strlen(text);
		return true;
	}
	filter->form = FILTER_KERNEL;
	return symbol_parse(filter, text);
}

bool filter_part(const struct filter *filter, u64 start, u64 size,
		 struct kipt_range *range)
{
	if (filter->offset >= size || filter->size > size - filter->offset) {
		filter_bad(filter, "%.*s has %llu (0x%llx) bytes, and this is not within them",
			   (int)filter->name_len, filter->name,
			   (unsigned long long)size,
			   (unsigned long long)size);
		return false;
	}
	range->kind = filter->kind;
	range->first = start + filter->offset;
	range->last = filter->size ? range->first + filter->size - 1 :
				     start + size - 1;
	return true;
}

void filter_where_free(struct filter_where *where)
{
	symbols_destroy(where->kernel);
	where->kernel = NULL;
}

enum filter_result filter_resolve(const struct filter *filter,
				  struct filter_where *where,
				  struct kipt_range *range)
{
	switch (filter->form) {
	case FILTER_KERNEL:
		return filter_kernel(filter, where, range);
	case FILTER_FUNCTION:
	case FILTER_FILE:
		return filter_user(filter, where, range);
	case FILTER_ADDRESSES:
		break;
	}
	range->kind = filter->kind;
	range->first = filter->first;
	range->last = filter->last;
	return FILTER_DONE;
}
