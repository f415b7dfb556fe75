/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers looked up by numbers, in about the same time however many there are.
 */
#ifndef KIPT_LOOKUP_H
#define KIPT_LOOKUP_H

#include <stdbool.h>
#include <stddef.h>

#include "../../../kmod/decode/port.h"

struct lookup_slot;

/**
 * struct lookup - keys, each with a value; empty if all zero
 * @slots: a power of two of them, or NULL; at most half are used
 * @room: how many
 * @count: how many are used
 * @seed: nobody who writes a file knows it
 */
struct lookup {
	struct lookup_slot *slots;
	size_t room;
	size_t count;
	u64 seed;
};

/**
 * lookup_mix() - a hash of several numbers, one after the other
 * @hash: of those before; a seed at first
 * @value: the next
 *
 * Return: the hash.
 */
static inline u64 lookup_mix(u64 hash, u64 value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL;
	return hash ^ hash >> 29;
}

/**
 * lookup_text() - the same of a text
 * @hash: of what was before; a seed at first
 * @text: the next; NULL: none
 *
 * Return: the hash.
 */
static inline u64 lookup_text(u64 hash, const char *text)
{
	for (; text && *text; text++)
		hash = (hash ^ (u8)*text) * 1099511628211ULL;
	return hash;
}

/**
 * lookup_get() - the value of a key
 * @index: any
 * @key: any
 *
 * Return: the value, or NULL; valid until the next lookup_add().
 */
size_t *lookup_get(const struct lookup *index, u64 key);

/**
 * lookup_add() - give a key its value
 * @index: any
 * @key: any; a value that it has is replaced
 * @value: any
 *
 * Return: true, or false without memory.
 */
bool lookup_add(struct lookup *index, u64 key, size_t value);

/**
 * lookup_free() - free it
 * @index: empty afterwards
 */
void lookup_free(struct lookup *index);

/**
 * lookup_seed() - a number that is another one each time
 *
 * Return: it, never 0.
 */
u64 lookup_seed(void);

#endif /* KIPT_LOOKUP_H */
