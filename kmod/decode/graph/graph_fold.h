/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Giving away what nodes counted, and dropping what is cached: graph_fold.c. Runs where the
 * sink may.
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

#endif /* KIPT_DECODE_GRAPH_FOLD_H */
