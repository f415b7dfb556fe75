// SPDX-License-Identifier: GPL-2.0-only
/*
 * Following code from block to block, using outcomes and targets as branches
 * need them. The packets' own logic is flow_branch.c's, flow_event.c's and flow_side.c's.
 * Walks that use no packet are bounded, and tried before they are believed.
 * Runs where the code callback may.
 */
#include "../out/emit.h"
#include "../out/flow_count.h"
#include "flow_settle.h"
#include "flow_walk.h"

/* Blocks walked without a packet, a power of two. */
#define WALK_LONG	4096

/* A long walk uses up a slice. Return: true if it is too long. */
static inline bool mark_place(struct kipt_flow *flow, struct kipt_walk_bound *bound)
{
	bound->mark = flow->at.ip;
	if ((bound->steps >= WALK_LONG && flow->config.slice) ||
	    (kipt_walk_slice_left(flow) <= 0 && flow->config.step_slice))
		flow->input.halt_at = flow->input.data;
	return bound->before + bound->steps >= flow->config.step_limit;
}

/* An outcome is used, the packet is the same. Where the limit is one that the graph may be
 * followed with, only long ways to an outcome count: the graph goes short ones without counting.
 */
static inline void begin_outcome(const struct kipt_flow *flow, struct kipt_walk_bound *bound)
{
	if (bound->steps > KIPT_NODE_REACH || flow->config.step_limit < KIPT_NODE_STEPS)
		bound->before += bound->steps;
	bound->steps = 0;
}

static inline bool bound_hit(struct kipt_flow *flow, struct kipt_walk_bound *bound)
{
	bound->steps++;
	if (bound->steps > 1 && flow->at.ip == bound->mark)
		return true;
	return !(bound->steps & (bound->steps - 1)) && mark_place(flow, bound);
}

void kipt_walk_begin_slice(struct kipt_flow *flow)
{
	u32 slice = flow->config.step_slice;

	flow->walk.pause_at = flow->walk.steps + (slice ? slice : KIPT_FLOW_SLICE_MAX);
}

/* Return: true if the walk is to pause here. */
static bool slice_is_over(struct kipt_flow *flow)
{
	if (likely(kipt_walk_slice_left(flow) > 0))
		return false;
	kipt_walk_begin_slice(flow);
	return flow->config.step_slice;
}

/* Has an overflow hidden the mode of code, or whose it is? From an address above 4 GiB on the mode
 * is known: only 64-bit code is there.
 */
static bool is_hidden(struct kipt_flow *flow, u64 ip)
{
	if (ip >> 32)
		flow->state.mode_lost = false;
	return flow->state.mode_lost || (flow->state.nr_lost && ip >> 63);
}

enum kipt_status kipt_walk_find(struct kipt_flow *flow,
				const struct kipt_block **block)
{
	u64 ip = flow->at.ip;
	u64 space = kipt_space_at(flow, ip);
	enum kipt_status status;
	struct kipt_trail *trail;

	if (unlikely(flow->state.mode_lost | flow->state.nr_lost) && is_hidden(flow, ip))
		return KIPT_HIDDEN;
	status = kipt_blocks_find(&flow->blocks, &flow->code, space, ip, flow->at.mode, block);
	flow->walk.steps++;
	if (likely(status == KIPT_OK)) {
		trail = &flow->walk.history[flow->walk.history_count++ %
				       KIPT_FLOW_HISTORY];
		trail->ip = ip;
		trail->len = (*block)->len;
		trail->node = 0;
	}
	return status;
}

void kipt_walk_forget(struct kipt_flow *flow)
{
	flow->walk.history_count = 0;
	flow->walk.stack.depth = 0;
}

static bool is_direct(u8 class)
{
	return class == KIPT_INSN_COND || class == KIPT_INSN_JUMP || class == KIPT_INSN_CALL;
}

static void count_branch(struct kipt_flow *flow, const struct kipt_block *block,
			 u64 target)
{
	u32 number = (u32)(block - flow->blocks.table);

	if (is_direct(block->class) && number != KIPT_BLOCK_NONE)
		flow->blocks.table[number].taken++;
	else
		kipt_count_edge(flow, kipt_block_last_insn(block), target,
				kipt_branch_kind(block->class));
}

