// SPDX-License-Identifier: GPL-2.0-only
/*
 * What of a text a terminal may see, see printable.h.
 */
#include <string.h>

#include "../../../kmod/decode/port.h"
#include "printable.h"

/* utf8_length(), and the character */
static size_t character_read(const char *text, u32 *character)
{
	/* The least that so many bytes may say: each has one form only. */
	static const u32 least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const u8 *bytes = (const u8 *)text;
	size_t length, i;
	u32 code;

	*character = bytes[0];
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
	*character = code;
	return length;
}

size_t utf8_length(const char *text)
{
	u32 character;

	return character_read(text, &character);
}

/*
 * C0, DEL and C1; and what changes the order of the characters shown, by which a name may
 * look like another (Unicode's Bidi_Control), or ends a line (U+2028, U+2029).
 */
static bool is_control(u32 character)
{
	return character < ' ' || (character >= 0x7f && character < 0xa0) ||
	       character == 0x61c || character == 0x200e || character == 0x200f ||
	       (character >= 0x2028 && character <= 0x202e) ||
	       (character >= 0x2066 && character <= 0x2069);
}

void plain_text(char *text)
{
	size_t length;
	u32 character;

	for (; *text; text += length) {
		/* What nearly all texts are made of. */
		if (*text >= ' ' && *text < 0x7f) {
			length = 1;
			continue;
		}
		length = character_read(text, &character);
		if (length && !is_control(character))
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
