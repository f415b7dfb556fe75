/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files that the tool makes.
 */
#ifndef KIPT_OUTPUT_FILE_H
#define KIPT_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdio.h>

/**
 * file_make() - make a file to write to it
 * @name: what its path begins with
 * @between: what follows, such as "/" or "."
 * @part: how it ends
 *
 * Return: the caller's until fclose(); NULL after a sentence.
 */
FILE *file_make(const char *name, const char *between, const char *part);

/**
 * folder_make() - make a folder
 * @dir: its name; may exist
 *
 * Return: true, or false after a sentence.
 */
bool folder_make(const char *dir);

/**
 * struct fresh_file - a file that replaces what was there as soon as there is something
 *	to write
 * @out: open
 * @buffer: its buffer; NULL: that of libc
 * @path: its name, "-" for standard output
 * @made: it was not there before
 * @begun: what was in it before is gone
 * @failed: something is not in it
 */
struct fresh_file {
	FILE *out;
	char *buffer;
	const char *path;
	bool made;
	bool begun;
	bool failed;
};

/**
 * fresh_open() - be ready to write
 * @file: filled
 * @path: its name, which must live as long; "-": standard output
 *
 * Return: true, or false after a sentence.
 */
bool fresh_open(struct fresh_file *file, const char *path);

/**
 * fresh_begin() - drop what the file has, now that there is something to replace it
 * @file: was opened
 *
 * Return: true, or false after a sentence: nothing is to be written then.
 */
bool fresh_begin(struct fresh_file *file);

/**
 * fresh_failed() - something could not be written, errno says why
 * @file: the first time a sentence says so, unless it is standard output
 */
void fresh_failed(struct fresh_file *file);

/**
 * fresh_close() - no more will come
 * @file: was opened; a new one goes away if fresh_begin() was not called
 *
 * Return: whether all was written; if not a sentence said so.
 */
bool fresh_close(struct fresh_file *file);

#endif /* KIPT_OUTPUT_FILE_H */
