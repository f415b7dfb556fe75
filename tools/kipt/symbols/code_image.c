// SPDX-License-Identifier: GPL-2.0-only
/*
 * Code by address, see code_image.h. Owns the files it mapped. What the files
 * hold is not trusted.
 */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gelf.h>

#include "../cli/args.h"
#include "../cli/file_map.h"
#include "../cli/messages.h"
#include "code_image.h"
#include "code_pages.h"

/* Bytes at an address; @bytes points into the file of its source. */
struct range {
	u64 start;
	u64 size;
	const u8 *bytes;
};

/* Ranges of one file, sorted, none twice. */
struct source {
	struct file_map file;
	struct range *ranges;
	size_t count;
	struct source *next;
};

struct image {
	/* The latest first. */
	struct source *sources;
};

struct image *image_create(void)
{
	struct image *image = calloc(1, sizeof(*image));

	if (!image)
		say_errno(ENOMEM, "cannot hold code");
	return image;
}

bool image_any(const struct image *image)
{
	return image->sources;
}

void image_destroy(struct image *image)
{
	struct source *source;

	if (!image)
		return;
	while ((source = image->sources)) {
		image->sources = source->next;
		file_map_close(&source->file);
		free(source->ranges);
		free(source);
	}
	free(image);
}

static struct source *source_add(struct image *image, const char *path,
				 size_t ranges)
{
	struct source *source = calloc(1, sizeof(*source));

	if (!source)
		return NULL;
	source->ranges = calloc(ranges ? ranges : 1, sizeof(*source->ranges));
	if (!source->ranges || !file_map_open(&source->file, path)) {
		free(source->ranges);
		free(source);
		return NULL;
	}
	source->next = image->sources;
	return image->sources = source;
}

static int range_compare(const void *left, const void *right)
{
	const struct range *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->bytes < b->bytes ? -1 : a->bytes > b->bytes;
}

