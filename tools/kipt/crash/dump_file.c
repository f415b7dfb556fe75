// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which reader a dump has, see dump_file.h. What is no ELF file libkdumpfile reads, in a
 * process of its own: what a damaged file makes of the library is that process's end, and
 * a sentence. Answers are checked: it may be anything once the library has read a damaged
 * file.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../cli/file_map.h"
#include "../cli/messages.h"
#include "../cli/progress.h"
#include "crash_pages.h"
#include "dump_elf_holes.h"
#include "dump_file.h"
#include "dump_library.h"

#define PAGE		KIPT_CRASH_PAGE_BYTES

/* What its tables need for terabytes. */
#define MEMORY_MAX	(1ULL << 30)
/* One question may take so long, and so much longer on a slow disk. */
#define SECONDS_MAX	60
#define WAIT_MS_MAX	600000

/**
 * struct dump - a dump
 * @fd: the file
 * @path: its name
 * @by_library: it is no ELF file, and a process reads it; the rest is of that
 * @elf: what is read if not @by_library; also of others it has VMCOREINFO
 * @helper: its message has the pages that were read last,
 * @first: from this one on,
 * @here: a bit for each that is there; 0: none
 * @end: page after the last; 0: unknown
 * @next: page after the last ones that were asked for
 * @batch: so many are asked for if that one is wanted
 * @run_begin: pages that are known to be in the file,
 * @run_end: up to before this one
 * @cut: from this one on nothing can be read; ~0: there is none
 * @damaged: so many could not be read
 */
struct dump {
	int fd;
	const char *path;
	bool by_library;
	struct dump_elf elf;
	struct helper helper;
	u64 first;
	u64 here;
	u64 end;
	u64 next;
	u32 batch;
	u64 run_begin;
	u64 run_end;
	u64 cut;
	u64 damaged;
};

/* Returns the answer, or NULL; nothing is there any more then. */
static const struct helper_message *ask(struct dump *dump, u32 what,
					u64 begin, u64 end)
{
	struct helper *helper = &dump->helper;
	bool asked = helper->pid;
	char fate[64];

	dump->here = 0;
	helper->wait_ms = WAIT_MS_MAX;
	helper->message.what = what;
	helper->message.size = 0;
	helper->message.begin = begin;
	helper->message.end = end;
	if (helper_ask(helper))
		return &helper->message;
	dump->run_end = 0;
	if (asked && what != DUMP_ASK_OPEN && !progress_interrupted())
		say_note("libkdumpfile, which reads %s, %s: the dump is damaged, and the rest of it is missing",
			 dump->path, helper_fate(helper, fate, sizeof(fate)));
	return NULL;
}

/* The first answer says whether it is a dump, and has VMCOREINFO. */
static bool library_greet(struct dump *dump)
{
	const struct helper_message *answer = ask(dump, DUMP_ASK_OPEN, 0, 0);
	const char *text;

	if (!answer) {
		if (!progress_interrupted())
			say_error("cannot read %s as a dump: it is damaged, and libkdumpfile cannot bear that",
				  dump->path);
		return false;
	}
	text = answer->size && !answer->bytes[answer->size - 1] ?
	       (const char *)answer->bytes : "";
	if (answer->number != 1) {
		say_error("cannot read %s as a dump: %s", dump->path, text);
		return false;
	}
	if (answer->end <= CRASH_PHYSICAL_END / PAGE)
		dump->end = answer->end;
	dump->elf.info = *text ? strdup(text) : NULL;
	return true;
}

/*
 * Start the process, and have it open the dump. The file may be anything, so that also the
 * library's own refusal comes as its answer. True, or false after a sentence.
 */
static bool library_open(struct dump *dump)
{
	const struct helper_work work = {
		.serve = dump_library_serve,
		.ctx = &dump->fd,
		.fd = dump->fd,
		.memory = MEMORY_MAX,
	};

	dump->by_library = true;
	dump->cut = ~0ULL;
	dump->helper.seconds = SECONDS_MAX;
	if (helper_start(&dump->helper, &work))
		return library_greet(dump);
	say_errno(errno, "cannot read %s", dump->path);
	return false;
}

/* What could not be read. */
static void losses_tell(const struct dump *dump)
{
	if (dump->cut != ~0ULL)
		say_note("pages of this dump could not be read: after 0x%llx it is damaged, or its file ends before them",
			 (unsigned long long)dump->cut * PAGE);
	else if (dump->damaged)
		say_note("%llu pages of this dump could not be read: they are damaged",
			 (unsigned long long)dump->damaged);
}

