/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Packets one by one, what flow.c offers the other files of the core. Runs where the
 * callbacks may.
 */
#ifndef KIPT_DECODE_FLOW_STEP_H
#define KIPT_DECODE_FLOW_STEP_H

#include "flow_state.h"

/*
 * KIPT_FLOW_PROVE: packets are used by the graph one by one, and what each
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

/**
 * kipt_flow_pass_beside() - pass PADs, or a packet that only tells time
 * @flow: the flow; its cursor stays
 * @pos: the packet; 16 bytes may be read from here on
 * @upto: PADs are passed up to here
 *
 * Return: the next packet; NULL if another packet is at @pos.
 */
const u8 *kipt_flow_pass_beside(struct kipt_flow *flow, const u8 *pos, const u8 *upto);

/**
 * kipt_flow_nothing_pending() - has all that packets said taken effect
 * @flow: the flow
 *
 * Return: true if what a TNT, TIP, TIP.PGE or TIP.PGD does next depends on nothing but its own
 * bytes, the code, the return stack and whether tracing is on.
 */
static inline bool kipt_flow_nothing_pending(const struct kipt_flow *flow)
{
	const struct kipt_flow_pending *pending = &flow->pending;
	const struct kipt_flow_state *state = &flow->state;

	return !flow->walk.version && !flow->walk.tnt.count && !flow->input.cursor.block &&
	       !pending->held_count && pending->claim == KIPT_CLAIM_NONE &&
	       !(state->lost | state->doubtful | state->overflow | state->tsx |
		 pending->event | pending->abort | pending->echo | pending->share |
		 pending->mode_pending | flow->at.pip_pending);
}

#endif /* KIPT_DECODE_FLOW_STEP_H */
