/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The build id of an ELF file: two files that have the same are made of the
 * same code.
 */
#ifndef KIPT_BUILD_ID_H
#define KIPT_BUILD_ID_H

#include <stdbool.h>

#include "../../../kmod/decode/port.h"

#define BUILD_ID_MAX	64
/* Of which perf keeps so many bytes. */
#define BUILD_ID_PERF	20

/**
 * struct build_id - a build id
 * @size: bytes, at least 1
 * @bytes: they
 */
struct build_id {
	u32 size;
	u8 bytes[BUILD_ID_MAX];
};

/**
 * build_id_find() - look for the build id of a file
 * @id: filled on success
 * @bytes: the begin of the file; nothing in it is believed
 * @size: how much of it there is
 *
 * Return: true, or false if the part that there is has none.
 */
bool build_id_find(struct build_id *id, const u8 *bytes, u64 size);

/**
 * build_id_read() - look for the build id of an open file, wherever in it that is
 * @id: filled on success
 * @fd: the file; nothing in it is believed, and it may be cut meanwhile
 *
 * Tools that write files anew, such as BOLT and patchelf, may put it to the end.
 *
 * Return: true, or false if it has none.
 */
bool build_id_read(struct build_id *id, int fd);

/**
 * build_id_note() - look for a build id in notes
 * @id: filled on success
 * @bytes: of notes, such as /sys/kernel/notes has; nothing in them is believed
 * @size: how many
 *
 * Return: true, or false if there is none in them.
 */
bool build_id_note(struct build_id *id, const u8 *bytes, u64 size);

/**
 * build_id_same() - compare two
 * @a: one
 * @b: another
 *
 * Return: true if they are the same.
 */
bool build_id_same(const struct build_id *a, const struct build_id *b);

/**
 * build_id_recorded() - compare a file's with the one that perf recorded
 * @recorded: perf has room for 20 bytes: longer ones are cut, and older perfs fill shorter
 *	ones up with zeros
 * @id: the whole one
 *
 * Return: true if they are the same as far as that goes, which are 8 bytes at least if
 * not all.
 */
bool build_id_recorded(const struct build_id *recorded, const struct build_id *id);

#endif /* KIPT_BUILD_ID_H */
