// SPDX-License-Identifier: GPL-2.0-only
/*
 * Dumps by libkdumpfile, see dump_library.h. Memory is asked for by the machine's
 * physical addresses: that needs nothing to be known of the system in it.
 *
 * A page that cannot be read damages the library's cache: sooner or later it
 * writes to where no memory is (seen in 0.5.1). So only pages are asked for
 * that are in the file, and when one of them is damaged the dump is opened
 * again, and that page is never asked for again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libkdumpfile/kdumpfile.h>

#include "crash_pages.h"
#include "dump_library.h"

#define PAGE		KIPT_CRASH_PAGE_BYTES
/* Pages the library may keep; its default is four times as much. */
#define CACHE_PAGES	256
/* So many damaged pages after the last good one may be the end of the file. */
#define DAMAGED_AT_END	64
/* So many places after it are to have none that is good. */
#define PROBES		16

/* The process has one dump. */
static struct {
	/* NULL: it is not open, or could not be opened again. */
	kdump_ctx_t *ctx;
	int fd;
	/* Those in the file; NULL: the library does not know. */
	kdump_bmp_t *pages;
	/* Those that cannot be read, one bit each, up to @end. */
	u8 *damaged;
	u32 damaged_count;
	/* Page after the last; 0: unknown. */
	u64 end;
	/* Page after the last one that could be read, damaged ones from there
	 * on, and the page from which on nothing can be read; ~0: none.
	 */
	u64 good_end;
	u32 damaged_last;
	u64 cut;
} dump = { .cut = ~0ULL };

static void pages_get(void)
{
	kdump_attr_t attr = { .type = KDUMP_BITMAP };

	if (kdump_get_typed_attr(dump.ctx, KDUMP_ATTR_FILE_PAGEMAP, &attr))
		return;
	dump.pages = attr.val.bitmap;
	kdump_bmp_incref(dump.pages);
}

/* Mapped, a file that gets shorter meanwhile would end the process, and there
 * may be little memory.
 */
static kdump_status context_read(void)
{
	kdump_set_number_attr(dump.ctx, "cache.size", CACHE_PAGES);
	kdump_set_number_attr(dump.ctx, KDUMP_ATTR_FILE_MMAP_POLICY,
			      KDUMP_MMAP_NEVER);
	return kdump_open_fd(dump.ctx, dump.fd);
}

/* Without it nothing can be read any more. */
static void context_renew(void)
{
	if (dump.pages)
		kdump_bmp_decref(dump.pages);
	dump.pages = NULL;
	kdump_free(dump.ctx);
	dump.ctx = kdump_new();
	/* What could not be opened the library may free twice (seen in 0.5.1): it is
	 * left to the end of the process.
	 */
	if (dump.ctx && context_read())
		dump.ctx = NULL;
	if (dump.ctx)
		pages_get();
}

static bool damaged_create(void)
{
	kdump_num_t pages = 0;

	if (!kdump_get_number_attr(dump.ctx, "max_pfn", &pages) &&
	    pages < CRASH_PHYSICAL_END / PAGE)
		dump.end = pages;
	dump.damaged = calloc(dump.end / 8 + 1, 1);
	return dump.damaged;
}

static void text_put(struct helper_message *message, const char *text)
{
	snprintf((char *)message->bytes, HELPER_BYTES, "%s", text);
	message->size = strlen((char *)message->bytes) + 1;
}

/* If it is not set which system it is the library has none. */
static void info_put(struct helper_message *message)
{
	char *text = NULL;

	if (kdump_vmcoreinfo_raw(dump.ctx, &text))
		kdump_set_string_attr(dump.ctx, KDUMP_ATTR_OSTYPE, "linux");
	if (text || !kdump_vmcoreinfo_raw(dump.ctx, &text))
		text_put(message, text);
	free(text);
}

