/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files of struct kipt_record: a header in the shape of one record, whose
 * type is 0, then records until the end. FILE.maps is beside FILE. The header's @aux is
 * the frequency of the TSC in kHz, 0: not known; @value: bits 0, 1 and 2 are @guests,
 * @calls and @cut of struct record_file_about.
 */
#ifndef KIPT_RECORD_FILE_H
#define KIPT_RECORD_FILE_H

#include <stdbool.h>

#include "../../../kmod/decode/port.h"

/* "KIPTRECS" in the header's ip; kind: KIPT_RECORD_VERSION; flags: bytes of
 * a record.
 */
#define RECORD_FILE_MAGIC	0x534345525450494bULL

struct record_file;

/**
 * struct record_file_about - what the header of a file says of its records
 * @tsc_khz: frequency of the TSC, 0: not known
 * @guests: code of guests is named as all is, see names_guests()
 * @calls: of branches there are calls and returns only; older files do not say so
 * @cut: what made the file was cancelled, or failed; older files do not say so
 */
struct record_file_about {
	u32 tsc_khz;
	bool guests;
	bool calls;
	bool cut;
};

/**
 * record_file_create() - make a file
 * @path: its name; "-": standard output
 *
 * A file that is there keeps what it has until the first record is written.
 *
 * Return: the caller's until record_file_close(); NULL after a sentence.
 */
struct record_file *record_file_create(const char *path);

/**
 * record_file_describe() - set what the header says
 * @file: made by record_file_create(); nothing was written yet
 * @about: that
 */
void record_file_describe(struct record_file *file, const struct record_file_about *about);

/**
 * record_file_write() - append records
 * @file: made by record_file_create()
 * @records: what
 * @count: how many
 *
 * Return: true, or false after a sentence (once).
 */
bool record_file_write(struct record_file *file,
		       const struct kipt_record *records, u32 count);

/**
 * record_file_begun() - whether anything was written
 * @file: made by record_file_create()
 *
 * Return: true if so.
 */
bool record_file_begun(const struct record_file *file);

/**
 * record_file_cut() - what was written is not all there is
 * @file: made by record_file_create(). Its header says so unless it is a pipe's, which is gone
 */
void record_file_cut(struct record_file *file);

/**
 * record_file_close() - finish a file
 * @file: may be NULL
 * @whole: what was written is all there is, be it nothing; otherwise nothing
 *	written leaves things as they were
 *
 * Return: true if all of it was written, or false after a sentence.
 */
bool record_file_close(struct record_file *file, bool whole);

/**
 * record_file_is() - whether writing a file would destroy another
 * @path: the file to be written, or NULL
 * @input: the file to be read
 *
 * Return: true if they are the same.
 */
bool record_file_is(const char *path, const char *input);

/**
 * record_file_begins() - does a file begin like one of records
 * @path: its name
 *
 * Return: true if so; false also where it cannot be read.
 */
bool record_file_begins(const char *path);

/**
 * record_file_read() - all records of a file
 * @path: its name
 * @about: called first, with what the header says
 * @take: called with some of them; false ends the reading
 * @ctx: first argument of both
 *
 * Return: true, or false after a sentence, or as @take ended it.
 */
bool record_file_read(const char *path,
		      void (*about)(void *ctx, const struct record_file_about *about),
		      bool (*take)(void *ctx, const struct kipt_record *r,
				   u32 count), void *ctx);

#endif /* KIPT_RECORD_FILE_H */
