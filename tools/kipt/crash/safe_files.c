// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files of others, see safe_files.h: first the process that opens them by names that
 * others chose. They are read, not mapped: one that is cut short meanwhile has less, and
 * harms nobody. Only the asker is trusted there. It comes second. No answer is believed:
 * whoever wrote the files may have made of the process what they like.
 */
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../cli/child_process.h"
#include "../cli/file_map.h"
#include "../cli/messages.h"
#include "../symbols/build_id.h"
#include "../symbols/elf_symbols.h"
#include "../symbols/source_line.h"
#include "safe_files.h"
#include "symbol_message.h"

/* Others are not looked at: descriptors have an end. */
#define CRASH_FILES_MAX		512

/**
 * enum crash_ask - helper_message.what; @number is a file's but for the first
 * @CRASH_ASK_BECOME: be user @begin with group @end; @number: 1 if so
 * @CRASH_ASK_OPEN: @bytes is the path, with its 0; answered by its build id, of
 *	which @size is 0 if it has none
 * @CRASH_ASK_READ: @begin to @end of the file; answered by @bytes
 * @CRASH_ASK_SYMBOLS: answered by struct elf_file, and from number @begin on by
 *	some of its symbols, see symbols_put()
 * @CRASH_ASK_SOURCE: answered by the line of offset @begin, with its 0, if it is
 *	known
 */
enum crash_ask {
	CRASH_ASK_BECOME,
	CRASH_ASK_OPEN,
	CRASH_ASK_READ,
	CRASH_ASK_SYMBOLS,
	CRASH_ASK_SOURCE,
};

/* As much of a file as snapshots keep for its build id. */
#define HEAD_BYTES	4096

/* A file; @fd is -1 if it is not open. What libraries open, they open by a name. */
struct opened {
	int fd;
	char name[32];
	bool source_tried;
	struct source *source;
};

/*
 * What the process has, and this one has not: files by their numbers, each opened before
 * anything else is asked of it; and the symbols of file @loaded, which are asked for in
 * their order.
 */
static struct {
	struct opened files[CRASH_FILES_MAX];
	struct elf_symbols *elf;
	u64 loaded;
} process;

static void opened_open(struct opened *file, struct helper_message *message)
{
	struct build_id id = { 0 };
	u8 head[HEAD_BYTES];
	ssize_t got = 0;

	file->fd = file_open_no_links((char *)message->bytes);
	snprintf(file->name, sizeof(file->name), "/proc/self/fd/%d", file->fd);
	if (file->fd >= 0)
		got = pread(file->fd, head, sizeof(head), 0);
	if (got <= 0 || !build_id_find(&id, head, got))
		id.size = 0;
	memcpy(message->bytes, &id, sizeof(id));
	message->size = sizeof(id);
}

static void opened_read(const struct opened *file, struct helper_message *message)
{
	u64 size = message->end - message->begin;
	ssize_t got = pread(file->fd, message->bytes,
			    size < HELPER_BYTES ? size : HELPER_BYTES,
			    message->begin);

	message->size = got > 0 ? got : 0;
}

static void symbols_send(struct helper_message *message)
{
	const struct symbols *symbols;
	struct elf_file file;

	message->size = 0;
	message->end = message->begin;
	if (!process.elf || process.loaded != message->number) {
		elf_symbols_destroy(process.elf);
		process.loaded = message->number;
		process.elf = elf_symbols_load(process.files[message->number].name);
	}
	if (!process.elf)
		return;
	symbols = elf_symbols_parts(process.elf, &file);
	memcpy(message->bytes, &file, sizeof(file));
	message->size = sizeof(file);
	symbols_put(message, symbols);
}

static void source_send(struct opened *file, struct helper_message *message)
{
	static const struct debug_places by_id = { .by_id = true };

	/* Nobody is asked for files by way of the network. */
	unsetenv("DEBUGINFOD_URLS");
	if (!file->source_tried)
		file->source = source_load(file->name, &by_id);
	file->source_tried = true;
	message->size = 0;
	if (source_text(file->source, message->begin, (char *)message->bytes,
			HELPER_BYTES))
		message->size = strlen((char *)message->bytes) + 1;
}