/* Who reads pages in their order gets more of them at once. */
static const u8 *page_get(struct dump *dump, u64 page)
{
	const struct helper_message *answer;
	u64 number = page - dump->first;

	if (number >= DUMP_BATCH || !(dump->here >> number & 1)) {
		dump->batch = page != dump->next ? 1 :
			       dump->batch < DUMP_BATCH ? 2 * dump->batch :
							   DUMP_BATCH;
		dump->next = page + dump->batch;
		answer = ask(dump, DUMP_ASK_READ, page, dump->next);
		if (!answer || answer->size != dump->batch * PAGE)
			return NULL;
		dump->first = page;
		dump->here = answer->number & ((1ULL << dump->batch) - 1);
		dump->cut = answer->begin;
		dump->damaged = answer->end;
		number = 0;
	}
	return dump->here >> number & 1 ?
	       dump->helper.message.bytes + number * PAGE : NULL;
}

/* How many bytes are there in a row, up to @size: a page that cannot be read ends it. */
static u32 library_read(struct dump *dump, u64 address, void *bytes, u32 size)
{
	u32 done, part;
	const u8 *page;

	if (address >= CRASH_PHYSICAL_END || size > CRASH_PHYSICAL_END - address)
		return 0;
	for (done = 0; done < size; done += part) {
		u64 at = address + done;

		part = PAGE - at % PAGE;
		if (part > size - done)
			part = size - done;
		page = page_get(dump, at / PAGE);
		if (!page)
			break;
		memcpy((u8 *)bytes + done, page + at % PAGE, part);
	}
	return done;
}

/*
 * As dump_next(). The answer is a row of pages that are in the file: so one question does
 * for many pages, and none is asked of what is known to be damaged to the end.
 */
static bool library_next(struct dump *dump, u64 *address)
{
	u64 page = (*address + PAGE - 1) / PAGE;
	const struct helper_message *answer;

	if (page < dump->run_begin || page >= dump->run_end) {
		answer = ask(dump, DUMP_ASK_NEXT, page, 0);
		if (!answer || answer->number != 1 || answer->begin < page ||
		    answer->end <= answer->begin ||
		    answer->end > CRASH_PHYSICAL_END / PAGE)
			return false;
		dump->run_begin = answer->begin;
		dump->run_end = answer->end;
		page = answer->begin;
	}
	if (page >= dump->cut)
		return false;
	*address = page * PAGE;
	return true;
}

/* makedumpfile's output where it could not seek. */
static bool is_flattened(int fd)
{
	static const char signature[16] = "makedumpfile";

	return file_begins_with(fd, signature, sizeof(signature));
}

static bool reader_open(struct dump *dump)
{
	if (dump_elf_is(dump->fd))
		return dump_elf_open(&dump->elf, dump->fd, dump->path);
	if (is_flattened(dump->fd)) {
		say_error("%s is a flattened dump: 'makedumpfile -R NEW <%s' makes one that can be read",
			  dump->path, dump->path);
		return false;
	}
	if (file_begins_with(dump->fd, "PERFILE2", 8)) {
		say_error("cannot read %s as a dump: it is a perf.data; 'kipt open' opens perf.data and raw traces",
			  dump->path);
		return false;
	}
	return library_open(dump);
}

struct dump *dump_open(const char *path)
{
	struct dump *dump = calloc(1, sizeof(*dump));

	if (!dump) {
		say_errno(ENOMEM, "cannot read %s", path);
		return NULL;
	}
	dump->path = path;
	dump->fd = file_open_tell(path);
	if (dump->fd >= 0 && reader_open(dump))
		return dump;
	dump_close(dump);
	return NULL;
}

void dump_close(struct dump *dump)
{
	if (!dump)
		return;
	if (dump->by_library) {
		losses_tell(dump);
		helper_end(&dump->helper);
	}
	dump_elf_close(&dump->elf);
	if (dump->fd >= 0)
		close(dump->fd);
	free(dump);
}

static u32 source_read(void *ctx, u64 address, void *bytes, u32 size)
{
	struct dump *dump = ctx;

	return dump->by_library ? library_read(dump, address, bytes, size) :
				  dump_elf_read(&dump->elf, address, bytes, size);
}

struct crash_source dump_source(struct dump *dump)
{
	return (struct crash_source){ .read = source_read, .ctx = dump };
}

bool dump_next(struct dump *dump, u64 *address)
{
	return dump->by_library ? library_next(dump, address) :
				  dump_elf_next(&dump->elf, address);
}

u64 dump_end(const struct dump *dump)
{
	const struct dump_part *last = dump->elf.parts + dump->elf.count - 1;

	return dump->by_library ? dump->end * PAGE : last->address + last->size;
}

char *dump_vmcoreinfo(struct dump *dump)
{
	return dump->elf.info ? strdup(dump->elf.info) : NULL;
}
