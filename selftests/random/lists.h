/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is left of a record list if some things do not matter. User space.
 */
#ifndef KIPT_SELFTESTS_RANDOM_LISTS_H
#define KIPT_SELFTESTS_RANDOM_LISTS_H

#include "truth.h"

/**
 * list_drop_times() - all but TIME and CBR records
 * @list: changed
 */
void list_drop_times(struct record_list *list);

/**
 * list_drop_flow() - keep only the records that go with edge counts
 * @list: changed
 */
void list_drop_flow(struct record_list *list);

/**
 * list_times_rise() - is time monotonic
 * @list: of one trace
 *
 * Return: false if a TIME record is before the one before, without a gap or
 * the start of decoding between them.
 */
bool list_times_rise(const struct record_list *list);

/**
 * list_count_edges() - one EDGE record for each edge of each address space
 * @list: changed; sorted, with the number of the address space in @flags
 * @type: KIPT_RECORD_BRANCH, where CONTEXT records say which space it is, or
 *	KIPT_RECORD_EDGE, where SPACE records do
 * @times: how often each BRANCH record counts
 * @cr3_of_space: what CR3 is divided by for the number
 */
void list_count_edges(struct record_list *list, u8 type, u32 times,
		      u64 cr3_of_space);

/**
 * list_holds() - did all happen that the records of the flow say
 * @all: what happened
 * @some: records, gaps among them; an address may be missing, and records of other
 *	things than the flow are not looked at
 *
 * Return: true if the records of @some are in @all, in this order.
 */
bool list_holds(const struct record_list *all, const struct record_list *some);

#endif /* KIPT_SELFTESTS_RANDOM_LISTS_H */
