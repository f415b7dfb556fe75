/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A log of patches to kernel and module text: static keys, ftrace, static
 * calls, kprobes. With it, text can be read as it was at any time since the
 * log began, and text that was patched while it was traced is known as such.
 *
 * A patch has a number, counted from 0 as long as the module is loaded. The
 * text before patch n is what is in memory with all patches from n on taken
 * back, newest first.
 */
#ifndef KIPT_TEXT_PATCH_H
#define KIPT_TEXT_PATCH_H

#include <linux/types.h>

/**
 * kipt_text_patch_get() - log patches from now on
 *
 * Patches kernel text itself. Context: may sleep, no lock that CPU hotplug
 * takes.
 */
void kipt_text_patch_get(void);

/**
 * kipt_text_patch_put() - end what kipt_text_patch_get() began
 *
 * Context: as kipt_text_patch_get().
 */
void kipt_text_patch_put(void);

/**
 * kipt_text_patch_count() - patches logged so far
 *
 * Context: any.
 *
 * Return: number of the next patch.
 */
u64 kipt_text_patch_count(void);

/**
 * kipt_text_patch_at() - the first patch made after a time
 * @first: number to start looking at
 * @end: number to end before
 * @tsc: the time
 *
 * Context: any.
 *
 * Return: its number, or @end if all were made at or before @tsc.
 */
u64 kipt_text_patch_at(u64 first, u64 end, u64 tsc);

/**
 * kipt_text_patch_lost() - whether the text of a time is not known any more
 * @first: number of the first patch that matters
 * @tsc: the time
 *
 * Context: any.
 *
 * Return: true if the log lost patches from @first on that were made after
 * @tsc.
 */
bool kipt_text_patch_lost(u64 first, u64 tsc);

/**
 * kipt_text_patch_undo() - turn text as it is now into what it was
 * @first: take back patches from this number on
 * @ip: address of @buf[0]
 * @buf: text read from memory; changed in place
 * @len: bytes
 *
 * Context: any.
 */
void kipt_text_patch_undo(u64 first, u64 ip, u8 *buf, u32 len);

/**
 * kipt_text_patch_touches() - whether some patches are in an address range
 * @first: number of the first
 * @end: number after the last
 * @ip: first address
 * @len: bytes
 *
 * Context: any.
 *
 * Return: true if one of them changed a byte in the range, or was logged so
 * long ago that this is not known any more.
 */
bool kipt_text_patch_touches(u64 first, u64 end, u64 ip, u32 len);

/**
 * kipt_text_patch_range() - what a patch changed
 * @number: of the patch
 * @begin: first address
 * @end: last address + 1
 *
 * Context: any.
 *
 * Return: false if it is not in the log any more.
 */
bool kipt_text_patch_range(u64 number, u64 *begin, u64 *end);

#endif /* KIPT_TEXT_PATCH_H */
