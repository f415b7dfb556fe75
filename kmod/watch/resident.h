/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pages of an address space that are in memory. Never faults one in, so it
 * never waits for a file system, a FUSE or userfaultfd daemon, or a disk.
 */
#ifndef KIPT_RESIDENT_H
#define KIPT_RESIDENT_H

#include <linux/types.h>

struct mm_struct;
struct page;

/**
 * kipt_resident_get() - take a reference to a page
 * @mm: referenced; its lock is held for reading, and a mapping is at @addr
 * @addr: address
 * @span: bytes from @addr on that one look covers: a page, or more where no
 *	page is mapped, up to what a whole table that is not there would map
 *
 * Context: any but NMI.
 *
 * Return: the page, for put_page(); NULL if it is not in memory, or its
 * content is nobody's business (device memory, poisoned).
 */
struct page *kipt_resident_get(struct mm_struct *mm, unsigned long addr,
			       unsigned long *span);

/**
 * kipt_resident_copy() - copy a page
 * @page: referenced
 * @to: PAGE_SIZE bytes
 *
 * Context: any.
 *
 * Return: false if the kernel has no access to it (secret memory).
 */
bool kipt_resident_copy(struct page *page, void *to);

/**
 * kipt_resident_try_lock() - take the mmap lock for reading, or soon give up
 * @mm: referenced, or the caller's own
 *
 * Context: process, or a thread with preemption off: looks 64 times, never
 * sleeps. The caller unlocks with mmap_read_unlock().
 *
 * Return: false if it was not to be had.
 */
bool kipt_resident_try_lock(struct mm_struct *mm);

/**
 * kipt_resident_read() - copy the page at an address
 * @mm: referenced; it may have ended
 * @addr: address of a page
 * @to: PAGE_SIZE bytes
 * @patient: another's mmap lock may be waited for, some milliseconds at most
 *
 * Context: process; may sleep: waits for the mmap lock of the caller, as page
 * faults do.
 *
 * Return: 0; -EFAULT if no page is there; -EBUSY if someone changes the
 * mappings right now.
 */
int kipt_resident_read(struct mm_struct *mm, unsigned long addr, void *to,
		       bool patient);

/* As the offset of a page in a file: whatever is mapped. */
#define KIPT_RESIDENT_ANY	(~0ULL)

/**
 * kipt_resident_private() - whether a page is the process's own copy of a file's
 * @mm: referenced; it may have ended
 * @addr: address of a page
 * @offset: of the page in the file; or KIPT_RESIDENT_ANY
 * @patient: as of kipt_resident_read()
 *
 * Context: as kipt_resident_read().
 *
 * Return: 1 if someone wrote to the page; 0 if it is the file's, or none is there, or
 * something else is mapped there by now; -EBUSY if someone changes the mappings right now;
 * -EAGAIN if the page is swapped out, or being migrated: it may be either.
 */
int kipt_resident_private(struct mm_struct *mm, unsigned long addr, u64 offset,
			  bool patient);

#endif /* KIPT_RESIDENT_H */
