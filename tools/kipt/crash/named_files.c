// SPDX-License-Identifier: GPL-2.0-only
/*
 * Opens files by names that others chose, see named_files.h. They are read, not
 * mapped: one that is cut short meanwhile has less, and harms nobody. Only who
 * asks is trusted here.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../cli/file_map.h"
#include "../symbols/build_id.h"
#include "../symbols/source_line.h"
#include "named_files.h"
#include "symbol_message.h"

/* As much of a file as snapshots keep for its build id. */
#define HEAD_BYTES	4096

/* A file; @fd is -1 if it is not open. */
struct opened {
	int fd;
	bool source_tried;
	struct source *source;
};

/* @elf: the symbols of file @loaded, which are asked for in their order. */
struct crash_reader {
	struct opened files[CRASH_FILES_MAX];
	struct elf_symbols *elf;
	u64 loaded;
};

struct crash_reader *crash_reader_create(void)
{
	struct crash_reader *reader = calloc(1, sizeof(*reader));
	u32 i;

	for (i = 0; reader && i < CRASH_FILES_MAX; i++)
		reader->files[i].fd = -1;
	return reader;
}

static void become(struct helper_message *message)
{
	message->number = helper_become(message->begin, message->end);
}

static void file_open(struct opened *file, struct helper_message *message)
{
	struct build_id id = { 0 };
	u8 head[HEAD_BYTES];
	ssize_t got = 0;

	file->fd = file_open_no_links((char *)message->bytes);
	if (file->fd >= 0)
		got = pread(file->fd, head, sizeof(head), 0);
	if (got <= 0 || !build_id_find(&id, head, got))
		id.size = 0;
	memcpy(message->bytes, &id, sizeof(id));
	message->size = sizeof(id);
}

static void file_read(const struct opened *file, struct helper_message *message)
{
	u64 size = message->end - message->begin;
	ssize_t got = pread(file->fd, message->bytes,
			    size < HELPER_BYTES ? size : HELPER_BYTES,
			    message->begin);

	message->size = got > 0 ? got : 0;
}

/* What libraries open, they open by a name. */
static const char *name_of(const struct opened *file, char *text, size_t size)
{
	snprintf(text, size, "/proc/self/fd/%d", file->fd);
	return text;
}

static void symbols_send(struct crash_reader *reader,
			 struct helper_message *message)
{
	const struct symbols *symbols;
	struct elf_file file;
	char name[32];

	message->size = 0;
	message->end = message->begin;
	if (!reader->elf || reader->loaded != message->number) {
		elf_symbols_destroy(reader->elf);
		reader->loaded = message->number;
		reader->elf = elf_symbols_load(name_of(
			&reader->files[message->number], name, sizeof(name)));
	}
	if (!reader->elf)
		return;
	symbols = elf_symbols_parts(reader->elf, &file);
	memcpy(message->bytes, &file, sizeof(file));
	message->size = sizeof(file);
	symbols_put(message, symbols);
}

static void source_send(struct opened *file, struct helper_message *message)
{
	static const struct debug_places by_id = { .by_id = true };
	char name[32];

	/* Nobody is asked for files by way of the network. */
	unsetenv("DEBUGINFOD_URLS");
	if (!file->source_tried)
		file->source = source_load(name_of(file, name, sizeof(name)),
					   &by_id);
	file->source_tried = true;
	message->size = 0;
	if (source_text(file->source, message->begin, (char *)message->bytes,
			HELPER_BYTES))
		message->size = strlen((char *)message->bytes) + 1;
}

void crash_reader_serve(void *ctx, struct helper_message *message)
{
	struct crash_reader *reader = ctx;
	struct opened *file = &reader->files[message->number];

	switch (message->what) {
	case CRASH_ASK_BECOME:
		become(message);
		break;
	case CRASH_ASK_OPEN:
		file_open(file, message);
		break;
	case CRASH_ASK_READ:
		file_read(file, message);
		break;
	case CRASH_ASK_SYMBOLS:
		symbols_send(reader, message);
		break;
	case CRASH_ASK_SOURCE:
		source_send(file, message);
		break;
	}
}
