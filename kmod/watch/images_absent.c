// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files for a module that was built with CONFIG_KIPT_DECODE=n, which reads no code: none
 * is taken. In place of images.c.
 */
#include "../lib/memory.h"
#include "images.h"

struct kipt_images {
	u8 none;
};

struct kipt_images *kipt_images_create(void)
{
	return kipt_memory_alloc(sizeof(struct kipt_images));
}

void kipt_images_destroy(struct kipt_images *images)
{
	kipt_memory_free(images, sizeof(*images));
}

int kipt_images_add(struct kipt_images *images, int fd)
{
	return -EOPNOTSUPP;
}

int kipt_images_fill(struct kipt_images *images,
		     const struct kipt_raw_images *wish)
{
	return -EOPNOTSUPP;
}
