/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * FUP and what claims it, and packets beside the flow: flow_event.c. Runs where the
 * callbacks may.
 */
#ifndef KIPT_DECODE_FLOW_EVENT_H
#define KIPT_DECODE_FLOW_EVENT_H

#include "../state/flow_state.h"

/**
 * kipt_flow_on_fup() - use a FUP
 * @flow: the flow
 * @packet: the FUP
 */
void kipt_flow_on_fup(struct kipt_flow *flow, const struct kipt_packet *packet);

/**
 * kipt_flow_release() - records that waited for an address go without
 * @flow: the flow
 */
void kipt_flow_release(struct kipt_flow *flow);

/**
 * kipt_flow_hold() - keep a record until its address is known
 * @flow: the flow
 * @record: copied
 */
void kipt_flow_hold(struct kipt_flow *flow, const struct kipt_record *record);

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

#endif /* KIPT_DECODE_FLOW_EVENT_H */
