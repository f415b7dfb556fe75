/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Packets one by one, what flow.c offers the other files of the core. Runs where the
 * callbacks may.
 */
#ifndef KIPT_DECODE_FLOW_STEP_H
#define KIPT_DECODE_FLOW_STEP_H

#include "flow_state.h"

/*
 * KIPT_FLOW_PROVE: paths, and packets by the graph, are taken one by one, and what each
 * does is held against the slow path at once.
 */
#ifdef KIPT_FLOW_PROVE
#define KIPT_PROVES	true
#else
#define KIPT_PROVES	false
#endif

/**
 * kipt_flow_step() - use the next packet, by the slow path
 * @flow: inside a segment
 *
 * Return: KIPT_OK, KIPT_END at the segment's end, or why the bytes are no packet.
 */
enum kipt_status kipt_flow_step(struct kipt_flow *flow);

/**
 * kipt_flow_on_time() - use a packet that only tells time
 * @flow: the flow
 * @packet: one that kipt_packet_is_time() is true for
 */
void kipt_flow_on_time(struct kipt_flow *flow,
		       const struct kipt_packet *packet);

#endif /* KIPT_DECODE_FLOW_STEP_H */
