/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Follows what happens to kernel and module text: static keys, ftrace, static
 * calls, kprobes; modules, BPF programs and trampolines that come and go. With
 * it, text can be read as it was at any time since the log began, and what
 * cannot be known is known to be unknown.
 *
 * A patch has a number, counted from 0 as long as the module is loaded; see
 * patch_log.h. Times are TSCs of 64 bits: a time from a packet goes through
 * kipt_tsc_extend() first.
 */
#ifndef KIPT_TEXT_PATCH_H
#define KIPT_TEXT_PATCH_H

#include <linux/types.h>

/**
 * kipt_text_patch_get() - log patches from now on
 *
 * Patches kernel text itself. Context: may sleep, no lock that CPU hotplug
 * takes.
 *
 * Return: 0, or -ENOMEM.
 */
int kipt_text_patch_get(void);

/**
 * kipt_text_patch_put() - end what kipt_text_patch_get() began
 *
 * Context: as kipt_text_patch_get().
 */
void kipt_text_patch_put(void);

/**
 * kipt_text_patch_begin() - a run begins
 *
 * If kprobes do not fire, all kernel text before the next patch that is logged
 * is unknown, and dmesg says what to do. Context: any.
 *
 * Return: number of the next patch.
 */
u64 kipt_text_patch_begin(void);

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
 * Return: its number, or @end if all were made at or before @tsc; @first if it
 * is not known, as the log has lost patches.
 */
u64 kipt_text_patch_at(u64 first, u64 end, u64 tsc);

/**
 * kipt_text_patch_lost() - patches that are not in the log any more
 * @first: number of the first that matters
 *
 * For KIPT_GAP_PATCHES. Context: any.
 *
 * Return: how many.
 */
u64 kipt_text_patch_lost(u64 first);

/**
 * kipt_text_patch_undo() - turn text as it is now into what it was
 * @first: take back patches from this number on
 * @ip: address of @buf[0]; [@ip, @ip + @len) lies in one page
 * @buf: text read from memory before; changed in place
 * @len: bytes
 *
 * Context: any.
 *
 * Return: false if it is not known what it was: code came or went
 * there without a copy, a patch was not seen, or fell out of the log; or
 * kprobes do not fire now.
 */
bool kipt_text_patch_undo(u64 first, u64 ip, u8 *buf, u32 len);

/**
 * kipt_text_patch_touches() - whether some patches are in an address range
 * @first: number of the first
 * @end: number after the last
 * @ip: first address
 * @len: bytes
 *
 * Context: any.
 *
 * Return: true if one of them changed a byte in the range, or that is not
 * known.
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
