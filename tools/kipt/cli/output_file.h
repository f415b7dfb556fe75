/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files that the tool makes beside each other.
 */
#ifndef KIPT_OUTPUT_FILE_H
#define KIPT_OUTPUT_FILE_H

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

#endif /* KIPT_OUTPUT_FILE_H */
