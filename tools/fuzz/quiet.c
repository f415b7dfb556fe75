// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tool's sentences, made and dropped: a fuzzer would write millions of
 * them. A sentence must not be empty. User space.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "../kipt/cli/messages.h"

static void drop(const char *format, va_list list)
{
	char text[256];

	if (vsnprintf(text, sizeof(text), format, list) <= 0)
		abort();
}

void say_error(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	drop(format, list);
	va_end(list);
}

void say_errno(int err, const char *format, ...)
{
	va_list list;

	(void)err;
	va_start(list, format);
	drop(format, list);
	va_end(list);
}

void say_note(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	drop(format, list);
	va_end(list);
}
