/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers in bytes that may be at any address, and lists that grow.
 */
#ifndef KIPT_PERF_BYTES_H
#define KIPT_PERF_BYTES_H

#include <stdlib.h>
#include <string.h>

#include "../../../kmod/decode/port.h"

static inline u16 get16(const u8 *bytes)
{
	u16 number;

	memcpy(&number, bytes, sizeof(number));
	return number;
}

static inline u32 get32(const u8 *bytes)
{
	u32 number;

	memcpy(&number, bytes, sizeof(number));
	return number;
}

static inline u64 get64(const u8 *bytes)
{
	u64 number;

	memcpy(&number, bytes, sizeof(number));
	return number;
}

/**
 * list_room() - make room for one more entry
 * @list: from here alone, or NULL; freed with free()
 * @count: entries it has
 * @each: bytes of one
 *
 * Room doubles: the list is full when the count is a power of two.
 *
 * Return: the list, maybe elsewhere; NULL if there is no memory, and @list is as it was.
 */
static inline void *list_room(void *list, size_t count, size_t each)
{
	if (count & (count - 1))
		return list;
	return realloc(list, (count ? count * 2 : 1) * each);
}

#endif /* KIPT_PERF_BYTES_H */
