/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The text of the running kernel and its modules, through /proc/kcore.
 */
#ifndef KIPT_KERNEL_TEXT_H
#define KIPT_KERNEL_TEXT_H

#include <stdbool.h>

#include "../../../kmod/decode/port.h"

struct kcore;

/**
 * kcore_allowed() - may this process read it
 *
 * Return: true, or false with errno set: EACCES, EPERM (CAP_SYS_RAWIO, lockdown), ENOENT.
 */
bool kcore_allowed(void);

/**
 * kcore_open() - be ready to read
 *
 * Return: the caller's until kcore_close(); NULL after a sentence.
 */
struct kcore *kcore_open(void);

/**
 * kcore_notes() - where what the kernel says of itself is in the file
 * @core: from kcore_open()
 * @begin: filled: offset of the first note
 * @end: filled: where they end
 *
 * Return: false if there are none.
 */
bool kcore_notes(const struct kcore *core, u64 *begin, u64 *end);

/**
 * kcore_file_read() - copy bytes of the file itself
 * @core: from kcore_open()
 * @offset: in the file
 * @bytes: filled
 * @size: how many
 *
 * Return: how many there are.
 */
u32 kcore_file_read(void *core, u64 offset, void *bytes, u32 size);

/**
 * kcore_close() - free it
 * @core: may be NULL
 */
void kcore_close(struct kcore *core);

/**
 * kcore_read() - copy memory of the kernel
 * @core: was opened
 * @address: virtual
 * @bytes: filled
 * @size: how many are wanted
 *
 * Return: how many were copied; less than @size where nothing is.
 */
u32 kcore_read(struct kcore *core, u64 address, u8 *bytes, u32 size);

/**
 * kcore_text() - read all text pages
 * @core: was opened
 * @kallsyms: path of a copy of /proc/kallsyms as it is now, which says where text
 *	is: the kernel takes longer to make it anew than to read the copy
 * @take: gets each page once, PAGE_BYTES, by ascending addresses; false ends it
 * @ctx: its first argument
 *
 * Return: true, or false after a sentence, or if @take returned false.
 */
bool kcore_text(struct kcore *core, const char *kallsyms,
		bool (*take)(void *ctx, u64 address, const u8 *page), void *ctx);

/**
 * kcore_save_text() - write all text pages as a page dump
 * @kallsyms: as for kcore_text()
 * @name: path without suffix
 *
 * Return: true, or false after a sentence.
 */
bool kcore_save_text(const char *kallsyms, const char *name);

#endif /* KIPT_KERNEL_TEXT_H */
