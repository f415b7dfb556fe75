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
		case KIPT_RECORD_SPACE:
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
	if (a->flags != b->flags)
		return a->flags - b->flags;
	return a->kind - b->kind;
}

/* The address space that is named here, if one is: of EDGE records by SPACE records alone. */
static void see_space(const struct kipt_record *record, u8 type, u64 cr3_of_space,
		      u16 *space)
{
	if ((record->type == KIPT_RECORD_SPACE) != (type == KIPT_RECORD_EDGE))
		return;
	switch (record->type) {
	case KIPT_RECORD_CONTEXT:
		*space = (u16)(record->value / cr3_of_space);
		break;
	case KIPT_RECORD_SPACE:
		*space = (u16)record->value;
		break;
	case KIPT_RECORD_SYNC:
		if (record->kind == KIPT_SYNC_START)
			*space = 0;
		break;
	default:
		break;
	}
}

static u16 space_of_edge(const struct kipt_record *record, u16 space)
{
	return (record->ip & record->value) >> 63 ? 0 : space;
}

void list_count_edges(struct record_list *list, u8 type, u32 times,
		      u64 cr3_of_space)
{
	u32 i, kept = 0, edges = 0;
	u16 space = 0;

	for (i = 0; i < list->count; i++) {
		struct kipt_record record = list->records[i];

		see_space(&record, type, cr3_of_space, &space);
		if (record.type != type)
			continue;
		if (type == KIPT_RECORD_BRANCH)
			record.aux = times;
		record.type = KIPT_RECORD_EDGE;
		record.flags = space_of_edge(&record, space);
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

/* What @record says happened there, and @happened did. */
static bool is_same(const struct kipt_record *record,
		    const struct kipt_record *happened)
{
	const u16 known = (u16)~(KIPT_RF_NO_IP | KIPT_RF_NO_VALUE);

	if (record->type != happened->type || record->kind != happened->kind ||
	    (record->flags ^ happened->flags) & known)
		return false;
	if (!(record->flags & KIPT_RF_NO_IP) && record->ip != happened->ip)
		return false;
	return record->flags & KIPT_RF_NO_VALUE ||
	       record->value == happened->value;
}

static bool must_have_happened(const struct kipt_record *record)
{
	switch (record->type) {
	case KIPT_RECORD_ENABLE:
		return record->kind == KIPT_ENABLE_PGE;
	case KIPT_RECORD_BRANCH:
	case KIPT_RECORD_DISABLE:
	case KIPT_RECORD_INSN:
	case KIPT_RECORD_TSX:
	case KIPT_RECORD_PTWRITE:
	case KIPT_RECORD_EVENT:
	case KIPT_RECORD_EVENT_DATA:
		return true;
	default:
		return false;
	}
}

bool list_holds(const struct record_list *all, const struct record_list *some)
{
	u32 at = 0, i;

	for (i = 0; i < some->count; i++) {
		const struct kipt_record *record = &some->records[i];

		if (!must_have_happened(record))
			continue;
		while (at < all->count && !is_same(record, &all->records[at]))
			at++;
		if (at++ == all->count)
			return false;
	}
	return true;
}