static void open_answer(struct helper_message *message)
{
	kdump_num_t page_size = 0;

	dump.ctx = kdump_new();
	if (!dump.ctx) {
		text_put(message, "there is no memory for it");
	} else if (context_read()) {
		text_put(message, kdump_get_err(dump.ctx));
	} else if (kdump_get_number_attr(dump.ctx, KDUMP_ATTR_PAGE_SIZE,
					 &page_size) || page_size != PAGE) {
		text_put(message, "it is of no x86-64 machine");
	} else if (!damaged_create()) {
		text_put(message, "there is no memory for it");
	} else {
		pages_get();
		info_put(message);
		message->number = 1;
		message->end = dump.end;
	}
}

/* The first page from @page on that is in the file; false: there is none. */
static bool page_next(u64 *page)
{
	kdump_addr_t next = *page;

	if (!dump.pages)
		return *page < dump.end;
	if (kdump_bmp_find_set(dump.pages, &next))
		return false;
	*page = next;
	return true;
}

/* In the file, and not known to be damaged. */
static bool page_is_there(u64 page)
{
	u64 there = page;

	if (!dump.ctx || page >= dump.cut)
		return false;
	if (page < dump.end && dump.damaged[page / 8] >> page % 8 & 1)
		return false;
	return !dump.pages || (page_next(&there) && there == page);
}

static void page_spoil(u64 page)
{
	dump.damaged_count++;
	if (page < dump.end)
		dump.damaged[page / 8] |= (u8)(1U << page % 8);
	if (page >= dump.good_end)
		dump.damaged_last++;
	context_renew();
}

static bool page_get(u64 page, u8 *bytes)
{
	size_t done = PAGE;

	if (!page_is_there(page))
		return false;
	if (kdump_read(dump.ctx, KDUMP_MACHPHYSADDR, page * PAGE, bytes,
		       &done) || done < PAGE) {
		page_spoil(page);
		return false;
	}
	if (page >= dump.good_end) {
		dump.good_end = page + 1;
		dump.damaged_last = 0;
	}
	return true;
}

/* Is there a page in the file from @page on and before @end, and can the first of
 * them be read?
 */
static bool page_try(u64 page, u64 end)
{
	u8 bytes[PAGE];

	return page_next(&page) && page < end &&
	       page_get(page, bytes);
}

/* Does the file end before its pages do? They are in it in their order; what is
 * damaged in the middle has good ones after that.
 */
static void cut_find(void)
{
	u64 good = dump.good_end, bad = dump.end, middle;
	u32 i;

	while (good < bad) {
		middle = good + (bad - good) / 2;
		if (page_try(middle, bad))
			good = middle + 1;
		else
			bad = middle;
	}
	for (i = 0; i < PROBES; i++)
		if (page_try(bad + (dump.end - bad) * i / PROBES,
			     dump.end))
			return;
	if (bad < dump.end)
		dump.cut = bad;
}

static bool page_read(u64 page, u8 *bytes)
{
	if (page_get(page, bytes))
		return true;
	if (dump.damaged_last >= DAMAGED_AT_END && dump.cut == ~0ULL) {
		cut_find();
		dump.damaged_last = 0;
	}
	return false;
}

static void read_answer(struct helper_message *message)
{
	u32 i, count = message->end - message->begin;

	for (i = 0; i < count && i < DUMP_BATCH; i++) {
		if (page_read(message->begin + i, message->bytes + i * PAGE))
			message->number |= 1ULL << i;
	}
	message->size = count * PAGE;
	message->begin = dump.cut;
	message->end = dump.damaged_count;
}

static void next_answer(struct helper_message *message)
{
	const u64 last = dump.cut < CRASH_PHYSICAL_END / PAGE ?
			 dump.cut : CRASH_PHYSICAL_END / PAGE;
	kdump_addr_t clear;

	if (!page_next(&message->begin) || message->begin >= last)
		return;
	clear = message->begin;
	if (!dump.pages)
		message->end = dump.end;
	else
		message->end = kdump_bmp_find_clear(dump.pages, &clear) ?
			       last : clear;
	if (message->end > last)
		message->end = last;
	message->number = 1;
}

void dump_library_serve(void *fd, struct helper_message *message)
{
	message->number = 0;
	message->size = 0;
	dump.fd = *(int *)fd;
	if (message->what == DUMP_ASK_OPEN)
		open_answer(message);
	else if (message->what == DUMP_ASK_READ)
		read_answer(message);
	else
		next_answer(message);
}
