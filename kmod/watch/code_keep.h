/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keeps the code of traced address spaces that end, by exit or exec, for one
 * session. A probe on exit_mmap() takes references to the executable pages
 * that are in memory, once for all sessions; a work item of each copies them
 * milliseconds later and lets them go. So nothing of a process, its file system
 * or its cgroup is held, and what is written to a file afterwards changes
 * nothing.
 *
 * The cost of an exit is bounded, however many sessions there are: so many
 * mappings and pages are looked at; what is beyond counts as dropped. So is the
 * number of pages that wait to be copied, 128 MiB of code in all sessions, and
 * with it how long others wait for the copies: some hundred milliseconds. The
 * work item itself waits for nobody, not for memory either.
 */
#ifndef KIPT_CODE_KEEP_H
#define KIPT_CODE_KEEP_H

#include <linux/types.h>

struct kipt_code_keep;
struct kipt_spaces;
struct mm_struct;

/**
 * kipt_code_keep_create() - get ready
 * @spaces: what the session has seen; outlives this. It is kept tidy.
 * @code: keep code; false: only notice ends
 *
 * Memory for code is charged to the cgroup of who calls this, when it is
 * needed.
 *
 * Context: may sleep.
 *
 * Return: NULL without memory.
 */
struct kipt_code_keep *kipt_code_keep_create(struct kipt_spaces *spaces,
					     bool code);

/**
 * kipt_code_keep_destroy() - drop everything
 * @keep: detached, and a grace period has passed; may be NULL
 *
 * Context: may sleep.
 */
void kipt_code_keep_destroy(struct kipt_code_keep *keep);

/**
 * kipt_code_keep_clear() - forget all code, and the figures
 * @keep: nobody reads
 *
 * Context: may sleep; drops what waits to be copied, and then is as
 * kipt_code_keep_settle().
 */
void kipt_code_keep_clear(struct kipt_code_keep *keep);

/**
 * kipt_code_keep_wake() - have the address spaces tidied soon
 * @keep: the keeper
 *
 * Context: any, the scheduler too.
 */
void kipt_code_keep_wake(struct kipt_code_keep *keep);

/**
 * kipt_code_keep_attach() - have kipt_code_keep_exit() see to a keeper, too
 * @keep: the keeper
 *
 * Context: any; the caller serialises this and kipt_code_keep_detach().
 */
void kipt_code_keep_attach(struct kipt_code_keep *keep);

/**
 * kipt_code_keep_detach() - undo kipt_code_keep_attach()
 * @keep: the keeper; used for a grace period of RCU yet
 */
void kipt_code_keep_detach(struct kipt_code_keep *keep);

/**
 * kipt_code_keep_exit() - an address space is about to be taken down
 * @mm: the address space; nobody runs in it any more
 *
 * Context: the probe on exit_mmap(): preemption off.
 */
void kipt_code_keep_exit(struct mm_struct *mm);

/**
 * kipt_code_keep_settle() - wait until what has ended is kept
 * @keep: the keeper
 *
 * Waits for what had ended before the call, not for what ends meanwhile.
 *
 * Context: may sleep for as long as it takes to copy what waits, 32,640 pages
 * at most: some hundred milliseconds.
 */
void kipt_code_keep_settle(struct kipt_code_keep *keep);

/**
 * kipt_code_keep_read() - read kept code
 * @keep: the keeper
 * @id: number of the address space
 * @ip: address; [@ip, @ip + @len) lies in one page
 * @buf: where to
 * @len: bytes
 *
 * Context: process.
 *
 * Return: false if it is not kept.
 */
bool kipt_code_keep_read(struct kipt_code_keep *keep, u64 id, u64 ip, u8 *buf,
			 u32 len);

/**
 * kipt_code_keep_figures() - how much is kept
 * @keep: the keeper
 * @kept: bytes of pages
 * @dropped: bytes of code of ended address spaces that are not kept, or not
 *	any more; at most, as what was not looked at may not have been in
 *	memory
 *
 * Context: process.
 */
void kipt_code_keep_figures(struct kipt_code_keep *keep, u64 *kept,
			    u64 *dropped);

/**
 * kipt_code_keep_init() - make what keepers share, unless it is there
 * @keep: it is to be attached
 *
 * Context: may sleep; the caller serialises this and kipt_code_keep_uninit().
 *
 * Return: 0 or -ENOMEM.
 */
int kipt_code_keep_init(const struct kipt_code_keep *keep);

/**
 * kipt_code_keep_uninit() - no keeper exists any more
 */
void kipt_code_keep_uninit(void);

#endif /* KIPT_CODE_KEEP_H */
