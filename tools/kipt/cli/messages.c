// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sentences on stderr, see messages.h. Knows nothing of what they are about.
 */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "messages.h"
#include "progress.h"

static void say(const char *kind, const char *format, va_list list)
{
	progress_clear();
	fflush(stdout);
	fprintf(stderr, "kipt: %s", kind);
	vfprintf(stderr, format, list);
}

void say_error(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	say("", format, list);
	va_end(list);
	fputc('\n', stderr);
}

const char *say_errno_name(int err)
{
	const char *name = strerrorname_np(err);

	return name ? name : "unknown error";
}

void say_errno(int err, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	say("", format, list);
	va_end(list);
	fprintf(stderr, ": %s (%s)\n", strerror(err), say_errno_name(err));
}

void say_note(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	say("note: ", format, list);
	va_end(list);
	fputc('\n', stderr);
}
