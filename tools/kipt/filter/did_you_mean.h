/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names that somebody may have meant who wrote another one.
 */
#ifndef KIPT_DID_YOU_MEAN_H
#define KIPT_DID_YOU_MEAN_H

#include <stdbool.h>
#include <stddef.h>

#define NEAR_MAX	5
#define NEAR_NAME	128

/**
 * struct near - the nearest names so far
 * @want: what was written
 * @len: its characters
 * @names: the nearest first
 * @scores: how far each is
 * @count: how many there are
 */
struct near {
	const char *want;
	size_t len;
	char names[NEAR_MAX][NEAR_NAME];
	unsigned int scores[NEAR_MAX];
	unsigned int count;
};

/**
 * near_init() - begin to look
 * @near: filled
 * @want: what was written; must live as long
 * @len: its characters
 */
void near_init(struct near *near, const char *want, size_t len);

/**
 * near_add() - look at a name
 * @near: keeps it if it is near
 * @name: copied
 */
void near_add(struct near *near, const char *name);

/**
 * near_text() - what was found
 * @near: after all names
 * @text: where to: "; near it: a, b", or "" if there is nothing
 * @size: its bytes
 *
 * Return: @text.
 */
const char *near_text(const struct near *near, char *text, size_t size);

#endif /* KIPT_DID_YOU_MEAN_H */
