/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Edge counts: flow_count.c. Runs where the sink may.
 */
#ifndef KIPT_DECODE_FLOW_COUNT_H
#define KIPT_DECODE_FLOW_COUNT_H

#include "../state/flow_state.h"

/**
 * kipt_count_edge() - control went along an edge that is no direct branch's
 * @flow: counts, does not record
 * @from: the branch, or where an event came
 * @to: where control went
 * @kind: enum kipt_branch_kind
 */
void kipt_count_edge(struct kipt_flow *flow, u64 from, u64 to, u8 kind);

/**
 * kipt_count_add() - control went along an edge many times
 * @flow: counts
 * @space: address space of the end that is not the kernel's; 0 if both are
 * @from: the branch
 * @to: where control went
 * @kind: enum kipt_branch_kind
 * @count: how often
 */
void kipt_count_add(struct kipt_flow *flow, u64 space, u64 from, u64 to, u8 kind,
		    u64 count);

/**
 * kipt_count_emit() - emit how often control went along an edge
 * @flow: counts
 * @space: address space; 0 if both ends are the kernel's
 * @from: the branch
 * @to: where control went
 * @kind: enum kipt_branch_kind
 * @count: how often
 */
void kipt_count_emit(struct kipt_flow *flow, u64 space, u64 from, u64 to, u8 kind, u64 count);

#endif /* KIPT_DECODE_FLOW_COUNT_H */
