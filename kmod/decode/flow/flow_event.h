/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * FUPs, and records that wait for theirs: flow_event.c. Runs where the callbacks may.
 */
#ifndef KIPT_DECODE_FLOW_EVENT_H
#define KIPT_DECODE_FLOW_EVENT_H

#include "../state/flow_state.h"

/* What a FUP says the address of. */
enum kipt_fup_owner {
	KIPT_FUP_NOBODY,	/* nothing: it repeats what is known, or tracing is off */
	KIPT_FUP_CLAIMED,	/* the packet before it, which claimed it: enum kipt_claim */
	KIPT_FUP_OVERFLOW,	/* where execution is after an OVF */
	KIPT_FUP_MODE,		/* an instruction that changed IF, or the mode */
	KIPT_FUP_EVENT,		/* an event, whose TIP or TIP.PGD follows; in a gap, execution */
	KIPT_FUP_HELD,		/* an event while tracing is off, after its CFE */
};

/**
 * kipt_fup_owner() - what a FUP with an address belongs to
 * @state: before the FUP
 * @pending: likewise
 * @after_mode: a MODE.Exec is right before it
 * @repeats: tracing is KIPT_TRACING_ON, and the FUP repeats that of a PSB+ right before it. Before
 *	the PSB+ is an OVF, whose FUP comes after the PSB+ then ("Overflow (OVF) Packet")
 *
 * Return: its owner.
 */
enum kipt_fup_owner kipt_fup_owner(const struct kipt_flow_state *state,
				   const struct kipt_flow_pending *pending, bool after_mode,
				   bool repeats);

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
 * kipt_flow_emit_held() - emit records that waited for an address
 * @flow: the flow
 * @has_ip: there is one
 * @ip: it
 */
void kipt_flow_emit_held(struct kipt_flow *flow, bool has_ip, u64 ip);

/**
 * kipt_flow_set_tsx() - a MODE.TSX takes effect
 * @flow: the flow
 */
static inline void kipt_flow_set_tsx(struct kipt_flow *flow)
{
	flow->state.tsx = flow->pending.tsx_value & KIPT_MODE_TSX_INTX;
}

#endif /* KIPT_DECODE_FLOW_EVENT_H */
