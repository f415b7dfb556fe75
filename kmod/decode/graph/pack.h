/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Packed records: the nodes that the graph is made of, and the steps that were made in it, as
 * uapi/linux/kipt_record.h says (kipt_record_walk()). Any function runs where the sink may.
 * Those that pack steps are for flows that pack; the others do nothing for other flows.
 *
 * NODE and LINK records come before the WALK record that is being filled, though that has
 * older steps in it. So what they say must not differ from what was said for these:
 * kipt_pack_end() comes before a number is given anew, and before anything but the graph
 * moves the flow.
 */
#ifndef KIPT_DECODE_PACK_H
#define KIPT_DECODE_PACK_H

#include "../out/emit.h"

/**
 * kipt_pack_node() - define a node that is remembered
 * @flow: the flow
 * @number: of the node, which is built
 */
void kipt_pack_node(struct kipt_flow *flow, u32 number);

/**
 * kipt_pack_slow() - define a node that is not remembered, if a step may go there
 * @flow: the flow; no step leaves the node, which may be asked for again until
 *	kipt_pack_end()
 * @number: of the node, or KIPT_BLOCK_NONE
 * @ip: its address
 */
void kipt_pack_slow(struct kipt_flow *flow, u32 number, u64 ip);

/**
 * kipt_pack_link() - say where a node, or a return address, leads
 * @flow: the flow
 * @kind: enum kipt_link_kind
 * @from: number of the node, or slot of the return address
 * @to: number of the node there
 */
void kipt_pack_link(struct kipt_flow *flow, u32 kind, u32 from, u32 to);

/**
 * kipt_pack_start() - say where the flow is, if the WALK records so far do not
 * @flow: packs its instructions that no record has counted
 * @number: of the node it is at
 */
void kipt_pack_start(struct kipt_flow *flow, u32 number);

/**
 * kipt_pack_outcomes() - outcomes were used
 * @flow: packs
 * @bits: they, the oldest in the highest bit
 * @n: how many
 */
void kipt_pack_outcomes(struct kipt_flow *flow, u64 bits, u32 n);

/**
 * kipt_pack_short() - outcomes of short TNTs were used
 * @flow: packs
 * @from: the first packet; 8 bytes after any may be read
 * @to: after the last
 */
static inline void kipt_pack_short(struct kipt_flow *flow, const u8 *from, const u8 *to)
{
	u32 n, room;

	for (; from < to; from += n) {
		room = KIPT_RECORD_WALK_MAX - flow->output.nr_packed;
		n = to - from < 8 ? (u32)(to - from) : 8;
		n = n < room ? n : room;
		memcpy(flow->output.packed + flow->output.nr_packed, from, 8);
		flow->output.nr_packed += n;
		if (unlikely(flow->output.nr_packed == KIPT_RECORD_WALK_MAX))
			kipt_emit_packed(flow);
	}
}

/**
 * kipt_pack_target() - control goes to a node
 * @flow: packs
 * @number: of the node
 */
static inline void kipt_pack_target(struct kipt_flow *flow, u32 number)
{
	const u8 item = number <= 0xffff ? KIPT_WALK_NEAR : KIPT_WALK_TARGET;
	const u32 size = kipt_walk_size(item);
	u8 *at;

	if (unlikely(flow->output.nr_packed + size > KIPT_RECORD_WALK_MAX))
		kipt_emit_packed(flow);
	at = flow->output.packed + flow->output.nr_packed;
	flow->output.nr_packed += size;
	at[0] = item;
	/* More than is used of KIPT_WALK_NEAR: there is room after each item. */
	memcpy(&at[1], &number, 4);
}

/**
 * kipt_pack_upto() - up to a node no outcome or target is used
 * @flow: packs
 * @number: of the node
 */
void kipt_pack_upto(struct kipt_flow *flow, u32 number);

/**
 * kipt_pack_end() - the WALK records so far say where the flow is no longer
 * @flow: the flow
 */
void kipt_pack_end(struct kipt_flow *flow);

/**
 * kipt_pack_drop() - as kipt_pack_end(); what is being filled is dropped
 * @flow: the flow
 */
void kipt_pack_drop(struct kipt_flow *flow);

#endif /* KIPT_DECODE_PACK_H */
