/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Debug files on this machine: where distributions and perf put them, and where files say
 * that theirs are.
 */
#ifndef KIPT_DEBUG_SEARCH_H
#define KIPT_DEBUG_SEARCH_H

#include "build_id.h"

/**
 * struct debug_search - a file that is looked for
 * @symfs: folder with a copy of a machine's files; NULL: this machine's
 * @file: the file that it belongs to; NULL: it is looked for by @id only
 * @link: name that @file has of it; NULL: none
 * @id: its build id; of size 0: it has none
 * @sum: without @id its CRC, if there is a @link
 * @shared: what several debug files have in common, whose @link is a path
 */
struct debug_search {
	const char *symfs;
	const char *file;
	const char *link;
	struct build_id id;
	u32 sum;
	bool shared;
};

/**
 * debug_search() - look for a debug file
 * @search: which
 * @found: its path on success, which the caller frees
 *
 * Others may have made what is at these places: only regular files are opened.
 *
 * Return: the caller's descriptor, or -1.
 */
int debug_search(const struct debug_search *search, char **found);

#endif /* KIPT_DEBUG_SEARCH_H */
