// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kernel text, see kernel_text.h. Which pages are text is known from kallsyms:
 * each text symbol reaches to the next one, within a bound; what trampolines
 * and BPF programs there are have symbols too.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../cli/list_room.h"
#include "../cli/messages.h"
#include "code_pages.h"
#include "kernel_symbols.h"
#include "kernel_text.h"

#define KCORE		"/proc/kcore"
#define SEGMENTS_MAX	4096
/* A text symbol that seems to be larger has something else after it. */
#define SYMBOL_MAX	65536

/* 16 MiB: the text of most kernels. */
#define CACHED_PAGES	4096

struct kcore_page {
	u64 address;
	bool known, there;
	u8 bytes[PAGE_BYTES];
};

struct kcore {
	int fd;
	struct kcore_page *pages;
	Elf64_Phdr *segments;
	unsigned int count;
	bool (*take)(void *ctx, u64 address, const u8 *page);
	void *ctx;
	u64 next;
	u64 text, etext;
	bool found, failed;
};

static bool segments_read(struct kcore *core)
{
	Elf64_Ehdr head;
	ssize_t size;

	if (pread(core->fd, &head, sizeof(head), 0) != sizeof(head) ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG) ||
	    head.e_phentsize != sizeof(*core->segments) ||
	    head.e_phnum > SEGMENTS_MAX) {
		say_error(KCORE " is no ELF core file");
		return false;
	}
	size = head.e_phnum * sizeof(*core->segments);
	core->segments = malloc(size);
	core->count = head.e_phnum;
	if (core->segments &&
	    pread(core->fd, core->segments, size, head.e_phoff) == size)
		return true;
	say_errno(errno, "cannot read " KCORE);
	return false;
}

static u32 bytes_read(const struct kcore *core, u64 address, u8 *bytes,
		      u32 size)
{
	unsigned int i;
	ssize_t got;

	for (i = 0; i < core->count; i++) {
		const Elf64_Phdr *s = &core->segments[i];

		if (s->p_type != PT_LOAD || address < s->p_vaddr ||
		    address - s->p_vaddr >= s->p_memsz)
			continue;
		if (size > s->p_memsz - (address - s->p_vaddr))
			size = s->p_memsz - (address - s->p_vaddr);
		got = pread(core->fd, bytes, size,
			    s->p_offset + (address - s->p_vaddr));
		return got > 0 ? got : 0;
	}
	return 0;
}

bool kcore_notes(const struct kcore *core, u64 *begin, u64 *end)
{
	unsigned int i;

	for (i = 0; i < core->count; i++) {
		if (core->segments[i].p_type != PT_NOTE)
			continue;
		*begin = core->segments[i].p_offset;
		*end = *begin + core->segments[i].p_filesz;
		return true;
	}
	return false;
}

u32 kcore_file_read(void *core, u64 offset, void *bytes, u32 size)
{
	ssize_t got = pread(((const struct kcore *)core)->fd, bytes, size, offset);

	return got > 0 ? got : 0;
}

static bool page_read(const struct kcore *core, u64 address, u8 *page)
{
	return bytes_read(core, address, page, PAGE_BYTES) == PAGE_BYTES;
}

/* Each read makes the kernel copy twice and look through its list. */
static const struct kcore_page *page_cached(struct kcore *core, u64 address)
{
	struct kcore_page *page;

	if (!core->pages)
		core->pages = calloc(CACHED_PAGES, sizeof(*core->pages));
	if (!core->pages)
		return NULL;
	page = &core->pages[address / PAGE_BYTES % CACHED_PAGES];
	if (!page->known || page->address != address) {
		page->known = true;
		page->address = address;
		page->there = page_read(core, address, page->bytes);
	}
	return page->there ? page : NULL;
}

u32 kcore_read(struct kcore *core, u64 address, u8 *bytes, u32 size)
{
	const struct kcore_page *page;
	u32 done = 0, offset, part;

	while (done < size) {
		offset = (address + done) % PAGE_BYTES;
		part = size - done < PAGE_BYTES - offset ?
		       size - done : PAGE_BYTES - offset;
		page = page_cached(core, address + done - offset);
		if (!page)
			break;
		memcpy(bytes + done, page->bytes + offset, part);
		done += part;
	}
	return done;
}

