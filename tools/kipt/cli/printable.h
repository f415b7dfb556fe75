/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Texts that others chose, for a terminal: names of tasks, files and symbols
 * may have any bytes.
 */
#ifndef KIPT_PRINTABLE_H
#define KIPT_PRINTABLE_H

/**
 * plain_text() - take what a terminal acts upon out of a text
 * @text: control characters in it become '?'
 */
static inline void plain_text(char *text)
{
	for (; *text; text++) {
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			*text = '?';
	}
}

#endif /* KIPT_PRINTABLE_H */
