// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loading recordings and serving their code pages to the decoder. User space.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "image.h"

u8 *file_load(const char *path, u64 *size)
{
	FILE *file = fopen(path, "rb");
	u8 *bytes = NULL;
	long end;

	if (!file || fseek(file, 0, SEEK_END))
		goto err;
	end = ftell(file);
	if (end < 0 || fseek(file, 0, SEEK_SET))
		goto err;
	bytes = malloc(end ? end : 1);
	if (!bytes || fread(bytes, 1, end, file) != (size_t)end)
		goto err;
	fclose(file);
	*size = end;
	return bytes;

err:
	fprintf(stderr, "%s: %s\n", path, strerror(errno));
	free(bytes);
	if (file)
		fclose(file);
	return NULL;
}

struct order {
	u64 addr;
	u32 index;
};

static int by_addr(const void *a, const void *b)
{
	const struct order *left = a, *right = b;

	return left->addr < right->addr ? -1 : left->addr > right->addr;
}

/* Pages have no order in the files; look-ups want them sorted. */
static bool image_sort(struct image *image, const u8 *dump)
{
	struct order *order = calloc(image->pages, sizeof(*order));
	u32 i;

	image->bytes = malloc((size_t)image->pages * IMAGE_PAGE);
	if (!order || !image->bytes) {
		free(order);
		return false;
	}
	for (i = 0; i < image->pages; i++) {
		order[i].addr = image->addr[i];
		order[i].index = i;
	}
	qsort(order, image->pages, sizeof(*order), by_addr);
	for (i = 0; i < image->pages; i++) {
		image->addr[i] = order[i].addr;
		memcpy(image->bytes + (size_t)i * IMAGE_PAGE,
		       dump + (size_t)order[i].index * IMAGE_PAGE, IMAGE_PAGE);
	}
	free(order);
	return true;
}

static u8 *load_part(const char *dir, const char *name, const char *end,
		     u64 *size)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s%s", dir, name, end);
	return file_load(path, size);
}

bool recording_load(struct recording *recording, const char *dir,
		    const char *name)
{
	struct image *image = &recording->image;
	u64 addr_size = 0, dump_size = 0;
	u8 *dump;
	bool good;

	memset(recording, 0, sizeof(*recording));
	recording->trace = load_part(dir, name, ".pt", &recording->size);
	image->addr = (u64 *)(void *)load_part(dir, name, ".addr", &addr_size);
	dump = load_part(dir, name, ".dump", &dump_size);
	image->pages = (u32)(addr_size / 8);
	good = recording->trace && image->addr && dump &&
	       dump_size == (u64)image->pages * IMAGE_PAGE &&
	       image_sort(image, dump);
	free(dump);
	if (!good)
		recording_free(recording);
	return good;
}

void recording_free(struct recording *recording)
{
	free(recording->trace);
	free(recording->image.addr);
	free(recording->image.bytes);
	memset(recording, 0, sizeof(*recording));
}

u32 image_read(void *ctx, u64 space, u64 ip, u8 *buf, u32 len)
{
	const struct image *image = ctx;
	u64 page = ip & ~(u64)(IMAGE_PAGE - 1);
	u32 low = 0, high = image->pages, middle;
	u32 offset = (u32)(ip - page);

	(void)space;
	while (low < high) {
		middle = (low + high) / 2;
		if (image->addr[middle] < page)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == image->pages || image->addr[low] != page)
		return 0;
	if (len > IMAGE_PAGE - offset)
		len = IMAGE_PAGE - offset;
	memcpy(buf, image->bytes + (size_t)low * IMAGE_PAGE + offset, len);
	return len;
}
