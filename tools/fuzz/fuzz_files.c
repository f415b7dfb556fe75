// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer target: the files the tool reads: records, meta.json, mappings,
 * pages of code with their addresses, ELF files. The first byte says which
 * the rest is; pages are split by the second. Files are in a folder of their
 * own, in memory if there is one, where the tool's own readers open them.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../kipt/symbols/code_image.h"
#include "../kipt/offline/save_meta.h"
#include "../kipt/records/record_file.h"

#define PAGE		4096

static char folder[64];

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *path_of(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static void folder_remove(void)
{
	unlink(path_of("file"));
	unlink(path_of("pages.addr"));
	unlink(path_of("pages.dump"));
	rmdir(folder);
}

static void folder_make(void)
{
	if (folder[0])
		return;
	strcpy(folder, "/dev/shm/kipt-fuzz-XXXXXX");
	if (!mkdtemp(folder)) {
		strcpy(folder, "/tmp/kipt-fuzz-XXXXXX");
		if (!mkdtemp(folder))
			abort();
	}
	atexit(folder_remove);
}

/* @size bytes of @data, repeated until the file has @full. */
static const char *file_make(const char *name, const uint8_t *data, size_t size,
			     size_t full)
{
	const char *path = path_of(name);
	int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
	size_t part;

	if (fd < 0)
		abort();
	while (full) {
		part = full < size ? full : size;
		if (write(fd, data, part) != (ssize_t)part)
			abort();
		full -= part;
	}
	close(fd);
	return path;
}

static bool take(void *ctx, const struct kipt_record *records, u32 count)
{
	u64 *sum = ctx;
	u32 i;

	for (i = 0; i < count; i++)
		*sum += records[i].value + records[i].ip;
	return true;
}

static void take_about(void *ctx, const struct record_file_about *about)
{
	u64 *sum = ctx;

	*sum += about->tsc_khz + about->guests + about->calls;
}

static void read_records(const char *path)
{
	u64 sum = 0;

	record_file_read(path, take_about, take, &sum);
}

static void read_meta(const char *path)
{
	struct kipt_flow_config config = { 0 };
	u32 khz;

	if (meta_read(path, true, &config, &khz) &&
	    config.mtc_freq > 15)
		abort();
}

static void read_mappings(const char *path)
{
	const struct process *process;
	const struct mapping *mapping;
	struct maps maps = { 0 };
	size_t i;

	maps_load(&maps, path, true);
	for (process = maps.first; process; process = process->next) {
		for (i = 0; i < process->count; i++) {
			mapping = maps_find(process, process->list[i].start);
			if (mapping && !mapping->path)
				abort();
		}
	}
	maps_free(&maps);
}

static void read_code(const struct image *image, const uint8_t *data,
		      size_t size)
{
	u64 address = 0x401000;
	u8 bytes[64];

	if (size >= sizeof(address))
		memcpy(&address, data + size - sizeof(address),
		       sizeof(address));
	if (image_read(image, address, bytes, sizeof(bytes)) > sizeof(bytes))
		abort();
	image_read(image, 0x401000, bytes, sizeof(bytes));
	image_read(image, ~0ULL, bytes, 1);
}

static void read_elf(const char *path, const uint8_t *data, size_t size)
{
	struct image *image = image_create();
	struct maps maps = { 0 };

	if (!image)
		abort();
	if (image_add_file(image, path, &maps))
		read_code(image, data, size);
	image_destroy(image);
	maps_free(&maps);
}

static void read_pages(const uint8_t *data, size_t size)
{
	struct image *image = image_create();
	size_t addresses, pages;

	if (!image)
		abort();
	addresses = size ? data[0] % 64 : 0;
	if (addresses > size)
		addresses = size;
	pages = addresses / 8;
	file_make("pages.addr", data, addresses, addresses);
	/* One time in eight the sizes do not fit. */
	file_make("pages.dump", data, size,
		  size ? pages * PAGE + (size % 8 ? 0 : 1) : 0);
	if (image_add_pages(image, path_of("pages")))
		read_code(image, data, addresses);
	image_destroy(image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t what;

	if (!size)
		return 0;
	what = *data++ % 5;
	size--;
	folder_make();
	if (what == 4) {
		read_pages(data, size);
		return 0;
	}
	file_make("file", data, size, size);
	if (what == 0)
		read_records(path_of("file"));
	else if (what == 1)
		read_meta(path_of("file"));
	else if (what == 2)
		read_mappings(path_of("file"));
	else
		read_elf(path_of("file"), data, size);
	return 0;
}
