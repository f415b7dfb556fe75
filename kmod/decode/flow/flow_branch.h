/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * TNT, TIP, TIP.PGE, TIP.PGD, MODE.Exec, PIP: flow_branch.c. Runs where the callbacks
 * may.
 */
#ifndef KIPT_DECODE_FLOW_BRANCH_H
#define KIPT_DECODE_FLOW_BRANCH_H

#include "../state/flow_state.h"

/**
 * kipt_flow_fail() - the trace makes no sense here
 * @flow: the flow; lost afterwards
 * @status: why
 */
void kipt_flow_fail(struct kipt_flow *flow, enum kipt_status status);

/**
 * kipt_flow_enable() - execution is at an address, whatever was before
 * @flow: KIPT_TRACING_ON afterwards
 * @kind: enum kipt_enable_kind
 * @ip: address
 */
void kipt_flow_enable(struct kipt_flow *flow, u8 kind, u64 ip);

/**
 * kipt_flow_lose() - tracing is on, at an address that is not known
 * @flow: not KIPT_TRACING_ON. What waited for the address waits no longer
 */
void kipt_flow_lose(struct kipt_flow *flow);

/**
 * kipt_flow_take_ip() - decompress a packet's address
 * @flow: its LastIP is set
 * @packet: TIP, TIP.PGE, TIP.PGD or FUP
 *
 * Return: true if the packet has an address that can be believed: it is in
 * @flow->input.last_ip.
 */
bool kipt_flow_take_ip(struct kipt_flow *flow,
		       const struct kipt_packet *packet);

/**
 * kipt_flow_abort() - MODE.TSX said that a transaction was aborted
 * @flow: its abort was pending
 * @ip: where that was, or NULL if that is not known
 */
void kipt_flow_abort(struct kipt_flow *flow, const u64 *ip);

/**
 * kipt_flow_set_mode() - the execution mode is this from now on
 * @flow: the flow
 * @value: MODE.Exec bits
 * @always: make a record even if nothing changes
 */
void kipt_flow_set_mode(struct kipt_flow *flow, u8 value, bool always);

/**
 * kipt_exec_kind() - what MODE.Exec bits mean
 * @value: the bits
 *
 * Return: enum kipt_exec_kind.
 */
static inline u8 kipt_exec_kind(u8 value)
{
	return value & KIPT_MODE_EXEC_L ? KIPT_EXEC_64 :
	       value & KIPT_MODE_EXEC_D ? KIPT_EXEC_32 : KIPT_EXEC_16;
}

/**
 * kipt_flow_set_mode_at() - kipt_flow_set_mode() with a record for an address
 * @flow: the flow
 * @value: MODE.Exec bits
 * @always: make a record even if nothing changes
 * @ip: where, or NULL if that is not known
 */
void kipt_flow_set_mode_at(struct kipt_flow *flow, u8 value, bool always, const u64 *ip);

/**
 * kipt_flow_settle() - PIP and MODE.Exec that waited for an address apply
 * @flow: the flow
 */
void kipt_flow_settle(struct kipt_flow *flow);

/**
 * kipt_flow_on_tnt() - use branch outcomes
 * @flow: the flow
 * @packet: the TNT
 */
void kipt_flow_on_tnt(struct kipt_flow *flow, const struct kipt_packet *packet);

/**
 * kipt_flow_walk_on() - go on amid the outcomes where the run paused
 * @flow: the flow; @walk.paused is set
 */
void kipt_flow_walk_on(struct kipt_flow *flow);

/**
 * kipt_flow_on_branch() - use a TIP, TIP.PGE, TIP.PGD, MODE.Exec or PIP packet
 * @flow: the flow
 * @packet: the packet
 */
void kipt_flow_on_branch(struct kipt_flow *flow,
			 const struct kipt_packet *packet);

#endif /* KIPT_DECODE_FLOW_BRANCH_H */
