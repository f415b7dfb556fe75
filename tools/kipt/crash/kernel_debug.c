// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files of a kernel that died, see kernel_debug.h. What VMCOREINFO says may be
 * made up: it chooses among files that only root writes. A file that may be damaged is
 * read by a process of its own, so that it ends in a sentence at worst: both sides of that
 * come first.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../cli/child_process.h"
#include "../cli/file_map.h"
#include "../cli/kipt.h"
#include "../cli/messages.h"
#include "../symbols/debug_file.h"
#include "../symbols/source_line.h"
#include "../symbols/vmlinux.h"
#include "dump_symbols.h"
#include "kernel_debug.h"
#include "symbol_message.h"
#include "vmcoreinfo.h"

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

/**
 * struct line_reader - a process that reads a file, and the same on its side
 * @helper: the process
 * @path: of the file, for sentences
 * @fd: the file; in the process
 * @tried: @source was loaded, if that can be; in the process
 * @source: its lines; in the process
 * @symbols: its symbols; in the process
 * @over: there is no answer any more
 */
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

/**
 * line_reader_create() - start the process
 * @fd: an ELF file; the caller's, may be closed afterwards
 * @path: its name, for sentences; must live as long
 *
 * Return: the caller's until line_reader_destroy(); NULL after a note.
 */
static struct line_reader *line_reader_create(int fd, const char *path)
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

/**
 * line_reader_destroy() - end it
 * @reader: may be NULL
 */
static void line_reader_destroy(struct line_reader *reader)
{
	if (!reader)
		return;
	helper_end(&reader->helper);
	free(reader);
}

/* False also if there is no reader; @symbol may be NULL. */
static bool ask(struct line_reader *reader, u32 what, const char *symbol, u64 begin,
		u64 number)
{
	size_t length = symbol ? strlen(symbol) + 1 : 0;
	struct helper_message *message;
	char fate[64];

	if (!reader || reader->over || length > SYMBOL_MAX)
		return false;
	message = &reader->helper.message;
	message->what = what;
	message->begin = begin;
	message->number = number;
	message->size = length;
	memcpy(message->bytes, symbol ? symbol : "", length);
	reader->helper.wait_ms = SECONDS * 1000;
	if (helper_ask(&reader->helper))
		return true;
	reader->over = true;
	say_note("the process that reads %s %s: nothing more is read of it", reader->path,
		 helper_fate(&reader->helper, fate, sizeof(fate)));
	return false;
}

/**
 * line_reader_get() - the line that an instruction was made of
 * @reader: of the file; may be NULL
 * @symbol: function, as for source_symbol_text(); NULL: none
 * @address: of the instruction, as the file was linked; with @symbol from its begin
 * @text: receives "fork.c:31"
 * @size: its bytes
 *
 * Return: true if it is known; a note says once why no more is.
 */
static bool line_reader_get(struct line_reader *reader, const char *symbol, u64 address,
			    char *text, size_t size)
{
	return ask(reader, ASK_LINE, symbol, address, 0) &&
	       helper_text(&reader->helper.message, text, size);
}

/**
 * line_reader_build_id() - which build the file is
 * @reader: of the file; may be NULL
 * @id: filled
 *
 * Return: false if it has no build id.
 */
static bool line_reader_build_id(struct line_reader *reader, struct build_id *id)
{
	if (!ask(reader, ASK_ID, NULL, 0, 0) || reader->helper.message.size != sizeof(*id))
		return false;
	memcpy(id, reader->helper.message.bytes, sizeof(*id));
	return id->size && id->size <= BUILD_ID_MAX;
}

/**
 * line_reader_symbols() - the symbols of a vmlinux
 * @reader: of the file; may be NULL
 * @symbols: table that they are added to; not searched yet
 * @bias: added to each address
 *
 * Return: true if there are any.
 */