/* Answer one question, in the same message. */
static void question_serve(void *ctx, struct helper_message *message)
{
	struct opened *file = &process.files[message->number];

	(void)ctx;
	switch (message->what) {
	case CRASH_ASK_BECOME:
		message->number = helper_become(message->begin, message->end);
		break;
	case CRASH_ASK_OPEN:
		opened_open(file, message);
		break;
	case CRASH_ASK_READ:
		opened_read(file, message);
		break;
	case CRASH_ASK_SYMBOLS:
		symbols_send(message);
		break;
	case CRASH_ASK_SOURCE:
		source_send(file, message);
		break;
	}
}

/* What large debug information needs. */
#define MEMORY_MAX	(4ULL << 30)
/* Of who is in no list of users. */
#define NO_GROUP	65534

/* A file that was asked for once. Without a size of @id it is not looked at. */
struct known {
	char *path;
	struct build_id id;
};

#define KEPT_BYTES	4096
#define KEPT_PAGES	256U

/**
 * struct kept - a page of a file that was read
 * @used: there is one, which is whole
 * @number: of the file
 * @offset: in it
 * @size: of what is there
 * @bytes: they
 */
struct kept {
	bool used;
	int number;
	u64 offset;
	u32 size;
	u8 bytes[KEPT_BYTES];
};

/**
 * struct crash_files - files, and who reads them
 * @helper: the process
 * @kept: pages that were read last, found by file and offset
 * @ready: files can be opened
 * @reader: for names; its @ctx is this
 * @list: files that were asked for, by their numbers
 * @count: how many
 */
struct crash_files {
	struct helper helper;
	struct kept kept[KEPT_PAGES];
	bool ready;
	struct names_reader reader;
	struct known list[CRASH_FILES_MAX];
	u32 count;
};

void crash_files_destroy(struct crash_files *files)
{
	u32 i;

	if (!files)
		return;
	helper_end(&files->helper);
	for (i = 0; i < files->count; i++)
		free(files->list[i].path);
	free(files);
}

/* Returns the answer, or NULL: there is none, after a note. */
static const struct helper_message *ask(struct crash_files *files, u32 what,
					u64 number, u64 begin, u64 end)
{
	struct helper_message *message = &files->helper.message;
	char fate[64];

	if (!files->ready)
		return NULL;
	message->what = what;
	/* Only this one has bytes, which are there already. */
	if (what != CRASH_ASK_OPEN)
		message->size = 0;
	message->number = number;
	message->begin = begin;
	message->end = end;
	if (helper_ask(&files->helper))
		return message;
	files->ready = false;
	say_note("the process that reads files of the program that was killed %s: nothing more is read of them",
		 helper_fate(&files->helper, fate, sizeof(fate)));
	return NULL;
}

void crash_files_become(struct crash_files *files, u32 uid)
{
	const struct passwd *user = getpwuid(uid);
	const struct helper_message *answer;

	files->ready = true;
	answer = ask(files, CRASH_ASK_BECOME, 0, uid,
		     user ? user->pw_gid : NO_GROUP);
	if (!answer || answer->number == 1)
		return;
	files->ready = false;
	say_note("files of the program that was killed are not read: that takes being user %u, which is not allowed",
		 uid);
}

/* NULL: it is not looked at. */
static struct known *file_get(struct crash_files *files, const char *path)
{
	struct helper_message *message = &files->helper.message;
	struct known *file;
	u32 i;

