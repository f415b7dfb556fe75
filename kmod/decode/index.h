/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A hash index: from the key of something to its number in an array that
 * only grows. The array and the comparison are the user's, the index gives the
 * numbers. Starts small and doubles inside memory reserved for its largest size, so that little use
 * costs little time. Any context.
 */
#ifndef KIPT_DECODE_INDEX_H
#define KIPT_DECODE_INDEX_H

#include "port.h"

/* Tests make it small. */
#ifndef KIPT_INDEX_FIRST
#define KIPT_INDEX_FIRST	1024U
#endif

/* Odd; what keys are multiplied with unless a seed says otherwise. */
#define KIPT_INDEX_FACTOR	0x9e3779b97f4a7c15ULL

/**
 * struct kipt_index - open addressing, linear probing
 * @slots: the caller's memory; numbers, 0: free
 * @size: slots in use, a power of two
 * @max: slots there is memory for, a power of two
 * @count: numbers given, number 0 included, which is none
 * @most: numbers there is memory for in the array, number 0 included
 * @full: a number was wanted and there was no room
 * @factor: odd; a program that knows it can choose addresses that share a slot
 */
struct kipt_index {
	u32 *slots;
	u32 size;
	u32 max;
	u32 count;
	u32 most;
	bool full;
	u64 factor;
};

/**
 * kipt_index_clear() - drop all numbers; they are given anew
 * @index: the index; one that was not initialized gives none
 */
static inline void kipt_index_clear(struct kipt_index *index)
{
	if (!index->slots)
		return;
	index->count = 1;
	index->full = false;
	index->size = index->max < KIPT_INDEX_FIRST ? index->max :
						      KIPT_INDEX_FIRST;
	memset(index->slots, 0, sizeof(*index->slots) * index->size);
}

/**
 * kipt_index_init() - an empty index
 * @index: the index
 * @slots: memory of @max numbers, the caller's
 * @max: a power of two, at least twice @most
 * @most: numbers that are given, number 0 included; 2 or more
 * @seed: a secret number, which puts keys where nobody can predict; 0: the same places
 *	each time
 */
static inline void kipt_index_init(struct kipt_index *index, u32 *slots, u32 max, u32 most,
				   u64 seed)
{
	index->slots = slots;
	index->max = max;
	index->most = most;
	index->factor = seed ? seed | 1 : KIPT_INDEX_FACTOR;
	kipt_index_clear(index);
}

/**
 * kipt_index_new() - give a number
 * @index: the index; @full is set if there is no room
 *
 * Return: the number, to be entered, or 0 if there is no room.
 */
static inline u32 kipt_index_new(struct kipt_index *index)
{
	if (index->count >= index->most) {
		index->full = true;
		return 0;
	}
	return index->count++;
}

/**
 * kipt_index_first() - where to look for a key
 * @index: the index
 * @key: whose lower bits differ
 *
 * Return: a position; kipt_index_next() gives the others, until a free one.
 */
static inline u32 kipt_index_first(const struct kipt_index *index, u64 key)
{
	return (u32)(key * index->factor >> 32) & (index->size - 1);
}

static inline u32 kipt_index_next(const struct kipt_index *index, u32 at)
{
	return (at + 1) & (index->size - 1);
}

/**
 * kipt_index_put() - enter a number that is not there
 * @index: the index; not full
 * @key: of what it is the number of
 * @number: not 0
 */
static inline void kipt_index_put(struct kipt_index *index, u64 key,
				  u32 number)
{
	u32 at = kipt_index_first(index, key);

	while (index->slots[at])
		at = kipt_index_next(index, at);
	index->slots[at] = number;
}

/**
 * kipt_index_double() - make room, if the numbers given fill half of it
 * @index: the index
 *
 * Return: true if it is larger and empty now: the user enters all again.
 */
static inline bool kipt_index_double(struct kipt_index *index)
{
	if (index->count * 2 < index->size || index->size == index->max)
		return false;
	index->size *= 2;
	memset(index->slots, 0, sizeof(*index->slots) * index->size);
	return true;
}

#endif /* KIPT_DECODE_INDEX_H */
