/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Packets beside the flow: flow_side.c. Runs where the callbacks may.
 */
#ifndef KIPT_DECODE_FLOW_SIDE_H
#define KIPT_DECODE_FLOW_SIDE_H

#include "../state/flow_state.h"

/**
 * kipt_flow_end_data() - no event comes for the EVDs before
 * @flow: the flow; if there are some it is lost afterwards
 */
void kipt_flow_end_data(struct kipt_flow *flow);

/**
 * kipt_flow_on_side() - use a packet about something beside the flow
 * @flow: the flow
 * @packet: MODE.TSX, PTW, power, Event Trace, block, VMCS, TraceStop, TRIG
 */
void kipt_flow_on_side(struct kipt_flow *flow,
		       const struct kipt_packet *packet);

#endif /* KIPT_DECODE_FLOW_SIDE_H */
