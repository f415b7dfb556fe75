/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Texts that are numbered as they come.
 */
#ifndef KIPT_TEXT_LIST_H
#define KIPT_TEXT_LIST_H

#include "lookup.h"

#define TEXT_NONE	(~0U)

/**
 * struct text_list - texts; empty if all zero
 * @texts: they
 * @count: how many
 * @numbers: by their hash
 */
struct text_list {
	char **texts;
	size_t count;
	struct lookup numbers;
};

/**
 * text_list_number() - the number of a text
 * @list: any
 * @text: copied if it is new
 * @most: the list has so many at most
 *
 * Return: the number; TEXT_NONE without room or memory.
 */
u32 text_list_number(struct text_list *list, const char *text, u32 most);

/**
 * text_list_free() - free it
 * @list: empty afterwards
 */
void text_list_free(struct text_list *list);

#endif /* KIPT_TEXT_LIST_H */
