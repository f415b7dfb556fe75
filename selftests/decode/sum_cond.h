/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What KIPT_FLOW_NO_COND leaves of records, for the flow tests and the fuzzer.
 */
#ifndef KIPT_SUM_COND_H
#define KIPT_SUM_COND_H

#include "../../kmod/decode/flow.h"

/**
 * sum_cond() - leave conditional branches out
 * @records: changed
 * @count: how many
 * @sums: what kipt_flow_sums() is to say of those that are left out
 *
 * Return: how many records remain.
 */
static inline u32 sum_cond(struct kipt_record *records, u32 count, struct kipt_flow_sums *sums)
{
	u32 i, kept = 0;

	*sums = (struct kipt_flow_sums){ 0 };
	for (i = 0; i < count; i++) {
		if (records[i].type == KIPT_RECORD_BRANCH && records[i].kind == KIPT_BRANCH_COND) {
			sums->branches++;
			sums->insns += records[i].aux;
		} else {
			records[kept++] = records[i];
		}
	}
	return kept;
}

#endif /* KIPT_SUM_COND_H */
