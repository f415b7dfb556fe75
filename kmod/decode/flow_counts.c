// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts on their way out, and the end of what is cached, when memory is full or code changed.
 * Runs where the sink may.
 */
#include "out/emit.h"
#include "out/flow_count.h"
#include "flow/flow_settle.h"
#include "flow_counts.h"
#include "graph/graph_fold.h"
#include "graph/pack.h"

static void emit_block(struct kipt_flow *flow, struct kipt_block *block)
{
	if (!block->taken)
		return;
	kipt_count_emit(flow, block->space, kipt_block_last_insn(block), block->target,
			kipt_branch_kind(block->class), block->taken);
	block->taken = 0;
}

static void emit_counted(struct kipt_flow *flow, struct kipt_edge *counted)
{
	if (!counted->count)
		return;
	kipt_count_emit(flow, counted->space, counted->from, counted->to, (u8)counted->kind,
			counted->count);
	counted->count = 0;
}

/* Return: false if a pause was asked for before the last. */
static bool emit_blocks(struct kipt_flow *flow)
{
	u32 *at = &flow->output.counting.at;

	for (; *at < flow->blocks.index.count; ++*at) {
		if (flow->input.asked)
			return false;
		emit_block(flow, &flow->blocks.table[*at]);
	}
	flow->output.counting.edges = true;
	*at = 1;
	return true;
}

static bool emit_edges(struct kipt_flow *flow)
{
	u32 *at = &flow->output.counting.at;

	for (; *at < flow->counts.index.count; ++*at) {
		if (flow->input.asked)
			return false;
		emit_counted(flow, &flow->counts.edges[*at]);
	}
	return true;
}

/* Counts start again from 0. Returns false if a pause was asked for: the rest is given by the next
 * call, before anything is counted.
 */
static bool give_counts(struct kipt_flow *flow)
{
	struct kipt_count_emission *emission = &flow->output.counting;

	if (!flow->counts.max)
		return true;
	if (!emission->on) {
		kipt_graph_fold(flow);
		*emission = (struct kipt_count_emission){
			.on = true, .at = KIPT_BLOCK_NONE + 1,
		};
	}
	if ((!emission->edges && !emit_blocks(flow)) || !emit_edges(flow))
		return false;
	emission->on = false;
	return true;
}

enum kipt_status kipt_flow_counts(struct kipt_flow *flow)
{
	bool all;

	flow->input.stopped = false;
	flow->input.asked = false;
	flow->clock.moved = false;
	all = give_counts(flow);
	if (all)
		kipt_emit_flush(flow);
	if (flow->input.stopped)
		return KIPT_STOPPED;
	return all ? KIPT_OK : KIPT_PAUSED;
}

bool kipt_flow_renew(struct kipt_flow *flow)
{
	if (!give_counts(flow))
		return false;
	kipt_settle_trail(flow);
	kipt_settle_returns(flow);
	kipt_index_clear(&flow->pairs.index);
	kipt_index_clear(&flow->blocks.index);
	kipt_index_clear(&flow->counts.index);
	kipt_pack_end(flow);
	return true;
}

/* Code that is read anew may end in another branch. @folded: nothing was counted since the graph
 * was folded. Returns whether that is so now.
 */
static bool give_block(struct kipt_flow *flow, u32 number, bool folded)
{
	struct kipt_block *block = &flow->blocks.table[number];

	if (kipt_block_is_patched(block) && block->node) {
		kipt_graph_fold_patched(flow, number);
	} else if (!kipt_block_is_patched(block) && block->kind && !folded) {
		kipt_graph_fold(flow);
		folded = true;
	}
	emit_block(flow, block);
	return folded;
}

static void give_edges(struct kipt_flow *flow, u64 space)
{
	u32 i;

	for (i = 1; i < flow->counts.index.count; i++) {
		if (kipt_space_matches(flow->counts.edges[i].space, space))
			emit_counted(flow, &flow->counts.edges[i]);
	}
}

void kipt_flow_forget(struct kipt_flow *flow, u64 space, u64 begin, u64 end)
{
	struct kipt_code_range range = kipt_code_range_of(&flow->blocks, space, begin, end);
	bool some = false, patch = end - begin <= KIPT_PATCH_MAX, all = !begin && end == ~0ULL;
	bool folded = flow->walk.forgot, moved = flow->clock.moved;
	u32 number;

	flow->input.stopped = false;
	flow->clock.moved = false;
	flow->walk.history_count = 0;
	flow->output.counting = (struct kipt_count_emission){ 0 };
	if (all && !folded) {
		kipt_graph_fold(flow);
		folded = true;
	}
	while ((number = kipt_code_range_next(&range, &flow->blocks)) != KIPT_BLOCK_NONE) {
		some = true;
		if (flow->counts.max)
			folded = give_block(flow, number, folded);
		flow->walk.forgot |= kipt_block_forget(&flow->blocks.table[number], patch);
	}
	if (flow->counts.max) {
		if (all)
			give_edges(flow, space);
		kipt_emit_flush(flow);
	}
	if (some)
		kipt_pack_end(flow);
	flow->clock.moved = moved;
}
