// SPDX-License-Identifier: GPL-2.0-only
/*
 * Both sides of the process that reads a file with debug information, see line_reader.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../cli/child_process.h"
#include "../cli/messages.h"
#include "../symbols/source_line.h"
#include "../symbols/vmlinux.h"
#include "line_reader.h"
#include "symbol_message.h"

/* What the debug information of a whole kernel needs. */
#define SECONDS		60
#define MEMORY_MAX	(8ULL << 30)
/* Twice as much as the kernel keeps of a name. */
#define SYMBOL_MAX	1024U

/*
 * helper_message.what. @ASK_LINE: of address @begin, which is in a symbol if @bytes has
 * one, whose place the line takes. @ASK_ID: answered by a build id. @ASK_SYMBOLS: of
 * vmlinux, moved by @number, see symbols_put().
 */
enum { ASK_LINE, ASK_ID, ASK_SYMBOLS };

/* @source, @symbols: in the process. @over: there is no answer any more. */
struct line_reader {
	struct helper helper;
	const char *path;
	int fd;
	bool tried;
	struct source *source;
	struct symbols *symbols;
	bool over;
};

static bool line_get(struct source *source, struct helper_message *message)
{
	char *bytes = (char *)message->bytes, symbol[SYMBOL_MAX];

	if (!message->size)
		return source_address_text(source, message->begin, bytes, HELPER_BYTES);
	memcpy(symbol, bytes, message->size);
	return source_symbol_text(source, symbol, message->begin, bytes, HELPER_BYTES);
}

static void line_put(struct line_reader *reader, const char *name,
		     struct helper_message *message)
{
	static const struct debug_places by_id = { .by_id = true };

	if (!reader->tried) {
		/* Nobody is asked for files by way of the network. */
		unsetenv("DEBUGINFOD_URLS");
		reader->source = source_load(name, &by_id);
		reader->tried = true;
	}
	message->size = line_get(reader->source, message) ?
			strlen((char *)message->bytes) + 1 : 0;
}

static void id_put(struct line_reader *reader, struct helper_message *message)
{
	struct build_id id;

	message->size = debug_file_build_id(reader->fd, &id) ? sizeof(id) : 0;
	memcpy(message->bytes, &id, message->size);
}

static void vmlinux_put(struct line_reader *reader, const char *name,
			struct helper_message *message)
{
	if (!reader->symbols) {
		reader->symbols = symbols_create();
		if (reader->symbols)
			vmlinux_symbols(reader->symbols, name, message->number);
	}
	if (reader->symbols)
		symbols_put(message, reader->symbols);
}

static void question_serve(void *ctx, struct helper_message *message)
{
	struct line_reader *reader = ctx;
	char name[32];

	snprintf(name, sizeof(name), "/proc/self/fd/%d", reader->fd);
	switch (message->what) {
	case ASK_LINE:
		line_put(reader, name, message);
		break;
	case ASK_ID:
		id_put(reader, message);
		break;
	case ASK_SYMBOLS:
		vmlinux_put(reader, name, message);
		break;
	}
}

struct line_reader *line_reader_create(int fd, const char *path)
{
	struct line_reader *reader = calloc(1, sizeof(*reader));
	const struct helper_work work = {
		.serve = question_serve, .ctx = reader, .fd = fd, .memory = MEMORY_MAX,
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

/* What is asked is in the message. */
static bool ask(struct line_reader *reader, u32 what)
{
	char fate[64];

	reader->helper.wait_ms = SECONDS * 1000;
	reader->helper.message.what = what;
	if (helper_ask(&reader->helper))
		return true;
	reader->over = true;
	say_note("the process that reads %s %s: nothing more is read of it", reader->path,
		 helper_fate(&reader->helper, fate, sizeof(fate)));
	return false;
}

bool line_reader_get(struct line_reader *reader, const char *symbol, u64 address,
		     char *text, size_t size)
{
	size_t length = symbol ? strlen(symbol) + 1 : 0;

	if (!reader || reader->over || length > SYMBOL_MAX)
		return false;
	reader->helper.message.begin = address;
	reader->helper.message.size = length;
	memcpy(reader->helper.message.bytes, symbol ? symbol : "", length);
	return ask(reader, ASK_LINE) && helper_text(&reader->helper.message, text, size);
}

bool line_reader_build_id(struct line_reader *reader, struct build_id *id)
{
	if (!reader || reader->over)
		return false;
	reader->helper.message.size = 0;
	if (!ask(reader, ASK_ID) || reader->helper.message.size != sizeof(*id))
		return false;
	memcpy(id, reader->helper.message.bytes, sizeof(*id));
	return id->size && id->size <= BUILD_ID_MAX;
}

bool line_reader_symbols(struct line_reader *reader, struct symbols *symbols, u64 bias)
{
	struct helper_message *message = reader ? &reader->helper.message : NULL;
	size_t before = symbols_count(symbols);
	u64 next = 0, from;

	if (!reader || reader->over)
		return false;
	/* Each answer has some more of them, or it was the last. */
	do {
		from = next;
		message->begin = from;
		message->number = bias;
		message->size = 0;
		if (!ask(reader, ASK_SYMBOLS))
			break;
		next = message->end;
	} while (next > from && symbols_take(symbols, message, 0));
	return symbols_count(symbols) > before;
}
