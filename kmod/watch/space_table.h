/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The address spaces one session has seen. The trace names an address space
 * by the physical address of its page table, which is used again when the
 * address space has ended. So each gets a number that is never used again,
 * and owns its name for an interval of time: while its mm_struct is
 * referenced here, nobody else can have the name. That is mm_count: it keeps the
 * mm_struct, the top of the page table, per-CPU counters, an LDT and a user
 * namespace, but no page of the process. An estimate of that is charged for all
 * that ended and are kept.
 *
 * In an entry, born <= released. Of two entries with one name, one was
 * released before the other was born.
 *
 * Nobody says that one ends: kipt_spaces_tidy() finds those that have no user left,
 * during the run and after it.
 * When there is no room the longest ended are forgotten, and counted.
 */
#ifndef KIPT_SPACE_TABLE_H
#define KIPT_SPACE_TABLE_H

#include <linux/types.h>

struct kipt_spaces;
struct vdso_image;

/**
 * struct kipt_space - what is known of an address space
 * @name: physical address of its page table
 * @since: TSC from which on user code runs in it, no earlier than the fork or exec
 *	that made it
 * @vdso: the vDSO it has, the kernel's for good; or NULL
 * @tgid: the process that was first seen in it
 * @based: it has a local descriptor table, or had. Only there are code segments that do not
 *	begin at 0. What a process wrote into it stays as long as its mm_struct, and that it
 *	did so is remembered longer
 */
struct kipt_space {
	u64 name;
	u64 since;
	const struct vdso_image *vdso;
	u32 tgid;
	bool based;
};
struct mm_struct;

/**
 * kipt_spaces_create() - an empty table
 *
 * Context: may sleep.
 *
 * Return: NULL without memory.
 */
struct kipt_spaces *kipt_spaces_create(void);

/**
 * kipt_spaces_destroy() - let go of all
 * @spaces: nobody uses it; may be NULL
 *
 * Context: may sleep.
 */
void kipt_spaces_destroy(struct kipt_spaces *spaces);

/**
 * kipt_spaces_clear() - forget all, and the figures
 * @spaces: the table
 *
 * Context: may sleep.
 */
void kipt_spaces_clear(struct kipt_spaces *spaces);

/**
 * kipt_spaces_over() - the run is over, until kipt_spaces_clear()
 * @spaces: the table
 *
 * Context: any but NMI.
 */
void kipt_spaces_over(struct kipt_spaces *spaces);

/**
 * kipt_spaces_name() - what the trace calls an address space
 * @mm: the address space
 *
 * Context: any.
 *
 * Return: physical address of its page table.
 */
u64 kipt_spaces_name(const struct mm_struct *mm);

/**
 * kipt_spaces_learn() - note an address space
 * @spaces: the table
 * @mm: alive
 * @tgid: a process it is of
 *
 * Context: any but NMI, preemption off; takes no lock if it is known.
 *
 * Return: its number; 0 if there is no room, which is counted.
 */
u64 kipt_spaces_learn(struct kipt_spaces *spaces, struct mm_struct *mm,
		      u32 tgid);

/**
 * kipt_spaces_at() - who had a name in a stretch of time
 * @spaces: the table
 * @name: the name
 * @begin: TSC; 0: unknown
 * @end: TSC; ~0: unknown
 *
 * Context: any but NMI.
 *
 * Return: the number; 0 if nobody is known, or there may have been others.
 */
u64 kipt_spaces_at(struct kipt_spaces *spaces, u64 name, u64 begin, u64 end);

/**
 * kipt_spaces_mm() - the address space of a number
 * @spaces: the table
 * @id: the number
 *
 * Never a reference to its users: it may be ending or have ended, so only
 * kipt_resident_read() may look into it.
 *
 * Context: any but NMI.
 *
 * Return: with a reference the caller drops by mmdrop(). NULL if it was let go of.
 */
struct mm_struct *kipt_spaces_mm(struct kipt_spaces *spaces, u64 id);

/**
 * kipt_spaces_who() - what is known of an address space
 * @spaces: the table
 * @id: its number
 * @who: filled; zero if it was forgotten
 *
 * Context: any but NMI.
 *
 * Return: false if it was forgotten.
 */
bool kipt_spaces_who(struct kipt_spaces *spaces, u64 id, struct kipt_space *who);

/**
 * kipt_spaces_exec() - a program begins in an address space
 * @spaces: the table
 * @mm: the address space; no user code ran in it before
 *
 * Context: any but NMI.
 */
void kipt_spaces_exec(struct kipt_spaces *spaces, struct mm_struct *mm);

/**
 * kipt_spaces_untidy() - whether kipt_spaces_tidy() has something to do
 * @spaces: the table
 *
 * Context: any.
 */
bool kipt_spaces_untidy(const struct kipt_spaces *spaces);

/**
 * kipt_spaces_tidy() - find what has ended, drop references to it, and make room
 * @spaces: the table
 *
 * The newest that ended are kept a while, so that within some milliseconds no
 * name has two owners. After kipt_spaces_over() all that ended are let go of, and
 * nothing is forgotten.
 *
 * Context: may sleep.
 *
 * Return: whether to come back: until the run is over and all have ended.
 */
bool kipt_spaces_tidy(struct kipt_spaces *spaces);

/**
 * kipt_spaces_lost() - address spaces that were forgotten or not noted
 * @spaces: the table
 *
 * Context: any.
 */
u64 kipt_spaces_lost(const struct kipt_spaces *spaces);

#endif /* KIPT_SPACE_TABLE_H */
