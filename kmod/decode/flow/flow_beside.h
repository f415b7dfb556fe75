/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Packets between those that move the flow: PADs and timing packets. Runs where
 * the sink may.
 */
#ifndef KIPT_DECODE_FLOW_BESIDE_H
#define KIPT_DECODE_FLOW_BESIDE_H

#include "../state/flow_state.h"

/**
 * kipt_flow_on_time() - use a packet that has time alone
 * @flow: the flow
 * @packet: one that kipt_packet_is_time() is true for
 */
void kipt_flow_on_time(struct kipt_flow *flow,
		       const struct kipt_packet *packet);

/**
 * kipt_flow_pass_beside() - pass PADs, or a packet that has time alone
 * @flow: the flow; its cursor stays
 * @pos: the packet; 16 bytes may be read from here on
 * @upto: PADs are passed up to here
 *
 * Return: the next packet; NULL if another packet is at @pos.
 */
const u8 *kipt_flow_pass_beside(struct kipt_flow *flow, const u8 *pos, const u8 *upto);

#endif /* KIPT_DECODE_FLOW_BESIDE_H */
