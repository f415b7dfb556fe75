/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Edge counts, and what is dropped when memory is full: flow_count.c. Runs where the
 * sink may.
 */
#ifndef KIPT_DECODE_FLOW_COUNT_H
#define KIPT_DECODE_FLOW_COUNT_H

#include "flow_state.h"

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
 * @space: address space of the end that is not the kernel's, if one is
 * @from: the branch
 * @to: where control went
 * @kind: enum kipt_branch_kind
 * @count: how often
 */
void kipt_count_add(struct kipt_flow *flow, u64 space, u64 from, u64 to, u8 kind,
		    u64 count);

/**
 * kipt_count_give() - give the sink what was counted
 * @flow: counts start again from 0
 *
 * Return: false if a pause was asked for: it is to be called again, for the
 * rest, before anything is counted.
 */
bool kipt_count_give(struct kipt_flow *flow);

/**
 * kipt_flow_renew() - drop all that is cached
 * @flow: the flow; no block is in use
 *
 * Return: as kipt_count_give(); nothing was dropped then.
 */
bool kipt_flow_renew(struct kipt_flow *flow);

#endif /* KIPT_DECODE_FLOW_COUNT_H */
