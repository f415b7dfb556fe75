// SPDX-License-Identifier: GPL-2.0-only
/*
 * Dumps by libkdumpfile, see dump.h. Memory is asked for by the machine's
 * physical addresses: that needs nothing to be known of the system in it.
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

/* Pages the library may keep; its default is four times as much. */
#define CACHE_PAGES	256

struct dump {
	kdump_ctx_t *ctx;
	int fd;
	struct dump_elf elf;
	/* Pages that are in the file; NULL: the library cannot tell. */
	kdump_bmp_t *pages;
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

static bool context_open(struct dump *dump, const char *path)
{
	kdump_num_t size = 0;

	dump->ctx = kdump_new();
	if (!dump->ctx) {
		say_errno(ENOMEM, "cannot read %s", path);
		return false;
	}
	/* Mapped, a file that gets shorter meanwhile would end the process, and
	 * there may be little memory.
	 */
	kdump_set_number_attr(dump->ctx, "cache.size", CACHE_PAGES);
	kdump_set_number_attr(dump->ctx, KDUMP_ATTR_FILE_MMAP_POLICY,
			      KDUMP_MMAP_NEVER);
	if (kdump_open_fd(dump->ctx, dump->fd)) {
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
	    size != KIPT_CRASH_PAGE_BYTES) {
		say_error("%s is no dump of an x86-64 machine", path);
		return false;
	}
	pages_get(dump);
	if (dump_elf_read(&dump->elf, dump->fd)) {
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

void dump_close(struct dump *dump)
{
	if (!dump)
		return;
	if (dump->pages)
		kdump_bmp_decref(dump->pages);
	if (dump->ctx)
		kdump_free(dump->ctx);
	if (dump->fd >= 0)
		close(dump->fd);
	free(dump->elf.parts);
	free(dump);
}

static u32 source_read(void *ctx, u64 address, void *bytes, u32 size)
{
	struct dump *dump = ctx;
	size_t done;

	if (address + size < address)
		return 0;
	size = dump_elf_there(&dump->elf, address, size);
	done = size;
	if (!kdump_read(dump->ctx, KDUMP_MACHPHYSADDR, address, bytes, &done))
		return size;
	return done < size ? done : 0;
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
		kdump_addr_t page = (*address + KIPT_CRASH_PAGE_BYTES - 1) /
				    KIPT_CRASH_PAGE_BYTES;

		if (dump->pages) {
			if (kdump_bmp_find_set(dump->pages, &page))
				return false;
		} else if (page >= dump_end(dump) / KIPT_CRASH_PAGE_BYTES) {
			return false;
		}
		if (page >= CRASH_PHYSICAL_END / KIPT_CRASH_PAGE_BYTES)
			return false;
		at = page * KIPT_CRASH_PAGE_BYTES;
		*address = at;
		if (!dump_elf_next(&dump->elf, address))
			return false;
	} while (*address != at);
	return true;
}

u64 dump_end(struct dump *dump)
{
	kdump_num_t pages = 0;

	if (kdump_get_number_attr(dump->ctx, "max_pfn", &pages))
		return 0;
	return pages * KIPT_CRASH_PAGE_BYTES;
}

/* Without being told which system it is the library has none. */
char *dump_vmcoreinfo(struct dump *dump)
{
	char *text = NULL;

	if (!kdump_vmcoreinfo_raw(dump->ctx, &text))
		return text;
	kdump_set_string_attr(dump->ctx, KDUMP_ATTR_OSTYPE, "linux");
	if (kdump_vmcoreinfo_raw(dump->ctx, &text))
		return NULL;
	return text;
}
