// SPDX-License-Identifier: GPL-2.0-only
/*
 * Asks the process that runs libkdumpfile, see dump_child.h. Answers are checked:
 * it may be anything once the library has read a damaged file.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../cli/messages.h"
#include "../cli/progress.h"
#include "crash_pages.h"
#include "dump_child.h"
#include "dump_library.h"

#define PAGE		KIPT_CRASH_PAGE_BYTES

/* What its tables need for terabytes. */
#define MEMORY_MAX	(1ULL << 30)
/* One question may take so long, and so much longer on a slow disk. */
#define SECONDS_MAX	60
#define WAIT_MS_MAX	600000

/**
 * struct dump_child - a dump
 * @helper: its message has the pages that were read last,
 * @first: from this one on,
 * @here: a bit for each that is there; 0: none
 * @path: of the dump
 * @info: VMCOREINFO
 * @end: page after the last; 0: unknown
 * @next: page after the last ones that were asked for
 * @batch: so many are asked for if that one is wanted
 * @run_begin: pages that are known to be in the file,
 * @run_end: up to before this one
 * @cut: from this one on nothing can be read; ~0: there is none
 * @damaged: so many could not be read
 */
struct dump_child {
	struct helper helper;
	u64 first;
	u64 here;
	const char *path;
	char *info;
	u64 end;
	u64 next;
	u32 batch;
	u64 run_begin;
	u64 run_end;
	u64 cut;
	u64 damaged;
};

/* Returns the answer, or NULL; nothing is there any more then. */
static const struct helper_message *ask(struct dump_child *child, u32 what,
					u64 begin, u64 end)
{
	struct helper *helper = &child->helper;
	bool asked = helper->pid;
	char fate[64];

	child->here = 0;
	helper->wait_ms = WAIT_MS_MAX;
	helper->message.what = what;
	helper->message.size = 0;
	helper->message.begin = begin;
	helper->message.end = end;
	if (helper_ask(helper))
		return &helper->message;
	child->run_end = 0;
	if (asked && what != DUMP_ASK_OPEN && !progress_interrupted())
		say_note("libkdumpfile, which reads %s, %s: the dump is damaged, and the rest of it is missing",
			 child->path, helper_fate(helper, fate, sizeof(fate)));
	return NULL;
}

static bool child_greet(struct dump_child *child)
{
	const struct helper_message *answer = ask(child, DUMP_ASK_OPEN, 0, 0);
	const char *text;

	if (!answer) {
		if (!progress_interrupted())
			say_error("cannot read %s as a dump: it is damaged, and libkdumpfile cannot bear that",
				  child->path);
		return false;
	}
	text = answer->size && !answer->bytes[answer->size - 1] ?
	       (const char *)answer->bytes : "";
	if (answer->number != 1) {
		say_error("cannot read %s as a dump: %s", child->path, text);
		return false;
	}
	if (answer->end <= CRASH_PHYSICAL_END / PAGE)
		child->end = answer->end;
	child->info = *text ? strdup(text) : NULL;
	return true;
}

struct dump_child *dump_child_open(int fd, const char *path)
{
	struct dump_child *child = calloc(1, sizeof(*child));
	const struct helper_work work = {
		.serve = dump_library_serve,
		.ctx = &fd,
		.fd = fd,
		.memory = MEMORY_MAX,
	};

	if (child) {
		child->path = path;
		child->cut = ~0ULL;
		child->helper.seconds = SECONDS_MAX;
	}
	if (!child || !helper_start(&child->helper, &work))
		say_errno(errno, "cannot read %s", path);
	else if (child_greet(child))
		return child;
	dump_child_close(child);
	return NULL;
}

static void losses_tell(const struct dump_child *child)
{
	if (child->cut != ~0ULL)
		say_note("pages of this dump could not be read: after 0x%llx it is damaged, or its file ends before them",
			 (unsigned long long)child->cut * PAGE);
	else if (child->damaged)
		say_note("%llu pages of this dump could not be read: they are damaged",
			 (unsigned long long)child->damaged);
}

void dump_child_close(struct dump_child *child)
{
	if (!child)
		return;
	losses_tell(child);
	helper_end(&child->helper);
	free(child->info);
	free(child);
}

/* Who reads pages in their order gets more of them at once. */
static const u8 *page_get(struct dump_child *child, u64 page)
{
	const struct helper_message *answer;
	u64 number = page - child->first;

	if (number >= DUMP_BATCH || !(child->here >> number & 1)) {
		child->batch = page != child->next ? 1 :
			       child->batch < DUMP_BATCH ? 2 * child->batch :
							   DUMP_BATCH;
		child->next = page + child->batch;
		answer = ask(child, DUMP_ASK_READ, page, child->next);
		if (!answer || answer->size != child->batch * PAGE)
			return NULL;
		child->first = page;
		child->here = answer->number & ((1ULL << child->batch) - 1);
		child->cut = answer->begin;
		child->damaged = answer->end;
		number = 0;
	}
	return child->here >> number & 1 ?
	       child->helper.message.bytes + number * PAGE : NULL;
}

u32 dump_child_read(struct dump_child *child, u64 address, void *bytes,
		    u32 size)
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
		page = page_get(child, at / PAGE);
		if (!page)
			break;
		memcpy((u8 *)bytes + done, page + at % PAGE, part);
	}
	return done;
}

bool dump_child_next(struct dump_child *child, u64 *address)
{
	u64 page = (*address + PAGE - 1) / PAGE;
	const struct helper_message *answer;

	if (page < child->run_begin || page >= child->run_end) {
		answer = ask(child, DUMP_ASK_NEXT, page, 0);
		if (!answer || answer->number != 1 || answer->begin < page ||
		    answer->end <= answer->begin ||
		    answer->end > CRASH_PHYSICAL_END / PAGE)
			return false;
		child->run_begin = answer->begin;
		child->run_end = answer->end;
		page = answer->begin;
	}
	if (page >= child->cut)
		return false;
	*address = page * PAGE;
	return true;
}

u64 dump_child_end(const struct dump_child *child)
{
	return child->end * PAGE;
}

const char *dump_child_info(const struct dump_child *child)
{
	return child->info;
}
