/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The code of a program that is being killed: which files are mapped to be
 * executed, and the pages of that which are in memory. They are found with
 * preemption off, in its own context, and copied later; only the pages are
 * held meanwhile, no file, no mount, no process.
 */
#ifndef KIPT_KILLED_CODE_H
#define KIPT_KILLED_CODE_H

#include <linux/types.h>

#include "../uapi/linux/kipt_crash.h"

struct page;

/* Mappings that are told; of a file's first page many share one. */
#define KIPT_KILLED_MAPS	256U

/**
 * struct kipt_killed_code - what was found
 * @maps: KIPT_KILLED_MAPS of them; @head is not set
 * @heads: the first page of the file of each, referenced, or NULL
 * @addresses: of pages
 * @pages: they, referenced
 * @room: how many @addresses and @pages have room for
 * @nr_maps: how many @maps were found
 * @nr_pages: how many @pages
 * @maps_lost: see struct kipt_crash_signal
 * @code_lost: see struct kipt_crash_signal
 * @path: a page to make paths in
 */
struct kipt_killed_code {
	struct kipt_crash_map *maps;
	struct page **heads;
	u64 *addresses;
	struct page **pages;
	u32 room;
	u32 nr_maps;
	u32 nr_pages;
	u32 maps_lost;
	u32 code_lost;
	char *path;
};

/**
 * kipt_killed_code_create() - make room
 * @code: filled, zero before
 * @pages: how many pages there is to be room for, may be 0
 *
 * Context: may sleep.
 *
 * Return: 0 or -ENOMEM; kipt_killed_code_destroy() in both cases.
 */
int kipt_killed_code_create(struct kipt_killed_code *code, u32 pages);

/**
 * kipt_killed_code_destroy() - free all
 * @code: holds no page
 */
void kipt_killed_code_destroy(struct kipt_killed_code *code);

/**
 * kipt_killed_code_find() - find what the running task has
 * @code: holds no page; filled
 * @ip: where it is: that mapping comes first
 *
 * Bounded: 4,096 mappings and 32,768 addresses are looked at, which takes ten
 * milliseconds at most. Context: a task with user memory, preemption off.
 */
void kipt_killed_code_find(struct kipt_killed_code *code, u64 ip);

/**
 * kipt_killed_code_drop() - let go of all pages
 * @code: holds none afterwards
 *
 * Context: any but NMI.
 */
void kipt_killed_code_drop(struct kipt_killed_code *code);

#endif /* KIPT_KILLED_CODE_H */