	for (i = 0; i < files->count; i++) {
		if (!strcmp(files->list[i].path, path))
			return &files->list[i];
	}
	if (files->count == CRASH_FILES_MAX || strlen(path) >= HELPER_BYTES)
		return NULL;
	file = &files->list[files->count];
	file->path = strdup(path);
	if (!file->path)
		return NULL;
	message->size = strlen(path) + 1;
	memcpy(message->bytes, path, message->size);
	if (ask(files, CRASH_ASK_OPEN, files->count++, 0, 0) &&
	    message->size == sizeof(file->id))
		memcpy(&file->id, message->bytes, sizeof(file->id));
	if (file->id.size > BUILD_ID_MAX)
		file->id.size = 0;
	return file;
}

int crash_files_find(struct crash_files *files, const char *path,
		     const struct build_id *then)
{
	const struct known *file = file_get(files, path);

	return file && file->id.size && build_id_same(&file->id, then) ?
	       file - files->list : -1;
}

/* The decoder reads a few bytes at a time, and most of them again and again. */
static const struct kept *page_read(struct crash_files *files, int number,
				    u64 offset)
{
	struct kept *kept = &files->kept[(offset / KEPT_BYTES + number) %
					 KEPT_PAGES];
	const struct helper_message *answer;

	if (kept->used && kept->number == number && kept->offset == offset)
		return kept;
	kept->used = false;
	answer = ask(files, CRASH_ASK_READ, number, offset,
		     offset + KEPT_BYTES);
	if (!answer || answer->size > KEPT_BYTES)
		return NULL;
	kept->number = number;
	kept->offset = offset;
	kept->size = answer->size;
	memcpy(kept->bytes, answer->bytes, answer->size);
	/* The rest may come later, of a file that is written to. */
	kept->used = kept->size == KEPT_BYTES;
	return kept;
}

u32 crash_files_read(struct crash_files *files, int number, u64 offset,
		     u8 *bytes, u32 size)
{
	const struct kept *kept;
	u32 done = 0, at, here;

	while (files->ready && done < size) {
		at = (offset + done) % KEPT_BYTES;
		kept = page_read(files, number, offset + done - at);
		if (!kept || at >= kept->size)
			break;
		here = kept->size - at;
		if (here > size - done)
			here = size - done;
		memcpy(bytes + done, kept->bytes + at, here);
		done += here;
	}
	return done;
}

/* Each answer has some more of them, or it was the last. */
static struct elf_symbols *symbols_read(void *ctx, u32 number)
{
	struct symbols *symbols = symbols_create();
	const struct helper_message *answer = NULL;
	struct crash_files *files = ctx;
	struct elf_file file = { 0 };
	u64 next = 0, from;

	do {
		from = next;
		if (symbols)
			answer = ask(files, CRASH_ASK_SYMBOLS, number, from, 0);
		if (!answer || answer->size < sizeof(file))
			break;
		memcpy(&file, answer->bytes, sizeof(file));
		next = answer->end;
	} while (next > from && symbols_take(symbols, answer, sizeof(file)));
	return symbols ? elf_symbols_made(&file, symbols) : NULL;
}

static bool source_read(void *ctx, u32 number, u64 offset, char *text,
			size_t size)
{
	const struct helper_message *answer;
	struct crash_files *files = ctx;

	answer = ask(files, CRASH_ASK_SOURCE, number, offset, 0);
	return answer && helper_text(answer, text, size);
}

struct crash_files *crash_files_create(u32 seconds)
{
	struct crash_files *files = calloc(1, sizeof(*files));
	const struct helper_work work = {
		.serve = question_serve,
		.fd = -1,
		.memory = MEMORY_MAX,
	};

	if (files) {
		files->helper.seconds = seconds;
		files->helper.wait_ms = seconds * 1000;
		files->reader = (struct names_reader){
			symbols_read, source_read, files,
		};
	}
	if (!files || !helper_start(&files->helper, &work)) {
		say_errno(errno, "cannot start a process that reads files");
		free(files);
		files = NULL;
	}
	return files;
}

bool crash_files_name(struct crash_files *files, struct names *names)
{
	u32 i;

	for (i = 0; i < files->count; i++) {
		if (files->list[i].id.size &&
		    !names_read_by(names, files->list[i].path, &files->reader,
				   i))
			return false;
	}
	return true;
}
