/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A place in trace or code bytes that cannot leave them: every read names
 * its size and is checked against the end first. Values are little endian,
 * whatever the machine is. Pure, any context.
 */
#ifndef KIPT_DECODE_CURSOR_H
#define KIPT_DECODE_CURSOR_H

#include "../port.h"

/**
 * struct kipt_cursor - a place in bytes
 * @pos: next byte; @pos <= @end always
 * @end: first byte that must not be read
 * @block: size of block items (4, 8) inside a BBP block, else 0; packet.c's
 */
struct kipt_cursor {
	const u8 *pos;
	const u8 *end;
	u8 block;
};

/**
 * kipt_cursor_init() - start at the first byte of a range
 * @cursor: the cursor
 * @data: the bytes; must outlive the cursor
 * @size: how many
 */
static inline void kipt_cursor_init(struct kipt_cursor *cursor, const u8 *data,
				    u64 size)
{
	cursor->pos = data;
	cursor->end = data + size;
	cursor->block = 0;
}

/**
 * kipt_cursor_left() - bytes that may still be read
 * @cursor: the cursor
 *
 * Return: the number, 0 at the end.
 */
static inline u64 kipt_cursor_left(const struct kipt_cursor *cursor)
{
	return (u64)(cursor->end - cursor->pos);
}

/**
 * kipt_load_le() - a little-endian number of up to 8 bytes
 * @bytes: its bytes; the caller has checked that @size bytes are there
 * @size: 0..8
 *
 * Return: the value, zero extended.
 */
static inline u64 kipt_load_le(const u8 *bytes, u32 size)
{
	u64 value = 0;
	u32 i;

	for (i = 0; i < size; i++)
		value |= (u64)bytes[i] << (8 * i);
	return value;
}

/**
 * kipt_load64() - a little-endian number of 8 bytes
 * @bytes: its bytes; the caller has checked that all 8 are there
 *
 * Return: the value.
 */
static inline u64 kipt_load64(const u8 *bytes)
{
	u64 value;

	memcpy(&value, bytes, sizeof(value));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	value = __builtin_bswap64(value);
#endif
	return value;
}

#endif /* KIPT_DECODE_CURSOR_H */
