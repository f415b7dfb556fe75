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

struct kipt_crash_logs;
struct kipt_patch_log;

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
 * is unknown, and dmesg says what to do. Context: any, after kipt_text_patch_get().
 *
 * Return: number of the next patch.
 */
u64 kipt_text_patch_begin(void);

/**
 * kipt_text_patch_unseen() - whether text was patched after all patches that are logged
 *
 * Context: any, after kipt_text_patch_get(). Of a kernel whose patches cannot be watched it does
 * not know.
 */
bool kipt_text_patch_unseen(void);

/**
 * kipt_text_patch_count() - patches logged so far
 *
 * Context: any, after kipt_text_patch_get().
 *
 * Return: number of the next patch.
 */
u64 kipt_text_patch_count(void);

/**
 * kipt_text_patch_log() - the patches
 *
 * Context: any.
 *
 * Return: the log, there until kipt_text_patch_put(); NULL before
 * kipt_text_patch_get().
 */
const struct kipt_patch_log *kipt_text_patch_log(void);

/**
 * kipt_text_patch_describe() - write down for dumps where the log is
 * @logs: its members on patches are filled, but for @patches_first
 *
 * They hold until kipt_text_patch_put(). Context: after kipt_text_patch_get().
 */
void kipt_text_patch_describe(struct kipt_crash_logs *logs);

/**
 * kipt_text_patch_undo() - turn text as it is now into what it was
 * @first: take back patches from this number on
 * @ip: address of @buf[0]; [@ip, @ip + @len) lies in one page
 * @buf: text read from memory before; changed in place
 * @len: bytes
 *
 * Context: any, after kipt_text_patch_get().
 *
 * Return: false if it is not known what it was: code came or went
 * there without a copy, a patch was not seen, or fell out of the log; or
 * kprobes do not fire now.
 */
bool kipt_text_patch_undo(u64 first, u64 ip, u8 *buf, u32 len);

#endif /* KIPT_TEXT_PATCH_H */