/* All of @block executed, and its branch went to @target. */
static void take_branch(struct kipt_flow *flow, const struct kipt_block *block,
			u64 target, u16 flags)
{
	u8 kind = kipt_branch_kind(block->class);
	struct kipt_record record;

	kipt_emit_insns(flow, block, block->insns);
	flow->at.ip = target;
	if (flow->walk.trial)
		return;
	if (flow->counts.max)
		count_branch(flow, block, target);
	if (!(flow->output.wanted >> kind & 1)) {
		if (KIPT_SUMS && flow->config.output & KIPT_FLOW_NO_COND &&
		    kind == KIPT_BRANCH_COND) {
			flow->output.sums.branches++;
			flow->output.sums.insns += kipt_emit_count(flow);
		}
		return;
	}
	record.type = KIPT_RECORD_BRANCH;
	record.kind = kind;
	record.flags = flags | (flow->state.tsx ? KIPT_RF_TSX : 0);
	record.ip = kipt_block_last_insn(block);
	record.value = target;
	record.aux = kipt_emit_count(flow);
	kipt_emit(flow, &record);
}

static void push_return(struct kipt_flow *flow, const struct kipt_block *block)
{
	if (!flow->walk.trial)
		kipt_return_stack_push(&flow->walk.stack, kipt_block_end_ip(block));
}

/* All of @block executed, and control goes on after it. */
static void fall_through(struct kipt_flow *flow, const struct kipt_block *block)
{
	kipt_emit_insns(flow, block, block->insns);
	flow->at.ip = kipt_block_end_ip(block);
}

void kipt_flow_set_cr3(struct kipt_flow *flow, u64 cr3, bool nr)
{
	struct kipt_record record = {
		.type = KIPT_RECORD_CONTEXT,
		.flags = nr ? KIPT_RF_NR : 0,
		.value = cr3,
	};

	flow->at.pip_pending = false;
	flow->at.cr3 = cr3;
	flow->at.nr = nr;
	flow->state.nr_lost = false;
	if (flow->code.space)
		flow->at.space = flow->code.space(flow->code.ctx, cr3, nr);
	flow->at.high_space = nr ? flow->at.space : 0;
	kipt_emit_here(flow, &record);
}

void kipt_flow_apply_pip(struct kipt_flow *flow)
{
	if (flow->at.pip_pending)
		kipt_flow_set_cr3(flow, flow->at.pip_cr3, flow->at.pip_nr);
}

static void pass(struct kipt_flow *flow, const struct kipt_block *block)
{
	switch (block->class) {
	case KIPT_INSN_JUMP:
		take_branch(flow, block, block->target, 0);
		break;
	case KIPT_INSN_CALL:
		if (block->pushes)
			push_return(flow, block);
		take_branch(flow, block, block->target, 0);
		break;
	case KIPT_INSN_MOV_CR3:
		fall_through(flow, block);
		kipt_flow_apply_pip(flow);
		break;
	default:
		fall_through(flow, block);
		break;
	}
}

static bool pop_return(struct kipt_flow *flow, u64 *target)
{
	if (flow->walk.stack.depth)
		kipt_settle_return(flow, 0);
	return kipt_return_stack_pop(&flow->walk.stack, target);
}

/* A RET with outcomes left is compressed: the CPU holds nothing back before
 * a RET that is not.
 */
static enum kipt_status return_compressed(struct kipt_flow *flow,
					  const struct kipt_block *block)
{
	u64 target = 0;

	if (!kipt_tnt_take(&flow->walk.tnt)) {
		/* It was not taken, so the trace does not fit the code: no CALL is missing. */
		flow->state.calls_lost = 0;
		return KIPT_BAD_RET;
	}
	if (!pop_return(flow, &target))
		return KIPT_BAD_RET;
	take_branch(flow, block, kipt_block_return(block, target),
		    KIPT_RF_COMPRESSED);
	return KIPT_OK;
}

static enum kipt_status pause_walk(struct kipt_flow *flow,
				   struct kipt_walk_bound bound)
{
	flow->walk.paused = true;
	flow->walk.bound = bound;
	flow->input.halt_at = flow->input.data;
	return KIPT_PAUSED;
}

