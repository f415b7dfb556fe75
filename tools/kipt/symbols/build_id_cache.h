/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The folder of build ids that perf keeps: ~/.debug, or $PERF_BUILDID_DIR.
 */
#ifndef KIPT_BUILD_ID_CACHE_H
#define KIPT_BUILD_ID_CACHE_H

#include "build_id.h"

#define BUILD_ID_TEXT	(2 * BUILD_ID_MAX + 1)
#define BUILD_ID_FORMS	4

/**
 * build_id_text() - a build id in hexadecimal
 * @id: the build id
 * @text: BUILD_ID_TEXT bytes of room
 */
void build_id_text(const struct build_id *id, char *text);

/**
 * build_id_cache_path() - where the folder would have a file
 * @id: its build id
 * @name: "elf", "vdso" or "debug"
 * @path: its path on the machine that it is of, for a copy of the folder
 *	without its links; NULL: where the links lead
 * @text: receives the path of it in the folder
 * @size: its bytes
 *
 * Return: true, or false if there is no such folder.
 */
bool build_id_cache_path(const struct build_id *id, const char *name,
			 const char *path, char *text, size_t size);

/**
 * build_id_cache_form() - a build id as the folder may have it
 * @id: the build id; of a file, or as perf recorded it
 * @number: below BUILD_ID_FORMS; 0: as it is; the others: cut, filled up with zeros, or
 *	without those that it was filled up with
 * @form: filled on success
 *
 * The file at that place may still be another one: compare its own build id.
 *
 * Return: true, or false if that is none.
 */
bool build_id_cache_form(const struct build_id *id, u32 number, struct build_id *form);

#endif /* KIPT_BUILD_ID_CACHE_H */
