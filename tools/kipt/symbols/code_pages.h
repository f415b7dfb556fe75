/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Dumps of code pages: NAME.addr holds addresses as little-endian u64,
 * NAME.dump 4096 bytes for each, in the same order.
 */
#ifndef KIPT_CODE_PAGES_H
#define KIPT_CODE_PAGES_H

#include <stdbool.h>
#include <stdio.h>

#include "../../../kmod/decode/port.h"

#define PAGE_BYTES	4096

/**
 * struct pages_writer - a dump that is being written
 * @addr: NAME.addr
 * @dump: NAME.dump
 * @count: pages so far
 */
struct pages_writer {
	FILE *addr;
	FILE *dump;
	u64 count;
};

/**
 * pages_open() - make the two files
 * @writer: filled
 * @name: path without suffix
 *
 * Return: true, or false after a sentence.
 */
bool pages_open(struct pages_writer *writer, const char *name);

/**
 * pages_write() - one page
 * @writer: was opened
 * @address: of the page
 * @bytes: PAGE_BYTES
 *
 * Return: true, or false if it cannot be written (without a message).
 */
bool pages_write(struct pages_writer *writer, u64 address, const u8 *bytes);

/**
 * pages_close() - finish the files
 * @writer: was opened
 * @name: path without suffix, for messages
 *
 * Return: true, or false after a sentence.
 */
bool pages_close(struct pages_writer *writer, const char *name);

#endif /* KIPT_CODE_PAGES_H */