static bool line_reader_symbols(struct line_reader *reader, struct symbols *symbols, u64 bias)
{
	size_t before = symbols_count(symbols);
	u64 next = 0, from;

	/* Each answer has some more of them, or it was the last. */
	do {
		from = next;
		if (!ask(reader, ASK_SYMBOLS, NULL, from, bias))
			break;
		next = reader->helper.message.end;
	} while (next > from && symbols_take(symbols, &reader->helper.message, 0));
	return symbols_count(symbols) > before;
}

/* x86 moves its kernel by multiples of 2 MiB, and by less than 1 GiB. */
#define MOVED_ALIGN	(2U << 20)
#define MOVED_MAX	(1U << 30)
/* Each has a process. */
#define MODULES_MAX	64U

/* @lines: of its file; NULL: there is none. */
struct module_lines {
	struct module_lines *next;
	char name[64];
	char id[BUILD_ID_TEXT];
	char path[4096];
	struct line_reader *lines;
};

/* Of its release. Debug information is more likely in the first ones. */
static const char *const places[] = {
	"/usr/lib/debug/boot/vmlinux-%s",
	"/usr/lib/debug/lib/modules/%s/vmlinux",
	"/boot/vmlinux-%s",
	"/lib/modules/%s/build/vmlinux",
};

static bool is_roots(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && !st.st_uid && !(st.st_mode & 022);
}

static bool is_id(const struct build_id *id, const char *wanted)
{
	char text[BUILD_ID_TEXT];

	build_id_text(id, text);
	return !strcmp(text, wanted);
}

/* The descriptor of a file of root's that has the build id, or -1. */
static int file_open(const char *path, const char *wanted)
{
	int fd = file_open_regular(path);
	struct build_id id;

	if (fd < 0 || (is_roots(fd) && debug_file_build_id(fd, &id) && is_id(&id, wanted)))
		return fd;
	close(fd);
	return -1;
}

static void id_path(const char *id, char *path, size_t size)
{
	snprintf(path, size, "/usr/lib/debug/.build-id/%.2s/%s.debug", id, id + 2);
}

static bool file_find(struct kernel_debug *debug)
{
	u32 i;

	if (debug->tried)
		return debug->fd >= 0;
	debug->tried = true;
	if (!debug->id[0])
		return false;
	id_path(debug->id, debug->path, sizeof(debug->path));
	debug->fd = file_open(debug->path, debug->id);
	for (i = 0; debug->fd < 0 && debug->release[0] && i < ARRAY_SIZE(places); i++) {
		snprintf(debug->path, sizeof(debug->path), places[i], debug->release);
		debug->fd = file_open(debug->path, debug->id);
	}
	return debug->fd >= 0;
}

/* Of what a dump says nothing becomes another folder. */
static void info_read(struct kernel_debug *debug, const char *info)
{
	char moved[32], *end = moved;
	size_t length;

	if (!vmcoreinfo_text(info, "BUILD-ID", debug->id, sizeof(debug->id)))
		debug->id[0] = 0;
	length = strspn(debug->id, "0123456789abcdef");
	if (length < 16 || debug->id[length])
		debug->id[0] = 0;
	if (vmcoreinfo_text(info, "KERNELOFFSET", moved, sizeof(moved)))
		debug->moved = strtoull(moved, &end, 16);
	if (end == moved || *end || debug->moved % MOVED_ALIGN || debug->moved >= MOVED_MAX)
		debug->id[0] = 0;
	if (!vmcoreinfo_text(info, "OSRELEASE", debug->release, sizeof(debug->release)) ||
	    debug->release[0] == '.' || strchr(debug->release, '/'))
		debug->release[0] = 0;
}

/* Anybody's file: only its reader looks into it. */
static bool named_take(struct kernel_debug *debug)
{
	struct build_id id;

	debug->lines = line_reader_create(debug->fd, debug->path);
	debug->lines_tried = line_reader_build_id(debug->lines, &id) && is_id(&id, debug->id);
	if (debug->lines_tried)
		return true;
	line_reader_destroy(debug->lines);
	debug->lines = NULL;
	return false;
}

