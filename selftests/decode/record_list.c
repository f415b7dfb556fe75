// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lists of records, see record_list.h. User space.
 */
#include <stdio.h>
#include <stdlib.h>

#include "expand.h"
#include "record_list.h"

bool record_list_add(void *ctx, const struct kipt_record *record, u32 n)
{
	struct record_list *list = ctx;

	if (list->count + n > list->room) {
		list->room = 2 * (list->count + n);
		list->record = realloc(list->record, list->room *
					       sizeof(*list->record));
		if (!list->record) {
			fprintf(stderr, "out of memory\n");
			exit(2);
		}
	}
	memcpy(list->record + list->count, record, n * sizeof(*record));
	list->count += n;
	return true;
}

void record_list_free(struct record_list *list)
{
	free(list->record);
	memset(list, 0, sizeof(*list));
}

u64 record_list_difference(const struct record_list *a,
			   const struct record_list *b)
{
	u64 i;

	for (i = 0; i < a->count && i < b->count; i++) {
		if (memcmp(&a->record[i], &b->record[i], sizeof(a->record[i])))
			break;
	}
	return i;
}

bool record_list_same(const struct record_list *a, const struct record_list *b)
{
	return a->count == b->count &&
	       record_list_difference(a, b) == a->count;
}

void record_list_drop(struct record_list *list, u8 type)
{
	u64 kept = 0, i;

	for (i = 0; i < list->count; i++) {
		if (list->record[i].type != type)
			list->record[kept++] = list->record[i];
	}
	list->count = kept;
}

static bool is_call(const struct kipt_record *record)
{
	switch (record->kind) {
	case KIPT_BRANCH_COND:
	case KIPT_BRANCH_JUMP:
	case KIPT_BRANCH_JUMP_IND:
		return false;
	default:
		return true;
	}
}

/* The instructions before a record that is left out count for the next. */
void record_list_calls(struct record_list *list)
{
	struct kipt_record *record;
	u64 left = 0, kept = 0, sum, i;

	for (i = 0; i < list->count; i++) {
		record = &list->record[i];
		sum = record->aux + left;
		switch (record->type) {
		case KIPT_RECORD_BRANCH:
			if (!is_call(record)) {
				left = sum;
				continue;
			}
			fallthrough;
		case KIPT_RECORD_DISABLE:
		case KIPT_RECORD_SYNC:
			if (record->type != KIPT_RECORD_SYNC ||
			    record->kind != KIPT_SYNC_START)
				record->aux = sum < 0xffffffffU ? (u32)sum :
								  0xffffffffU;
			fallthrough;
		case KIPT_RECORD_ENABLE:
		case KIPT_RECORD_GAP:
			left = 0;
			break;
		default:
			break;
		}
		list->record[kept++] = *record;
	}
	list->count = kept;
}

static int edge_compare(const void *a, const void *b)
{
	const struct kipt_record *l = a, *r = b;

	if (l->ip != r->ip)
		return l->ip < r->ip ? -1 : 1;
	if (l->value != r->value)
		return l->value < r->value ? -1 : 1;
	return (l->kind > r->kind) - (l->kind < r->kind);
}

static void to_edge(struct kipt_record *record)
{
	*record = (struct kipt_record){
		.type = KIPT_RECORD_EDGE, .kind = record->kind,
		.ip = record->ip, .value = record->value,
		.aux = record->type == KIPT_RECORD_EDGE ? record->aux : 1,
	};
}

void record_list_edges(struct record_list *list)
{
	struct kipt_record *all = list->record;
	u64 edges = 0, kept = 0, i;

	for (i = 0; i < list->count; i++) {
		if (all[i].type == KIPT_RECORD_BRANCH ||
		    all[i].type == KIPT_RECORD_EDGE) {
			all[edges] = all[i];
			to_edge(&all[edges++]);
		}
	}
	if (edges)
		qsort(all, edges, sizeof(*all), edge_compare);
	for (i = 0; i < edges; i++) {
		if (kept && !edge_compare(&all[i], &all[kept - 1]))
			all[kept - 1].aux += all[i].aux;
		else
			all[kept++] = all[i];
	}
	list->count = kept;
}

const char *record_list_plain(struct record_list *list)
{
	struct record_list plain = { 0 };
	const char *wrong;

	plain.count = expand(list->record, list->count, NULL, 0, &wrong);
	if (wrong)
		return wrong;
	plain.room = plain.count + 1;
	plain.record = malloc(plain.room * sizeof(*plain.record));
	if (!plain.record)
		exit(2);
	expand(list->record, list->count, plain.record, plain.room, &wrong);
	record_list_free(list);
	*list = plain;
	return NULL;
}
