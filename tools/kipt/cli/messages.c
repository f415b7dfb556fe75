// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sentences on stderr, see messages.h. Knows nothing of what they are about.
 */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "messages.h"
#include "printable.h"
#include "progress.h"
#include "standard_output.h"

/* Who gets the sentences of this thread. */
static _Thread_local struct {
	void (*take)(void *ctx, bool failed, const char *sentence);
	void *ctx;
} taker;

void say_to(void (*take)(void *ctx, bool failed, const char *sentence),
	    void *ctx)
{
	taker.take = take;
	taker.ctx = ctx;
	progress_leave(take);
}

static void print(bool failed, const char *sentence)
{
	progress_clear();
	output_flush(stdout);
	fprintf(stderr, "kipt: %s%s\n", failed ? "" : "note: ", sentence);
}

/* @end follows the text of @format. Files of others have names and texts in it. */
static void say(bool failed, const char *end, const char *format, va_list list)
{
	char *sentence, *whole;

	if (vasprintf(&sentence, format, list) < 0)
		return;
	if (asprintf(&whole, "%s%s", sentence, end) >= 0) {
		plain_text(whole);
		if (taker.take)
			taker.take(taker.ctx, failed, whole);
		else
			print(failed, whole);
		free(whole);
	}
	free(sentence);
}

void say_error(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	say(true, "", format, list);
	va_end(list);
}

const char *say_errno_name(int err)
{
	const char *name = strerrorname_np(err);

	return name ? name : "unknown error";
}

void say_errno(int err, const char *format, ...)
{
	char end[256];
	va_list list;

	snprintf(end, sizeof(end), ": %s (%s)", strerror(err),
		 say_errno_name(err));
	va_start(list, format);
	say(true, end, format, list);
	va_end(list);
}

void say_note(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	say(false, "", format, list);
	va_end(list);
}
