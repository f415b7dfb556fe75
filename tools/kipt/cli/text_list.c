// SPDX-License-Identifier: GPL-2.0-only
/*
 * Texts and their numbers, see text_list.h.
 */
#include <stdlib.h>
#include <string.h>

#include "list_room.h"
#include "text_list.h"

u32 text_list_number(struct text_list *list, const char *text, u32 most)
{
	u64 hash = lookup_text(14695981039346656037ULL, text);
	size_t *found = lookup_get(&list->numbers, hash);
	char **texts;

	/* Of two texts with one hash, the one that came last has it. */
	if (found && !strcmp(list->texts[*found], text))
		return *found;
	if (list->count >= most)
		return TEXT_NONE;
	texts = list_room(list->texts, list->count, sizeof(*texts));
	if (!texts)
		return TEXT_NONE;
	list->texts = texts;
	texts[list->count] = strdup(text);
	if (!texts[list->count])
		return TEXT_NONE;
	if (!lookup_add(&list->numbers, hash, list->count)) {
		free(texts[list->count]);
		return TEXT_NONE;
	}
	return list->count++;
}

void text_list_free(struct text_list *list)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		free(list->texts[i]);
	free(list->texts);
	lookup_free(&list->numbers);
	memset(list, 0, sizeof(*list));
}