static u32 source_read(const struct source *source, u64 address, u8 *bytes,
		       u32 size)
{
	size_t low = 0, high = source->count;
	const struct range *range;
	u64 offset;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (source->ranges[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return 0;
	range = &source->ranges[low - 1];
	offset = address - range->start;
	if (offset >= range->size)
		return 0;
	if (size > range->size - offset)
		size = range->size - offset;
	memcpy(bytes, range->bytes + offset, size);
	return size;
}

u32 image_read(const struct image *image, u64 address, u8 *bytes, u32 size)
{
	const struct source *source;
	u32 done = 0, more;

	do {
		more = 0;
		for (source = image->sources; source && !more;
		     source = source->next)
			more = source_read(source, address + done,
					   bytes + done, size - done);
		done += more;
	} while (more && done < size);
	return done;
}

static void segment_add(struct source *source, const GElf_Phdr *head,
			u64 bias, const char *path, struct maps *maps)
{
	struct mapping mapping = {
		.start = head->p_vaddr + bias,
		.end = head->p_vaddr + bias + head->p_filesz,
		.offset = head->p_offset,
		.path = (char *)path,
	};

	if (head->p_offset > source->file.size ||
	    head->p_filesz > source->file.size - head->p_offset ||
	    !head->p_filesz)
		return;
	source->ranges[source->count++] = (struct range){
		.start = head->p_vaddr + bias,
		.size = head->p_filesz,
		.bytes = source->file.bytes + head->p_offset,
	};
	if (maps)
		maps_add(maps, 0, &mapping);
}

/* How an ELF file is placed: its lowest segment at @address, or all of it moved
 * by @bias.
 */
struct place {
	const u64 *address;
	u64 bias;
	/* Only what is in the kernel's half. */
	bool kernel;
};

static bool is_placed(const GElf_Phdr *head, const struct place *place)
{
	return head->p_type == PT_LOAD &&
	       (!place->kernel || head->p_vaddr >> 63);
}

static bool elf_place(struct source *source, Elf *elf, const char *path,
		      const struct place *place, struct maps *maps)
{
	size_t i, count = 0;
	u64 lowest = ~0ULL;
	GElf_Phdr head;

	elf_getphdrnum(elf, &count);
	free(source->ranges);
	source->ranges = calloc(count ? count : 1, sizeof(*source->ranges));
	if (!source->ranges)
		return false;
	for (i = 0; i < count; i++) {
		if (gelf_getphdr(elf, i, &head) && is_placed(&head, place) &&
		    head.p_vaddr < lowest)
			lowest = head.p_vaddr;
	}
	for (i = 0; i < count; i++) {
		if (gelf_getphdr(elf, i, &head) && is_placed(&head, place))
			segment_add(source, &head, place->address ?
				    *place->address - lowest : place->bias,
				    path, maps);
	}
	qsort(source->ranges, source->count, sizeof(*source->ranges),
	      range_compare);
	if (!source->count)
		say_error("%s has no segment to be loaded", path);
	return source->count;
}

static bool raw_place(struct source *source, const char *path,
		      const u64 *address)
{
	if (!address) {
		say_error("%s is no ELF file: say where its bytes are, as %s@ADDRESS",
			  path, path);
		return false;
	}
	if (!source->file.size) {
		say_error("%s is empty: there is no code in it", path);
		return false;
	}
	source->ranges[source->count++] = (struct range){
		.start = *address,
		.size = source->file.size,
		.bytes = source->file.bytes,
	};
	return true;
}

/* Refuses code that would run over the end of the address space. */
static bool ranges_fit(const struct source *source, const char *path)
{
	size_t i;

	for (i = 0; i < source->count; i++) {
		const struct range *range = &source->ranges[i];

		if (!range->size || range->size - 1 <= ~range->start)
			continue;
		say_error("%s: 0x%llx bytes from 0x%llx on do not fit into the address space", path,
			  (unsigned long long)range->size, (unsigned long long)range->start);
		return false;
	}
	return true;
}

static bool source_place(struct source *source, const char *path,
			 const struct place *place, struct maps *maps)
{
	bool ok;
	Elf *elf;

	if (source->file.size < SELFMAG ||
	    memcmp(source->file.bytes, ELFMAG, SELFMAG))
		return raw_place(source, path, place->address);
	elf_version(EV_CURRENT);
	elf = elf_memory((char *)source->file.bytes, source->file.size);
	if (!elf) {
		say_error("cannot read %s as ELF: %s", path, elf_errmsg(-1));
		return false;
	}
	ok = elf_place(source, elf, path, place, maps);
	elf_end(elf);
	return ok;
}

static bool file_place(struct image *image, const char *path,
		       const struct place *place, struct maps *maps)
{
	struct source *source = source_add(image, path, 1);

	return source && source_place(source, path, place, maps) && ranges_fit(source, path);
}

bool image_add_file(struct image *image, const char *text, struct maps *maps)
{
	const char *at = strrchr(text, '@');
	struct place place = { 0 };
	u64 address;
	char *path;
	bool ok;

	if (!at)
		return file_place(image, text, &place, maps);
	if (!args_number(at + 1, ~0ULL, &address)) {
		say_error("--image %s: '%s' is no address; FILE@0x401000 is meant",
			  text, at + 1);
		return false;
	}
	path = strndup(text, at - text);
	place.address = &address;
	ok = path && file_place(image, path, &place, maps);
	free(path);
	return ok;
}

bool image_add_kernel(struct image *image, const char *path, u64 bias)
{
	const struct place place = { .bias = bias, .kernel = true };

	return file_place(image, path, &place, NULL);
}

/* Of several dumps of one page the last counts. */
static void duplicates_drop(struct source *source)
{
	size_t i, kept = 0;

	for (i = 0; i < source->count; i++) {
		if (kept && source->ranges[kept - 1].start ==
			    source->ranges[i].start)
			kept--;
		source->ranges[kept++] = source->ranges[i];
	}
	source->count = kept;
}

static bool pages_place(struct image *image, const char *name,
			const struct file_map *addr)
{
	size_t i, count = addr->size / sizeof(u64);
	struct source *source;
	char path[4096];

	snprintf(path, sizeof(path), "%s.dump", name);
	source = source_add(image, path, count);
	if (!source)
		return false;
	if (addr->size % sizeof(u64) ||
	    source->file.size != (u64)count * PAGE_BYTES) {
		say_error("%s.addr names %zu pages, but %s has %llu bytes, not %zu",
			  name, count, path,
			  (unsigned long long)source->file.size,
			  count * PAGE_BYTES);
		return false;
	}
	for (i = 0; i < count; i++) {
		struct range *range = &source->ranges[i];

		memcpy(&range->start, addr->bytes + i * sizeof(u64),
		       sizeof(u64));
		range->size = PAGE_BYTES;
		range->bytes = source->file.bytes + i * PAGE_BYTES;
	}
	source->count = count;
	qsort(source->ranges, count, sizeof(*source->ranges), range_compare);
	duplicates_drop(source);
	return true;
}

bool image_add_pages(struct image *image, const char *name)
{
	struct file_map addr = { 0 };
	char path[4096];
	bool ok;

	snprintf(path, sizeof(path), "%s.addr", name);
	if (!file_map_open(&addr, path))
		return false;
	ok = pages_place(image, name, &addr);
	file_map_close(&addr);
	return ok;
}

u32 image_read_rest(const struct image *image, u64 address, u8 *bytes, u32 size, u32 done)
{
	if (!image || done == size)
		return done;
	return done + image_read(image, address + done, bytes + done, size - done);
}