/* Ranges come in ascending order; no page is written twice. */
static void range_save(struct kcore *core, u64 start, u64 end)
{
	u64 address = start & ~(u64)(PAGE_BYTES - 1);
	u8 page[PAGE_BYTES];

	if (address < core->next)
		address = core->next;
	for (; address < end && !core->failed; address += PAGE_BYTES) {
		if (!page_read(core, address, page))
			continue;
		core->found = true;
		core->failed = !core->take(core->ctx, address, page);
	}
	if (address > core->next)
		core->next = address;
}

struct text_symbol {
	u64 address;
	bool text;
};

struct text_symbols {
	struct text_symbol *list;
	size_t count;
};

static bool symbol_add(struct text_symbols *all, u64 address, bool text)
{
	struct text_symbol *list = list_room(all->list, all->count, sizeof(*list));

	if (!list)
		return false;
	all->list = list;
	list[all->count++] = (struct text_symbol){ address, text };
	return true;
}

static int symbol_compare(const void *left, const void *right)
{
	const struct text_symbol *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return b->text - a->text;
}

static bool symbols_read(struct kcore *core, const char *kallsyms,
			 struct text_symbols *all)
{
	FILE *in = fopen(kallsyms, "re");
	struct kernel_symbol s;
	char line[1024];
	bool ok = in;

	while (ok && fgets(line, sizeof(line), in)) {
		if (!kernel_symbol_parse(line, &s) || !(s.address >> 63))
			continue;
		if (!strcmp(s.name, "_text"))
			core->text = s.address;
		if (!strcmp(s.name, "_etext"))
			core->etext = s.address;
		ok = symbol_add(all, s.address, strchr("tTwW", s.type));
	}
	if (in)
		fclose(in);
	if (ok && all->count && core->text < core->etext)
		return true;
	say_error("cannot find the kernel's text: /proc/kallsyms hides addresses (kernel.kptr_restrict) or has no symbols");
	return false;
}

static void symbols_save(struct kcore *core, const struct text_symbols *all)
{
	size_t i;

	for (i = 0; i < all->count && !core->failed; i++) {
		u64 start = all->list[i].address, end = start + PAGE_BYTES;

		if (!all->list[i].text)
			continue;
		if (i + 1 < all->count &&
		    all->list[i + 1].address - start < SYMBOL_MAX)
			end = all->list[i + 1].address;
		if (start >= core->text && start < core->etext)
			range_save(core, core->text, core->etext);
		range_save(core, start, end);
	}
}

bool kcore_text(struct kcore *core, const char *kallsyms,
		bool (*take)(void *ctx, u64 address, const u8 *page), void *ctx)
{
	struct text_symbols all = { 0 };
	bool ok = symbols_read(core, kallsyms, &all);

	core->take = take;
	core->ctx = ctx;
	if (ok) {
		qsort(all.list, all.count, sizeof(*all.list), symbol_compare);
		symbols_save(core, &all);
	}
	free(all.list);
	if (ok && !core->found)
		say_error("no page of kernel text could be read from " KCORE);
	return ok && core->found && !core->failed;
}

bool kcore_allowed(void)
{
	int fd = open(KCORE, O_RDONLY | O_CLOEXEC), err = errno;

	if (fd >= 0)
		close(fd);
	errno = err;
	return fd >= 0;
}

struct kcore *kcore_open(void)
{
	struct kcore *core = calloc(1, sizeof(*core));

	if (!core)
		return NULL;
	core->fd = open(KCORE, O_RDONLY | O_CLOEXEC);
	if (core->fd < 0)
		say_errno(errno, "cannot open " KCORE);
	else if (segments_read(core))
		return core;
	kcore_close(core);
	return NULL;
}

void kcore_close(struct kcore *core)
{
	if (!core)
		return;
	free(core->segments);
	free(core->pages);
	if (core->fd >= 0)
		close(core->fd);
	free(core);
}

static bool page_save(void *ctx, u64 address, const u8 *page)
{
	return pages_write(ctx, address, page);
}

bool kcore_save_text(const char *kallsyms, const char *name)
{
	struct kcore *core = kcore_open();
	struct pages_writer writer;
	bool ok = core && pages_open(&writer, name);

	if (ok) {
		ok = kcore_text(core, kallsyms, page_save, &writer);
		ok = pages_close(&writer, name) && ok;
	}
	kcore_close(core);
	return ok;
}