enum kipt_status kipt_walk_tnt(struct kipt_flow *flow,
			       struct kipt_walk_bound bound)
{
	const struct kipt_block *block;
	enum kipt_status status;

	while (flow->walk.tnt.count) {
		status = kipt_walk_find(flow, &block);
		if (unlikely(status != KIPT_OK))
			return status;
		if (block->class == KIPT_INSN_COND) {
			if (kipt_tnt_take(&flow->walk.tnt))
				take_branch(flow, block, block->target, 0);
			else
				fall_through(flow, block);
			begin_outcome(flow, &bound);
		} else if (block->class == KIPT_INSN_RET) {
			status = return_compressed(flow, block);
			if (unlikely(status != KIPT_OK))
				return status;
			begin_outcome(flow, &bound);
		} else {
			if (kipt_insn_needs_packet(block->class))
				return KIPT_OK;
			pass(flow, block);
			if (unlikely(bound_hit(flow, &bound)))
				return KIPT_LOOP;
			if (unlikely(slice_is_over(flow)))
				return pause_walk(flow, bound);
		}
	}
	return KIPT_OK;
}

/* An INT n was not executed but is an event: its FUP was lost or left out. */
static void take_target(struct kipt_flow *flow, const struct kipt_block *block,
			u64 target)
{
	u64 ignored = 0;

	if (block->class == KIPT_INSN_RET)
		pop_return(flow, &ignored);
	else if (block->class == KIPT_INSN_CALL_IND)
		push_return(flow, block);
	take_branch(flow, block, target, 0);
}

enum kipt_status kipt_walk_tip(struct kipt_flow *flow, u64 target)
{
	const struct kipt_block *block;
	struct kipt_walk_bound bound = { 0 };
	enum kipt_status status;

	for (;;) {
		status = kipt_walk_find(flow, &block);
		if (status != KIPT_OK)
			return status;
		if (block->class == KIPT_INSN_COND || kipt_walk_unseen(flow, block))
			return KIPT_TIP_AT_OTHER;
		if (kipt_insn_needs_packet(block->class)) {
			take_target(flow, block, target);
			return KIPT_OK;
		}
		pass(flow, block);
		if (bound_hit(flow, &bound))
			return KIPT_LOOP;
	}
}

/* Was code there traced, as far as address ranges say? */
static bool filter_has(const struct kipt_flow *flow, u64 ip)
{
	const struct kipt_flow_config *config = &flow->config;
	bool all = true, in = false;
	u32 i;

	for (i = 0; i < config->filter_count; i++) {
		bool here = ip >= config->filter[i].begin &&
			    ip <= config->filter[i].last;

		if (config->filter[i].stop && here)
			return false;
		if (!config->filter[i].stop) {
			all = false;
			in |= here;
		}
	}
	return all || in;
}

/* Does a TIP.PGD belong to the end of this block ("TIP.PGD Packet")? */
static bool disables(const struct kipt_flow *flow, const struct kipt_block *block, bool has_ip,
		     u64 target)
{
	if (kipt_walk_unseen(flow, block))
		return false;
	switch (block->class) {
	case KIPT_INSN_JUMP:
	case KIPT_INSN_CALL:
		if (has_ip)
			return target == block->target;
		return flow->config.filter_count &&
		       !filter_has(flow, block->target);
	case KIPT_INSN_MOV_CR3:
		if (has_ip)
			return target == kipt_block_end_ip(block);
		return !flow->at.pip_pending;
	case KIPT_INSN_COND:
		return !has_ip || target == block->target ||
		       target == kipt_block_end_ip(block);
	default:
		return kipt_insn_needs_packet(block->class);
	}
}

static void disable(struct kipt_flow *flow, const struct kipt_block *block, bool has_ip,
		    u64 target)
{
	struct kipt_record record = {
		.type = KIPT_RECORD_DISABLE,
		.kind = KIPT_DISABLE_BRANCH,
		.flags = has_ip ? 0 : KIPT_RF_NO_VALUE,
		.ip = kipt_block_last_insn(block),
		.value = has_ip ? target : 0,
	};

	kipt_emit_insns(flow, block, block->insns);
	record.aux = kipt_emit_count(flow);
	kipt_emit(flow, &record);
}

