/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lists of records, and what one kind of output must be made of another:
 * calls out of branches, edges out of branches, branches out of instructions,
 * plain out of packed. By the rules of the record header and of flow.h; knows
 * nothing of how the decoder does it. User space.
 */
#ifndef KIPT_SELFTESTS_DECODE_RECORD_LIST_H
#define KIPT_SELFTESTS_DECODE_RECORD_LIST_H

#include "../../kmod/decode/port.h"

/**
 * struct record_list - records in order
 * @record: they
 * @count: how many
 * @room: how many fit before it grows
 */
struct record_list {
	struct kipt_record *record;
	u64 count;
	u64 room;
};

/**
 * record_list_add() - a struct kipt_sink.emit that keeps all
 * @ctx: the struct record_list
 * @record: appended
 * @n: how many
 *
 * Return: true. Ends the program without memory.
 */
bool record_list_add(void *ctx, const struct kipt_record *record, u32 n);

/**
 * record_list_free() - drop all records
 * @list: empty afterwards, and may be used again
 */
void record_list_free(struct record_list *list);

/**
 * record_list_same() - are two lists equal
 * @a: one
 * @b: the other
 *
 * Return: true if all bytes of all records are.
 */
bool record_list_same(const struct record_list *a, const struct record_list *b);

/**
 * record_list_difference() - where two lists differ first
 * @a: one
 * @b: the other
 *
 * Return: number of records at the beginning that are equal.
 */
u64 record_list_difference(const struct record_list *a,
			   const struct record_list *b);

/**
 * record_list_drop() - leave records of a type out
 * @list: changed
 * @type: enum kipt_record_type
 */
void record_list_drop(struct record_list *list, u8 type);

/**
 * record_list_calls() - what KIPT_FLOW_CALLS gives where @list is what
 * KIPT_FLOW_BRANCHES gives
 * @list: changed
 */
void record_list_calls(struct record_list *list);

/**
 * record_list_edges() - the histogram of the edges in BRANCH and EDGE records
 * @list: changed: only EDGE records, each edge once, in order
 */
void record_list_edges(struct record_list *list);

/**
 * record_list_plain() - expand packed records
 * @list: changed
 *
 * Return: NULL, or a sentence about the rule that @list breaks.
 */
const char *record_list_plain(struct record_list *list);

#endif /* KIPT_SELFTESTS_DECODE_RECORD_LIST_H */
