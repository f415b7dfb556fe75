/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files that the tool makes beside each other.
 */
#ifndef KIPT_OUTPUT_FILE_H
#define KIPT_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdio.h>

/**
 * struct kept_file - a file that keeps what it has until there is something to write
 * @out: where to write, after kept_file_begin()
 * @path: its name
 * @made: it was not there before
 * @begun: what was in it before is gone
 * @failed: it cannot be written, and a sentence said so
 */
struct kept_file {
	FILE *out;
	const char *path;
	bool made;
	bool begun;
	bool failed;
};

/**
 * kept_file_open() - be ready to write
 * @file: filled
 * @path: its name, which must live as long; "-": standard output
 *
 * Return: true, or false after a sentence.
 */
bool kept_file_open(struct kept_file *file, const char *path);

/**
 * kept_file_begin() - drop what it has, now that there is something to replace it
 * @file: was opened
 */
void kept_file_begin(struct kept_file *file);

/**
 * kept_file_fail() - something could not be written, for the reason in errno
 * @file: was opened
 */
void kept_file_fail(struct kept_file *file);

/**
 * kept_file_close() - finish it
 * @file: was opened; one that was made and has not begun is removed
 *
 * Return: true if all of it was written, or false after a sentence.
 */
bool kept_file_close(struct kept_file *file);

/**
 * file_make() - make a file to write to it
 * @name: what its path begins with
 * @between: what follows, such as "/" or "."
 * @part: how it ends
 *
 * Return: the caller's until fclose(); NULL after a sentence.
 */
FILE *file_make(const char *name, const char *between, const char *part);

#endif /* KIPT_OUTPUT_FILE_H */
