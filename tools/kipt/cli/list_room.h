/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lists that grow by one entry at a time.
 */
#ifndef KIPT_LIST_ROOM_H
#define KIPT_LIST_ROOM_H

#include <stdlib.h>

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

#endif /* KIPT_LIST_ROOM_H */
