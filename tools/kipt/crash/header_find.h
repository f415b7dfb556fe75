/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds the pages of a crash in a dump: by an address that somebody knows, or
 * by looking at all of it.
 */
#ifndef KIPT_HEADER_FIND_H
#define KIPT_HEADER_FIND_H

#include "dump_file.h"
#include "dump_memory.h"

/**
 * struct crash_find - what is looked for, and what is known
 * @dump: where
 * @header: address of the header; 0: not known, and the log may name it
 * @memory: memory by the kernel's addresses, which sets the kernel's header apart
 *	from one that a program has made up; NULL: it is not known
 * @info: VMCOREINFO, which says where the log is; NULL: it is not known
 * @vmcoreinfo: filled by a search: where a note of that name is; 0 if
 *	there was no search, or none was seen
 */
struct crash_find {
	struct dump *dump;
	u64 header;
	struct crash_memory *memory;
	const char *info;
	u64 vmcoreinfo;
};

/**
 * crash_find() - find the pages of the newest crash
 * @find: where, and what is known
 * @set: filled; crash_set_free() it also on failure
 *
 * Says in sentences what is damaged, and what else there is.
 *
 * Return: true, or false after a sentence.
 */
bool crash_find(struct crash_find *find, struct crash_set *set);

#endif /* KIPT_HEADER_FIND_H */
