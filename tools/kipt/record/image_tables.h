/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tables of kipt_raw.h: which files the code of processes was mapped from. They
 * are collected here, and given to a session.
 */
#ifndef KIPT_IMAGE_TABLES_H
#define KIPT_IMAGE_TABLES_H

#include "../../../uapi/linux/kipt_raw.h"
#include "../kernel/session_words.h"

/**
 * struct image_tables - what is collected
 * @device: /dev/kipt, attached to a CPU of the session; -1: none
 * @spaces: one for each program of a process; @space_count of them
 * @ranges: their ranges; @range_count of them
 * @space_count: how many
 * @range_count: how many
 * @failed: there was no memory, and a sentence said so
 */
struct image_tables {
	int device;
	struct kipt_raw_space *spaces;
	struct kipt_raw_range *ranges;
	size_t space_count, range_count;
	bool failed;
};

/**
 * image_tables_open() - begin with nothing
 * @tables: filled; image_tables_free() frees it
 * @session: as reported by the kernel, set up
 *
 * Return: true, or false after a sentence: the device cannot be opened, or this is a
 * PID namespace with numbers of its own.
 */
bool image_tables_open(struct image_tables *tables,
		       const struct kipt_session *session);

/**
 * image_tables_file() - name a file to the session
 * @tables: tables
 * @fd: the file; closed. Negative: there is none
 *
 * Return: its number; KIPT_RAW_NO_FILE if the kernel does not take it.
 */
u32 image_tables_file(struct image_tables *tables, int fd);

/**
 * image_tables_range() - add a range
 * @tables: tables
 * @range: of the space that is added next; after those below it. One that does not
 *	consist of pages is left out: no kernel maps such; so is [vsyscall], which is no
 *	process's
 *
 * Return: true, or false without memory, after a sentence.
 */
bool image_tables_range(struct image_tables *tables,
			const struct kipt_raw_range *range);

/**
 * image_tables_space() - add a space
 * @tables: tables
 * @space: complete
 *
 * Return: true, or false without memory, after a sentence.
 */
bool image_tables_space(struct image_tables *tables,
			const struct kipt_raw_space *space);

/**
 * image_tables_no_memory() - say once that there is no memory
 * @tables: tables
 *
 * Return: false.
 */
bool image_tables_no_memory(struct image_tables *tables);

/**
 * image_tables_give() - have the session use them
 * @tables: tables; the spaces are in the order that kipt_raw.h wants
 * @id: the session, which is stopped
 *
 * Return: true, or false after a sentence: it has what it had before.
 */
bool image_tables_give(struct image_tables *tables, u32 id);

/**
 * image_tables_free() - free it
 * @tables: was opened, or @device is -1 and the rest zero
 */
void image_tables_free(struct image_tables *tables);

#endif /* KIPT_IMAGE_TABLES_H */
