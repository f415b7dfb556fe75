// SPDX-License-Identifier: GPL-2.0-only
/*
 * Dumps by libkdumpfile, see dump.h. Memory is asked for by the machine's
 * physical addresses: that needs nothing to be known of the system in it.
 *
 * A page that cannot be read damages the library's cache: sooner or later it
 * writes to where no memory is (seen in 0.5.1). So only pages are asked for
 * that are in the file, and when one of them is damaged the dump is opened
 * again, and that page is never asked for again.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libkdumpfile/kdumpfile.h>

#include "dump.h"
#include "dump_elf.h"
#include "file_map.h"
#include "say.h"

#define PAGE		KIPT_CRASH_PAGE_BYTES
/* Pages the library may keep; its default is four times as much. */
#define CACHE_PAGES	256
/* So many damaged pages behind the last good one may be the end of the file. */
#define DAMAGED_AT_END	64
/* So many places behind it are to have none that is good. */
#define PROBES		16

/**
 * struct dump - a dump
 * @ctx: the library's; NULL: it could not be opened again
 * @fd: the file
 * @elf: its parts, if it is an ELF file
 * @pages: that are in the file; NULL: the library cannot tell
 * @damaged: those that cannot be read, one bit each, up to @end
 * @end: page behind the last; 0: unknown
 * @good_end: page behind the last one that could be read
 * @behind: damaged ones from there on
 * @spoiled: damaged ones
 * @cut: page from which on nothing can be read
 */
struct dump {
	kdump_ctx_t *ctx;
	int fd;
	struct dump_elf elf;
	kdump_bmp_t *pages;
	u8 *damaged;
	u64 end;
	u64 good_end;
	u32 behind;
	u32 spoiled;
	u64 cut;
};

/* makedumpfile's output where it could not seek. */
static bool is_flattened(int fd)
{
	static const char signature[16] = "makedumpfile";
	char bytes[sizeof(signature)];

	return pread(fd, bytes, sizeof(bytes), 0) == sizeof(bytes) &&
	       !memcmp(bytes, signature, sizeof(bytes));
}

static void pages_get(struct dump *dump)
{
	kdump_attr_t attr = { .type = KDUMP_BITMAP };

	if (kdump_get_typed_attr(dump->ctx, KDUMP_ATTR_FILE_PAGEMAP, &attr))
		return;
	dump->pages = attr.val.bitmap;
	kdump_bmp_incref(dump->pages);
}

/* What could not be opened the library may free twice (seen in 0.5.1): it is
 * left to the end of the process.
 */
static void context_leave(struct dump *dump)
{
	dump->ctx = NULL;
}

/* Mapped, a file that gets shorter meanwhile would end the process, and there
 * may be little memory.
 */
static kdump_status context_read(struct dump *dump)
{
	kdump_set_number_attr(dump->ctx, "cache.size", CACHE_PAGES);
	kdump_set_number_attr(dump->ctx, KDUMP_ATTR_FILE_MMAP_POLICY,
			      KDUMP_MMAP_NEVER);
	return kdump_open_fd(dump->ctx, dump->fd);
}

static void pages_leave(struct dump *dump)
{
	if (dump->pages)
		kdump_bmp_decref(dump->pages);
	dump->pages = NULL;
}

/* Without it nothing can be read any more. */
static void context_renew(struct dump *dump)
{
	pages_leave(dump);
	kdump_free(dump->ctx);
	dump->ctx = kdump_new();
	if (dump->ctx && context_read(dump))
		context_leave(dump);
	if (dump->ctx)
		pages_get(dump);
}

static bool damaged_create(struct dump *dump)
{
	kdump_num_t pages = 0;

	if (!kdump_get_number_attr(dump->ctx, "max_pfn", &pages) &&
	    pages < CRASH_PHYSICAL_END / PAGE)
		dump->end = pages;
	dump->cut = ~0ULL;
	dump->damaged = calloc(dump->end / 8 + 1, 1);
	return dump->damaged;
}

static bool context_open(struct dump *dump, const char *path)
{
	kdump_num_t size = 0;

	dump->ctx = kdump_new();
	if (!dump->ctx) {
		say_errno(ENOMEM, "cannot read %s", path);
		return false;
	}
	if (context_read(dump)) {
		if (is_flattened(dump->fd))
			say_error("%s is a flattened dump: 'makedumpfile -R NEW <%s' makes one that can be read",
				  path, path);
		else
			say_error("cannot read %s as a dump: %s", path,
				  kdump_get_err(dump->ctx));
		context_leave(dump);
		return false;
	}
	if (kdump_get_number_attr(dump->ctx, KDUMP_ATTR_PAGE_SIZE, &size) ||
	    size != PAGE) {
		say_error("%s is no dump of an x86-64 machine", path);
		return false;
	}
	pages_get(dump);
	if (damaged_create(dump) && dump_elf_read(&dump->elf, dump->fd)) {
		if (dump->elf.missing)
			say_note("%s is cut short: %.1f MiB of its memory are missing",
				 path, (double)dump->elf.missing / 1048576);
		return true;
	}
	say_errno(ENOMEM, "cannot read %s", path);
	return false;
}

struct dump *dump_open(const char *path)
{
	struct dump *dump = calloc(1, sizeof(*dump));

