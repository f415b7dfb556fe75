/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What nodes counted: graph_fold.c. Runs where the sink may.
 */
#ifndef KIPT_DECODE_GRAPH_FOLD_H
#define KIPT_DECODE_GRAPH_FOLD_H

#include "../state/flow_state.h"

/**
 * kipt_graph_fold() - give what nodes counted to blocks and edges
 * @flow: counts; its nodes count from 0 afterwards. Edges there is no room for go to the
 *	sink.
 */
void kipt_graph_fold(struct kipt_flow *flow);

/**
 * kipt_graph_count() - count an edge that there is no room for as a pair
 * @flow: counts
 * @from: number of the node
 * @to: the address where its branch went
 */
void kipt_graph_count(struct kipt_flow *flow, u32 from, u64 to);

/**
 * kipt_graph_fold_patched() - the same for the node of a patched block alone
 * @flow: counts
 * @number: of the node; no other leads on into it, or past it
 */
void kipt_graph_fold_patched(struct kipt_flow *flow, u32 number);

#endif /* KIPT_DECODE_GRAPH_FOLD_H */