/* Once more by the same address is no circle if the first time a MOV CR3 was
 * passed that the PIP belongs to.
 */
enum kipt_status kipt_walk_pgd(struct kipt_flow *flow, bool has_ip, u64 target)
{
	const struct kipt_block *block;
	struct kipt_walk_bound bound = { 0 };
	enum kipt_status status;
	bool pending;

	for (;;) {
		status = kipt_walk_find(flow, &block);
		if (status != KIPT_OK)
			return status;
		if (disables(flow, block, has_ip, target)) {
			disable(flow, block, has_ip, target);
			return KIPT_OK;
		}
		if (kipt_insn_needs_packet(block->class))
			return KIPT_TIP_AT_OTHER;
		pending = flow->at.pip_pending;
		pass(flow, block);
		if (pending != flow->at.pip_pending)
			bound = (struct kipt_walk_bound){ 0 };
		if (bound_hit(flow, &bound))
			return KIPT_LOOP;
	}
}

/* Is @ip inside @block? Goldmont, which has no transactions to abort, may name the address after
 * a branch that needs a TIP where it means the branch itself.
 */
static bool arrive(struct kipt_flow *flow, const struct kipt_block *block,
		   u64 ip)
{
	s32 index = kipt_block_index(block, ip);

	if (index >= 0) {
		kipt_emit_insns(flow, block, (u32)index);
		flow->at.ip = ip;
		return true;
	}
	if (!flow->pending.abort && ip == kipt_block_end_ip(block) &&
	    kipt_insn_needs_packet(block->class) && block->class != KIPT_INSN_COND &&
	    block->class != KIPT_INSN_RET) {
		kipt_emit_insns(flow, block, block->insns - 1);
		flow->at.ip = kipt_block_last_insn(block);
		return true;
	}
	return false;
}

static enum kipt_status go_to_ip(struct kipt_flow *flow, u64 ip)
{
	const struct kipt_block *block;
	struct kipt_walk_bound bound = { 0 };
	enum kipt_status status;

	while (flow->at.ip != ip) {
		status = kipt_walk_find(flow, &block);
		if (status != KIPT_OK)
			return status;
		if (arrive(flow, block, ip))
			return KIPT_OK;
		if (kipt_insn_needs_packet(block->class))
			return KIPT_NOT_REACHED;
		pass(flow, block);
		if (bound_hit(flow, &bound))
			return KIPT_LOOP;
	}
	return KIPT_OK;
}

static enum kipt_status go_to_class(struct kipt_flow *flow, u8 class, u64 *ip)
{
	const struct kipt_block *block;
	struct kipt_walk_bound bound = { 0 };
	enum kipt_status status;

	for (;;) {
		status = kipt_walk_find(flow, &block);
		if (status != KIPT_OK)
			return status;
		if (kipt_insn_needs_packet(block->class))
			return KIPT_NOT_REACHED;
		*ip = kipt_block_last_insn(block);
		if (block->class == class) {
			pass(flow, block);
			return KIPT_OK;
		}
		pass(flow, block);
		if (bound_hit(flow, &bound))
			return KIPT_LOOP;
	}
}

static enum kipt_status go_to(struct kipt_flow *flow, u8 class, u64 *ip)
{
	return class ? go_to_class(flow, class, ip) : go_to_ip(flow, *ip);
}

/* Trial first: what the trace names must be reached before anything is said
 * about the way there.
 */
enum kipt_status kipt_walk_to_class(struct kipt_flow *flow, u8 class, u64 *ip)
{
	struct kipt_place start = flow->at;
	enum kipt_status status;

	flow->walk.trial = true;
	status = go_to(flow, class, ip);
	flow->walk.trial = false;
	flow->at = start;
	return status == KIPT_OK ? go_to(flow, class, ip) : status;
}

enum kipt_status kipt_walk_to_ip(struct kipt_flow *flow, u64 ip)
{
	return kipt_walk_to_class(flow, KIPT_INSN_OTHER, &ip);
}