	if (!dump) {
		say_errno(ENOMEM, "cannot read %s", path);
		return NULL;
	}
	dump->fd = file_open_tell(path);
	if (dump->fd >= 0 && context_open(dump, path))
		return dump;
	dump_close(dump);
	return NULL;
}

static void losses_tell(const struct dump *dump)
{
	if (dump->cut != ~0ULL)
		say_note("pages of this dump could not be read: behind 0x%llx it is damaged, or its file ends before them",
			 (unsigned long long)dump->cut * PAGE);
	else if (dump->spoiled)
		say_note("%u pages of this dump could not be read: they are damaged",
			 dump->spoiled);
}

void dump_close(struct dump *dump)
{
	if (!dump)
		return;
	if (dump->damaged)
		losses_tell(dump);
	pages_leave(dump);
	if (dump->ctx)
		kdump_free(dump->ctx);
	if (dump->fd >= 0)
		close(dump->fd);
	free(dump->elf.parts);
	free(dump->damaged);
	free(dump);
}

/* The first page from @page on that is in the file; false: there is none. */
static bool page_next(const struct dump *dump, u64 *page)
{
	kdump_addr_t next = *page;

	if (!dump->pages)
		return *page < dump->end;
	if (kdump_bmp_find_set(dump->pages, &next))
		return false;
	*page = next;
	return true;
}

/* In the file, and not known to be damaged. */
static bool page_is_there(const struct dump *dump, u64 page)
{
	u64 there = page;

	if (!dump->ctx || page >= dump->cut)
		return false;
	if (page < dump->end && dump->damaged[page / 8] >> page % 8 & 1)
		return false;
	return !dump->pages || (page_next(dump, &there) && there == page);
}

static void page_spoil(struct dump *dump, u64 page)
{
	dump->spoiled++;
	if (page < dump->end)
		dump->damaged[page / 8] |= (u8)(1U << page % 8);
	if (page >= dump->good_end)
		dump->behind++;
	context_renew(dump);
}

static bool page_get(struct dump *dump, u64 address, void *bytes, u32 size)
{
	u64 page = address / PAGE;
	size_t done = size;

	if (!page_is_there(dump, page))
		return false;
	if (kdump_read(dump->ctx, KDUMP_MACHPHYSADDR, address, bytes, &done) ||
	    done < size) {
		page_spoil(dump, page);
		return false;
	}
	if (page >= dump->good_end) {
		dump->good_end = page + 1;
		dump->behind = 0;
	}
	return true;
}

/* Is there a page in the file from @page on and before @end, and can the first of
 * them be read?
 */
static bool page_try(struct dump *dump, u64 page, u64 end)
{
	u8 byte;

	return page_next(dump, &page) && page < end &&
	       page_get(dump, page * PAGE, &byte, 1);
}

/* Does the file end before its pages do? They stand in it in their order; what is
 * damaged in the middle has good ones behind.
 */
static void cut_find(struct dump *dump)
{
	u64 good = dump->good_end, bad = dump->end, middle;
	u32 i;

	while (good < bad) {
		middle = good + (bad - good) / 2;
		if (page_try(dump, middle, bad))
			good = middle + 1;
		else
			bad = middle;
	}
	for (i = 0; i < PROBES; i++)
		if (page_try(dump, bad + (dump->end - bad) * i / PROBES,
			     dump->end))
			return;
	if (bad < dump->end)
		dump->cut = bad;
}

static bool page_read(struct dump *dump, u64 address, void *bytes, u32 size)
{
	if (page_get(dump, address, bytes, size))
		return true;
	if (dump->behind >= DAMAGED_AT_END && dump->cut == ~0ULL) {
		cut_find(dump);
		dump->behind = 0;
	}
	return false;
}

static u32 source_read(void *ctx, u64 address, void *bytes, u32 size)
{
	struct dump *dump = ctx;
	u32 done, part;

	if (address + size < address)
		return 0;
	size = dump_elf_there(&dump->elf, address, size);
	for (done = 0; done < size; done += part) {
		part = PAGE - (address + done) % PAGE;
		if (part > size - done)
			part = size - done;
		if (!page_read(dump, address + done, (u8 *)bytes + done, part))
			break;
	}
	return done;
}

struct crash_source dump_source(struct dump *dump)
{
	return (struct crash_source){ .read = source_read, .ctx = dump };
}

/* What a segment says to have is not what is in the file. */
bool dump_next(struct dump *dump, u64 *address)
{
	u64 at;

	do {
		u64 page = (*address + PAGE - 1) / PAGE;

		if (!page_next(dump, &page))
			return false;
		if (page >= CRASH_PHYSICAL_END / PAGE || page >= dump->cut)
			return false;
		at = page * PAGE;
		*address = at;
		if (!dump_elf_next(&dump->elf, address))
			return false;
	} while (*address != at);
	return true;
}

u64 dump_end(const struct dump *dump)
{
	return dump->end * PAGE;
}

/* Without being told which system it is the library has none. */
char *dump_vmcoreinfo(struct dump *dump)
{
	char *text = NULL;

	if (!dump->ctx)
		return NULL;
	if (!kdump_vmcoreinfo_raw(dump->ctx, &text))
		return text;
	kdump_set_string_attr(dump->ctx, KDUMP_ATTR_OSTYPE, "linux");
	if (kdump_vmcoreinfo_raw(dump->ctx, &text))
		return NULL;
	return text;
}
