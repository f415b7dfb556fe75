// SPDX-License-Identifier: GPL-2.0-only
/*
 * Both sides of the process that reads debug information, see line_reader.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../cli/child_process.h"
#include "../cli/messages.h"
#include "../symbols/source_line.h"
#include "line_reader.h"

/* What the debug information of a whole kernel needs. */
#define SECONDS		60
#define MEMORY_MAX	(8ULL << 30)
/* Twice as much as the kernel keeps of a name. */
#define SYMBOL_MAX	1024U

/* @source: in the process. @over: there is no answer any more. */
struct line_reader {
	struct helper helper;
	const char *path;
	int fd;
	bool tried;
	struct source *source;
	bool over;
};

/* The question may have the name of a symbol, and the answer takes its place. */
static bool line_get(struct source *source, struct helper_message *message)
{
	char *bytes = (char *)message->bytes, symbol[SYMBOL_MAX];

	if (!message->size)
		return source_address_text(source, message->begin, bytes, HELPER_BYTES);
	memcpy(symbol, bytes, message->size);
	return source_symbol_text(source, symbol, message->begin, bytes, HELPER_BYTES);
}

/* Nobody is asked for files by way of the network. */
static void line_find(void *ctx, struct helper_message *message)
{
	static const struct debug_places by_id = { .by_id = true };
	struct line_reader *reader = ctx;
	char name[32];

	if (!reader->tried) {
		unsetenv("DEBUGINFOD_URLS");
		snprintf(name, sizeof(name), "/proc/self/fd/%d", reader->fd);
		reader->source = source_load(name, &by_id);
		reader->tried = true;
	}
	message->size = line_get(reader->source, message) ?
			strlen((char *)message->bytes) + 1 : 0;
}

struct line_reader *line_reader_create(int fd, const char *path)
{
	struct line_reader *reader = calloc(1, sizeof(*reader));
	const struct helper_work work = {
		.serve = line_find, .ctx = reader, .fd = fd, .memory = MEMORY_MAX,
	};

	if (reader) {
		reader->path = path;
		reader->fd = fd;
		reader->helper.seconds = SECONDS;
		if (helper_start(&reader->helper, &work))
			return reader;
	}
	say_note("%s is not read: a process that does cannot be started", path);
	free(reader);
	return NULL;
}

void line_reader_destroy(struct line_reader *reader)
{
	if (!reader)
		return;
	helper_end(&reader->helper);
	free(reader);
}

bool line_reader_get(struct line_reader *reader, const char *symbol, u64 address,
		     char *text, size_t size)
{
	size_t length = symbol ? strlen(symbol) + 1 : 0;
	char fate[64];

	if (!reader || reader->over || length > SYMBOL_MAX)
		return false;
	reader->helper.wait_ms = SECONDS * 1000;
	reader->helper.message.begin = address;
	reader->helper.message.size = length;
	memcpy(reader->helper.message.bytes, symbol ? symbol : "", length);
	if (helper_ask(&reader->helper))
		return helper_text(&reader->helper.message, text, size);
	reader->over = true;
	say_note("the process that reads %s %s: lines of source code of it are missing",
		 reader->path, helper_fate(&reader->helper, fate, sizeof(fate)));
	return false;
}
