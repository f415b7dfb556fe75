// SPDX-License-Identifier: GPL-2.0-only
/*
 * What of a text a terminal may see, see printable.h.
 */
#include <string.h>

#include "../../../kmod/decode/port.h"
#include "printable.h"

size_t utf8_length(const char *text)
{
	/* The least that so many bytes may say: each has one form only. */
	static const u32 least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const u8 *bytes = (const u8 *)text;
	size_t length, i;
	u32 code;

	if (bytes[0] < 0x80)
		return 1;
	if (bytes[0] < 0xc0 || bytes[0] > 0xf7)
		return 0;
	length = bytes[0] < 0xe0 ? 2 : bytes[0] < 0xf0 ? 3 : 4;
	code = bytes[0] & (0x7f >> length);
	for (i = 1; i < length; i++) {
		if ((bytes[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (bytes[i] & 0x3f);
	}
	if (code < least[length] || code > 0x10ffff || code >> 11 == 0x1b)
		return 0;
	return length;
}

/* C0, DEL, and C1 in its two bytes. */
static bool is_control(const char *text, size_t length)
{
	u8 byte = text[length - 1];

	return length == 1 ? byte < ' ' || byte == 0x7f :
	       length == 2 && (u8)text[0] == 0xc2 && byte < 0xa0;
}

void plain_text(char *text)
{
	size_t length;

	for (; *text; text += length) {
		/* What nearly all texts are made of. */
		if (*text >= ' ' && *text < 0x7f) {
			length = 1;
			continue;
		}
		length = utf8_length(text);
		if (length && !is_control(text, length))
			continue;
		if (!length)
			length = 1;
		memset(text, '?', length);
	}
}

int plain_cut(const char *text, int size)
{
	int end = 0, length;

	while (text[end]) {
		length = utf8_length(text + end);
		if (!length || end + length > size)
			break;
		end += length;
	}
	return end;
}
