/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Texts that others chose, for a terminal: names of tasks, files and symbols
 * may have any bytes.
 */
#ifndef KIPT_PRINTABLE_H
#define KIPT_PRINTABLE_H

#include <stddef.h>

/**
 * utf8_length() - the bytes of the character that a text begins with
 * @text: not empty
 *
 * Return: 1 to 4; 0 if it is no valid UTF-8.
 */
size_t utf8_length(const char *text);

/**
 * plain_text() - take what a terminal acts upon out of a text
 * @text: each byte of a control character in it, of one that changes the order of those
 *	beside it, or of what is no valid UTF-8, becomes '?'
 */
void plain_text(char *text);

/**
 * plain_cut() - how much of a text to show
 * @text: plain
 * @size: so many bytes at most, which are so many columns at most
 *
 * Return: bytes of whole characters.
 */
int plain_cut(const char *text, int size);

#endif /* KIPT_PRINTABLE_H */
