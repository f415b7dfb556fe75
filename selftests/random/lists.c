// SPDX-License-Identifier: GPL-2.0-only
/*
 * Filters over record lists. User space.
 */
#include "lists.h"

#include <stdlib.h>

void list_drop_times(struct record_list *list)
{
	u32 i, kept = 0;

	for (i = 0; i < list->count; i++) {
		if (list->records[i].type != KIPT_RECORD_TIME &&
		    list->records[i].type != KIPT_RECORD_CBR)
			list->records[kept++] = list->records[i];
	}
	list->count = kept;
}

void list_drop_flow(struct record_list *list)
{
	u32 i, kept = 0;

	for (i = 0; i < list->count; i++) {
		struct kipt_record record = list->records[i];

		switch (record.type) {
		case KIPT_RECORD_BRANCH:
		case KIPT_RECORD_ENABLE:
		case KIPT_RECORD_DISABLE:
		case KIPT_RECORD_EDGE:
			continue;
		case KIPT_RECORD_SYNC:
			record.aux = 0;
			break;
		default:
			break;
		}
		list->records[kept++] = record;
	}
	list->count = kept;
}

bool list_times_rise(const struct record_list *list)
{
	u64 last = 0;
	u32 i;

	for (i = 0; i < list->count; i++) {
		const struct kipt_record *record = &list->records[i];

		if (record->type == KIPT_RECORD_GAP ||
		    (record->type == KIPT_RECORD_SYNC &&
		     record->kind == KIPT_SYNC_START))
			last = 0;
		if (record->type != KIPT_RECORD_TIME)
			continue;
		if (record->value < last)
			return false;
		last = record->value;
	}
	return true;
}

static int by_edge(const void *one, const void *two)
{
	const struct kipt_record *a = one, *b = two;

	if (a->ip != b->ip)
		return a->ip < b->ip ? -1 : 1;
	if (a->value != b->value)
		return a->value < b->value ? -1 : 1;
	return a->kind - b->kind;
}

void list_count_edges(struct record_list *list, u8 type, u32 times)
{
	u32 i, kept = 0, edges = 0;

	for (i = 0; i < list->count; i++) {
		struct kipt_record record = list->records[i];

		if (record.type != type)
			continue;
		if (type == KIPT_RECORD_BRANCH)
			record.aux = times;
		record.type = KIPT_RECORD_EDGE;
		record.flags = 0;
		list->records[kept++] = record;
	}
	qsort(list->records, kept, sizeof(list->records[0]), by_edge);
	for (i = 0; i < kept; i++) {
		if (edges && !by_edge(&list->records[edges - 1],
				      &list->records[i]))
			list->records[edges - 1].aux += list->records[i].aux;
		else
			list->records[edges++] = list->records[i];
	}
	list->count = edges;
}
