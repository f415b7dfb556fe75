/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Packed records to those they stand for, by nothing but the comments of
 * uapi/linux/kipt_record.h: what the decoder packs is compared with what it
 * does not. Any breach of the rules ends the program. User space, one thread.
 */
#ifndef KIPT_FUZZ_EXPAND_H
#define KIPT_FUZZ_EXPAND_H

#include "../../kmod/decode/flow.h"

#define LIST_MAX	(1 << 16)

/**
 * struct record_list - records in order
 * @count: how many
 * @full: there were more
 * @records: they
 */
struct record_list {
	u32 count;
	bool full;
	struct kipt_record records[LIST_MAX];
};

/**
 * record_list_add() - a struct kipt_sink.emit
 * @ctx: the struct record_list; what does not fit is dropped
 * @records: what
 * @n: how many
 *
 * Return: true.
 */
bool record_list_add(void *ctx, const struct kipt_record *records, u32 n);

/**
 * expand() - replace PATHS records by what they say
 * @packed: records with PATH and PATHS records among them
 * @plain: filled
 */
void expand(const struct record_list *packed, struct record_list *plain);

#endif /* KIPT_FUZZ_EXPAND_H */
