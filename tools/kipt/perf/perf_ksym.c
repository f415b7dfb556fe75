// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kernel code that comes and goes, see perf_ksym.h.
 */
#include <stdlib.h>
#include <string.h>

#include "../cli/list_room.h"
#include "perf_ksym.h"

/* Where more than this were at an address, none is named. */
#define TRIES	256

struct perf_ksym *perf_ksym_latest(const struct perf_ksyms *ksyms, u64 address)
{
	const size_t *index = lookup_get(&ksyms->latest, address);

	return index ? &ksyms->list[*index] : NULL;
}

bool perf_ksym_add(struct perf_ksyms *ksyms, const struct perf_ksym *ksym)
{
	struct perf_ksym *list = list_room(ksyms->list, ksyms->count,
					   sizeof(*list));
	char *name = strdup(ksym->name);

	if (list)
		ksyms->list = list;
	if (!list || !name || !lookup_add(&ksyms->latest, ksym->address,
					  ksyms->count)) {
		free(name);
		return false;
	}
	list[ksyms->count] = *ksym;
	list[ksyms->count++].name = name;
	return true;
}

static int ksym_compare(const void *left, const void *right)
{
	const struct perf_ksym *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return a->from < b->from ? -1 : a->from > b->from;
}

static int time_compare(const void *left, const void *right)
{
	u64 a = *(const u64 *)left, b = *(const u64 *)right;

	return a < b ? -1 : a > b;
}

static bool times_sort(struct perf_ksyms *ksyms, u64 slack)
{
	struct perf_ksym *ksym;
	size_t i;

	ksyms->times = malloc(2 * ksyms->count * sizeof(*ksyms->times));
	if (!ksyms->times)
		return false;
	for (i = 0; i < ksyms->count; i++) {
		ksym = &ksyms->list[i];
		ksym->from = ksym->from > slack ? ksym->from - slack : 0;
		if (ksym->to < ~0ULL - slack)
			ksym->to += slack;
		ksyms->times[ksyms->time_count++] = ksym->from;
		ksyms->times[ksyms->time_count++] = ksym->to;
	}
	qsort(ksyms->times, ksyms->time_count, sizeof(*ksyms->times),
	      time_compare);
	return true;
}

u32 perf_ksyms_version(const struct perf_ksyms *ksyms, u64 tsc)
{
	size_t low = 0, high = ksyms->time_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (ksyms->times[middle] <= tsc)
			low = middle + 1;
		else
			high = middle;
	}
	return low + 1;
}

bool perf_ksyms_sort(struct perf_ksyms *ksyms, u64 slack)
{
	u64 reach = 0, end;
	size_t i;

	lookup_free(&ksyms->latest);
	if (!ksyms->count)
		return true;
	ksyms->reach = malloc(ksyms->count * sizeof(*ksyms->reach));
	if (!ksyms->reach || !times_sort(ksyms, slack))
		return false;
	qsort(ksyms->list, ksyms->count, sizeof(*ksyms->list), ksym_compare);
	for (i = 0; i < ksyms->count; i++) {
		end = ksyms->list[i].address + ksyms->list[i].size;
		if (end > reach)
			reach = end;
		ksyms->reach[i] = reach;
	}
	return true;
}

/* The first that begins after an address. */
static size_t ksym_after(const struct perf_ksyms *ksyms, u64 address)
{
	size_t low = 0, high = ksyms->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (ksyms->list[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct perf_ksym *perf_ksym_find(const struct perf_ksyms *ksyms,
				       u64 address, u64 tsc, bool *several)
{
	size_t at = ksym_after(ksyms, address), tries = TRIES;
	const struct perf_ksym *found = NULL, *ksym;

	*several = false;
	for (; at && ksyms->reach[at - 1] > address && !*several; at--) {
		ksym = &ksyms->list[at - 1];
		if (!tries--)
			*several = true;
		if (address - ksym->address >= ksym->size ||
		    (tsc && (tsc < ksym->from || tsc >= ksym->to)))
			continue;
		if (!found)
			found = ksym;
		*several |= found->address != ksym->address ||
			    strcmp(found->name, ksym->name);
	}
	return *several ? NULL : found;
}

void perf_ksyms_apart(const struct perf_ksyms *ksyms, u64 address, u64 *first, u64 *end)
{
	size_t at = ksym_after(ksyms, address);

	/* Code was there at another time. */
	if (at && ksyms->reach[at - 1] > address) {
		*first = address;
		*end = address + 1;
		return;
	}
	if (at)
		*first = ksyms->reach[at - 1];
	if (at < ksyms->count)
		*end = ksyms->list[at].address;
}

void perf_ksyms_free(struct perf_ksyms *ksyms)
{
	size_t i;

	for (i = 0; i < ksyms->count; i++)
		free(ksyms->list[i].name);
	free(ksyms->list);
	free(ksyms->reach);
	free(ksyms->times);
	lookup_free(&ksyms->latest);
	*ksyms = (struct perf_ksyms){ 0 };
}
