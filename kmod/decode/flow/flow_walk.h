/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Following code from block to block: flow_walk.c. Runs where the callbacks may.
 */
#ifndef KIPT_DECODE_FLOW_WALK_H
#define KIPT_DECODE_FLOW_WALK_H

#include "../state/flow_state.h"

/**
 * kipt_flow_set_cr3() - the address space changes now
 * @flow: the flow
 * @cr3: CR3
 * @nr: VMX non-root
 */
void kipt_flow_set_cr3(struct kipt_flow *flow, u64 cr3, bool nr);

/**
 * kipt_flow_apply_pip() - the address space of a PIP that waits, if one does, is in use now
 * @flow: the flow
 */
void kipt_flow_apply_pip(struct kipt_flow *flow);

/**
 * kipt_walk_forget() - no CALL and no block was seen before
 * @flow: the flow
 */
void kipt_walk_forget(struct kipt_flow *flow);

/**
 * kipt_walk_find() - the block at the place
 * @flow: the flow
 * @block: valid until the next find
 *
 * Return: as kipt_blocks_find().
 */
enum kipt_status kipt_walk_find(struct kipt_flow *flow,
				const struct kipt_block **block);

/**
 * kipt_walk_slice_left() - blocks that are left of a slice
 * @flow: the flow
 *
 * Return: 0 or less: it is over.
 */
static inline s32 kipt_walk_slice_left(const struct kipt_flow *flow)
{
	return (s32)(flow->walk.pause_at - flow->walk.steps);
}

/**
 * kipt_walk_unseen() - may the branch of a block have been executed without a packet
 * @flow: the flow
 * @block: the block
 *
 * Return: true if the next packet may belong to a later branch, as the trace has no TNTs: they
 * would have the outcome, that of a compressed RET too.
 */
static inline bool kipt_walk_unseen(const struct kipt_flow *flow, const struct kipt_block *block)
{
	return flow->config.no_tnt &&
	       (block->class == KIPT_INSN_COND ||
		(block->class == KIPT_INSN_RET && !flow->config.no_retc));
}

/**
 * kipt_walk_begin_slice() - count the blocks of a slice from here on
 * @flow: the flow
 */
void kipt_walk_begin_slice(struct kipt_flow *flow);

/**
 * kipt_walk_tnt() - follow the flow while outcomes are left
 * @flow: KIPT_TRACING_ON; on success either no outcome is left, or the next one needs
 *	a TIP first
 * @bound: zero; @flow->walk.bound where it paused and goes on
 *
 * Return: KIPT_OK; KIPT_PAUSED where a slice of blocks is over, the run then halts
 * and is to go on with this; or why the flow and the outcomes contradict each
 * other.
 */
enum kipt_status kipt_walk_tnt(struct kipt_flow *flow,
			       struct kipt_walk_bound bound);

/**
 * kipt_walk_tip() - follow the flow to the branch a TIP belongs to
 * @flow: KIPT_TRACING_ON; on success at @target
 * @target: where the branch went
 *
 * Return: KIPT_OK, or why the flow and the TIP contradict each other.
 */
enum kipt_status kipt_walk_tip(struct kipt_flow *flow, u64 target);

/**
 * kipt_walk_pgd() - follow the flow to the branch a TIP.PGD belongs to
 * @flow: KIPT_TRACING_ON; on success the DISABLE record is made
 * @has_ip: the packet says where the branch went
 * @target: there
 *
 * Return: KIPT_OK, or why the flow and the TIP.PGD contradict each other.
 */
enum kipt_status kipt_walk_pgd(struct kipt_flow *flow, bool has_ip, u64 target);

/**
 * kipt_walk_to_ip() - follow the flow to an address, without packets
 * @flow: KIPT_TRACING_ON; unchanged on failure
 * @ip: the address
 *
 * Return: KIPT_OK, or why @ip is not reached.
 */
enum kipt_status kipt_walk_to_ip(struct kipt_flow *flow, u64 ip);

/**
 * kipt_walk_to_class() - follow the flow after an instruction of a class
 * @flow: KIPT_TRACING_ON; unchanged on failure
 * @class: KIPT_INSN_MOV_CR3 or KIPT_INSN_PTWRITE; KIPT_INSN_OTHER: to the address @ip
 * @ip: address of the instruction
 *
 * Return: KIPT_OK, or why there is none before the next packet is needed.
 */
enum kipt_status kipt_walk_to_class(struct kipt_flow *flow, u8 class, u64 *ip);

#endif /* KIPT_DECODE_FLOW_WALK_H */
