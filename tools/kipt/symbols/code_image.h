/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Code for decoding a trace without the machine it is of: files and dumps of
 * pages placed at addresses. One address space; what was added later counts.
 */
#ifndef KIPT_CODE_IMAGE_H
#define KIPT_CODE_IMAGE_H

#include <stdbool.h>

#include "process_maps.h"

struct image;

/**
 * image_create() - no code at all
 *
 * Return: the caller's until image_destroy(); NULL after a sentence.
 */
struct image *image_create(void);

/**
 * image_destroy() - free it
 * @image: may be NULL
 */
void image_destroy(struct image *image);

/**
 * image_add_file() - place a file
 * @image: where to
 * @text: FILE@ADDR: the file's bytes, or if it is ELF its segments, the
 *	lowest at ADDR; FILE alone: ELF at its own addresses
 * @maps: gets the mappings of ELF files, for names
 *
 * Return: true, or false after a sentence.
 */
bool image_add_file(struct image *image, const char *text, struct maps *maps);

/**
 * image_add_kernel() - place a kernel
 * @image: where to
 * @path: vmlinux
 * @bias: added to the addresses it has
 *
 * Return: true, or false after a sentence.
 */
bool image_add_kernel(struct image *image, const char *path, u64 bias);

/**
 * image_add_pages() - place the pages of a dump
 * @image: where to
 * @name: path without .addr and .dump
 *
 * Return: true, or false after a sentence.
 */
bool image_add_pages(struct image *image, const char *name);

/**
 * image_any() - whether there is any code
 * @image: the code
 */
bool image_any(const struct image *image);

/**
 * image_read() - copy code
 * @image: from where
 * @address: first byte
 * @bytes: filled
 * @size: how many are wanted
 *
 * Return: how many were copied; less than @size where there is no code.
 */
u32 image_read(const struct image *image, u64 address, u8 *bytes, u32 size);

/**
 * image_read_rest() - copy code that others did not have
 * @image: from where; NULL: nothing
 * @address: first byte
 * @bytes: its first @done bytes are filled
 * @size: how many are wanted
 * @done: how many there are
 *
 * Return: how many there are then.
 */
u32 image_read_rest(const struct image *image, u64 address, u8 *bytes, u32 size, u32 done);

#endif /* KIPT_CODE_IMAGE_H */
