/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which files the code of processes was mapped from, and when, as the reader of a
 * trace says (uapi/linux/kipt_raw.h). Files are read by whoever decodes, through
 * the file descriptors that were given.
 *
 * Process context. Filled by one thread; then anybody may ask.
 */
#ifndef KIPT_IMAGES_H
#define KIPT_IMAGES_H

#include "../shared/image_table.h"

struct kipt_images;

/**
 * kipt_images_create() - nothing is known
 *
 * Context: may sleep.
 *
 * Return: the caller's until kipt_images_destroy(); NULL without memory.
 */
struct kipt_images *kipt_images_create(void);

/**
 * kipt_images_destroy() - close the files
 * @images: may be NULL
 *
 * Context: may sleep.
 */
void kipt_images_destroy(struct kipt_images *images);

/**
 * kipt_images_add() - take a file
 * @images: not filled yet
 * @fd: of the calling process, open for reading
 *
 * Return: its number, from 0 on; -EBADF @fd is not open for reading; -EINVAL it is
 * no regular file, of FUSE, or made by the kernel when it is read; -E2BIG there are
 * KIPT_RAW_FILES_MAX; -ENOMEM.
 */
int kipt_images_add(struct kipt_images *images, int fd);

/**
 * kipt_images_fill() - take spaces and ranges
 * @images: has all files, and is not filled yet
 * @wish: where they are in the memory of the calling process
 *
 * Return: 0; -EFAULT they cannot be read; -E2BIG they are too many; -EINVAL one is
 * not as kipt_raw.h says; -ENOMEM. Else nothing was taken.
 */
int kipt_images_fill(struct kipt_images *images,
		     const struct kipt_raw_images *wish);

/**
 * kipt_images_table() - what was taken
 * @images: was filled
 *
 * Return: the tables, @images's.
 */
const struct kipt_image_table *kipt_images_table(const struct kipt_images *images);

/**
 * kipt_images_read() - read a page of a file
 * @images: has it
 * @place: @place->offset is a multiple of PAGE_SIZE
 * @to: PAGE_SIZE bytes
 *
 * Context: waits for the file system, which a fatal signal ends where it can be.
 *
 * Return: bytes that the file has there; 0: none, or they cannot be read.
 */
u32 kipt_images_read(const struct kipt_images *images,
		     const struct kipt_image_place *place, void *to);

#endif /* KIPT_IMAGES_H */