bool kernel_debug_open(struct kernel_debug *debug, const char *info, const char *path)
{
	debug->fd = -1;
	info_read(debug, info);
	if (!path)
		return true;
	debug->fd = file_open_tell(path);
	if (debug->fd < 0)
		return false;
	snprintf(debug->path, sizeof(debug->path), "%s", path);
	debug->tried = named_take(debug);
	if (debug->tried)
		return true;
	close(debug->fd);
	debug->fd = -1;
	if (!debug->id[0])
		say_note("--vmlinux %s: it is not used, as the dump does not say the build id of its kernel, or not how far that was moved",
			 path);
	else
		say_note("--vmlinux %s: its build id is not that of the kernel that died, %s: it is not used",
			 path, debug->id);
	return true;
}

void kernel_debug_close(struct kernel_debug *debug)
{
	struct module_lines *module;

	line_reader_destroy(debug->lines);
	while ((module = debug->modules)) {
		debug->modules = module->next;
		line_reader_destroy(module->lines);
		free(module);
	}
	if (debug->tried && debug->fd >= 0)
		close(debug->fd);
	*debug = (struct kernel_debug){ .fd = -1 };
}

/* NULL: there is no vmlinux. */
static struct line_reader *reader_get(struct kernel_debug *debug)
{
	if (!debug->lines_tried && file_find(debug))
		debug->lines = line_reader_create(debug->fd, debug->path);
	debug->lines_tried = true;
	return debug->lines;
}

bool kernel_debug_symbols(struct kernel_debug *debug, struct symbols *symbols)
{
	if (!debug || !line_reader_symbols(reader_get(debug), symbols, debug->moved))
		return false;
	say_note("names of the kernel come from %s", debug->path);
	return true;
}

static bool module_file_take(void *ctx, const char *path)
{
	struct module_lines *module = ctx;
	int fd = file_open(path, module->id);

	if (fd < 0)
		return false;
	snprintf(module->path, sizeof(module->path), "%s", path);
	module->lines = line_reader_create(fd, module->path);
	close(fd);
	return true;
}

static void module_open(struct kernel_debug *debug, struct module_lines *module)
{
	char path[sizeof(module->id) + 64];
	struct build_id id;

	if (!(debug->memory ?
	      crash_module_build_id(debug->memory, &debug->layout, module->name, &id) :
	      running_module_build_id(module->name, &id)) ||
	    id.size < 2)
		return;
	build_id_text(&id, module->id);
	id_path(module->id, path, sizeof(path));
	if (!module_file_take(module, path) && debug->release[0])
		module_files_each(debug->release, module->name, module_file_take, module);
}

/* NULL if there are too many, or no memory. */
static struct module_lines *module_get(struct kernel_debug *debug, const char *name)
{
	struct module_lines *module;

	for (module = debug->modules; module; module = module->next) {
		if (!strcmp(module->name, name))
			return module;
	}
	if (debug->module_count == MODULES_MAX || strlen(name) >= sizeof(module->name))
		return NULL;
	module = calloc(1, sizeof(*module));
	if (!module)
		return NULL;
	strcpy(module->name, name);
	module->next = debug->modules;
	debug->modules = module;
	debug->module_count++;
	module_open(debug, module);
	return module;
}

static bool source_find(void *ctx, u64 address, const struct place *place, char *text,
			size_t size)
{
	struct kernel_debug *debug = ctx;
	struct module_lines *module;

	if (strcmp(place->object, "kernel")) {
		module = module_get(debug, place->object);
		return module && place->symbol &&
		       line_reader_get(module->lines, place->symbol, place->offset, text, size);
	}
	return line_reader_get(reader_get(debug), NULL, address - debug->moved, text, size);
}

void kernel_debug_names(struct kernel_debug *debug, struct names *names)
{
	names_kernel_source(names, source_find, debug);
}
