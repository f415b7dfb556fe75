/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What names nodes, the trail and the return stack, in blocks and addresses instead. Any
 * context.
 */
#ifndef KIPT_DECODE_FLOW_SETTLE_H
#define KIPT_DECODE_FLOW_SETTLE_H

#include "../state/flow_state.h"

/**
 * kipt_trail_read() - the last blocks walked
 * @flow: the flow
 * @trail: KIPT_FLOW_HISTORY of them, the youngest first
 *
 * Return: how many there are.
 */
u32 kipt_trail_read(struct kipt_flow *flow, struct kipt_trail *trail);

/**
 * kipt_settle_trail() - name blocks in the trail instead of nodes
 * @flow: its nodes may be dropped afterwards
 */
void kipt_settle_trail(struct kipt_flow *flow);

/**
 * kipt_settle_return() - write an address in place of the link of a return address
 * @flow: the flow
 * @below: how many are younger
 */
void kipt_settle_return(struct kipt_flow *flow, u32 below);

/**
 * kipt_settle_returns() - do so for all of the return stack
 * @flow: the flow; its nodes may be dropped afterwards
 */
void kipt_settle_returns(struct kipt_flow *flow);

#endif /* KIPT_DECODE_FLOW_SETTLE_H */
