/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A trace and the code pages it executed, as the recordings keep them:
 * NAME.pt raw packets, NAME.addr page addresses (little-endian u64),
 * NAME.dump 4 KiB of code for each. User space only.
 */
#ifndef KIPT_SELFTESTS_DECODE_IMAGE_H
#define KIPT_SELFTESTS_DECODE_IMAGE_H

#include "../../kmod/decode/flow.h"

#define IMAGE_PAGE	4096

/**
 * struct image - code bytes by address
 * @pages: number of pages
 * @addr: their addresses, in ascending order
 * @bytes: their contents, in the order of @addr
 */
struct image {
	u32 pages;
	u64 *addr;
	u8 *bytes;
};

/**
 * struct recording - a trace and its code
 * @trace: packets
 * @size: their bytes
 * @image: code
 */
struct recording {
	u8 *trace;
	u64 size;
	struct image image;
};

/**
 * file_load() - read a whole file
 * @path: the file
 * @size: its bytes
 *
 * Return: its contents, the caller's to free; NULL after a message on stderr.
 */
u8 *file_load(const char *path, u64 *size);

/**
 * recording_load() - read NAME.pt, NAME.addr and NAME.dump
 * @recording: filled
 * @dir: where they are
 * @name: NAME
 *
 * Return: false after a message on stderr.
 */
bool recording_load(struct recording *recording, const char *dir,
		    const char *name);

/**
 * recording_free() - the end of recording_load()
 * @recording: loaded
 */
void recording_free(struct recording *recording);

/**
 * image_read() - a struct kipt_code.read
 * @ctx: the struct image
 * @space: ignored
 * @ip: address
 * @buf: where to
 * @len: how many bytes
 *
 * Return: bytes copied, up to the end of the page.
 */
u32 image_read(void *ctx, u64 space, u64 ip, u8 *buf, u32 len);

#endif /* KIPT_SELFTESTS_DECODE_IMAGE_H */
