// SPDX-License-Identifier: GPL-2.0-only
/*
 * Edge counts on their way out: nodes count how often they were passed, blocks
 * their direct branch, all other edges are counted by themselves. And the end of what is
 * cached, when memory is full. Runs where the sink may.
 */
#include "emit.h"
#include "flow_count.h"
#include "flow_walk.h"
#include "graph.h"
#include "pack.h"

static bool in_kernel(u64 from, u64 to)
{
	return (from & to) >> 63;
}

static void emit_space(struct kipt_flow *flow, u64 space, bool kernel)
{
	struct kipt_record record = {
		.type = KIPT_RECORD_SPACE,
		.flags = KIPT_RF_NO_IP,
		.value = space,
	};

	if (!space && !kernel)
		record.flags |= KIPT_RF_NO_VALUE;
	flow->output.telling.spaced = true;
	flow->output.telling.kernel = kernel;
	flow->output.telling.space = space;
	*kipt_emit_room(flow, 1) = record;
}

static void emit_edge(struct kipt_flow *flow, u64 space, u64 from, u64 to,
		      u8 kind, u64 count)
{
	bool kernel = in_kernel(from, to);
	struct kipt_record *record;
	u32 told;

	if (!flow->output.telling.spaced || flow->output.telling.space != space ||
	    flow->output.telling.kernel != kernel)
		emit_space(flow, space, kernel);
	while (count) {
		told = count < 0xffffffffU ? (u32)count : 0xffffffffU;
		count -= told;
		record = kipt_emit_room(flow, 1);
		record->type = KIPT_RECORD_EDGE;
		record->kind = kind;
		record->flags = 0;
		record->aux = told;
		record->ip = from;
		record->value = to;
	}
}

void kipt_count_add(struct kipt_flow *flow, u64 space, u64 from, u64 to, u8 kind,
		    u64 count)
{
	u32 number;

	space = in_kernel(from, to) ? 0 : space;
	number = kipt_counts_number(&flow->counts, space, from, to, kind);
	if (number)
		flow->counts.edges[number].count += count;
	else
		emit_edge(flow, space, from, to, kind, count);
}

void kipt_count_edge(struct kipt_flow *flow, u64 from, u64 to, u8 kind)
{
	if (!flow->walk.trial)
		kipt_count_add(flow, flow->at.space, from, to, kind, 1);
}

static void emit_block(struct kipt_flow *flow, struct kipt_block *block)
{
	if (!block->taken)
		return;
	emit_edge(flow, block->space, kipt_block_last_insn(block), block->target,
		  kipt_branch_kind(block->class), block->taken);
	block->taken = 0;
}

static void emit_counted(struct kipt_flow *flow, struct kipt_edge *counted)
{
	if (!counted->count)
		return;
	emit_edge(flow, counted->space, counted->from, counted->to,
		  (u8)counted->kind, counted->count);
	counted->count = 0;
}

/* Return: false if a pause was asked for before the last. */
static bool emit_blocks(struct kipt_flow *flow)
{
	u32 *at = &flow->output.telling.at;

	for (; *at < flow->blocks.count; ++*at) {
		if (flow->input.asked)
			return false;
		emit_block(flow, &flow->blocks.table[*at]);
	}
	flow->output.telling.edges = true;
	*at = 1;
	return true;
}

static bool emit_edges(struct kipt_flow *flow)
{
	u32 *at = &flow->output.telling.at;

	for (; *at < flow->counts.count; ++*at) {
		if (flow->input.asked)
			return false;
		emit_counted(flow, &flow->counts.edges[*at]);
	}
	return true;
}

/* What nodes counted goes to blocks and edges. */
bool kipt_count_give(struct kipt_flow *flow)
{
	struct kipt_telling *telling = &flow->output.telling;

	if (!flow->counts.max)
		return true;
	if (!telling->on) {
		kipt_graph_fold(flow);
		*telling = (struct kipt_telling){
			.on = true, .at = KIPT_BLOCK_NONE + 1,
		};
	}
	if ((!telling->edges && !emit_blocks(flow)) || !emit_edges(flow))
		return false;
	telling->on = false;
	return true;
}

enum kipt_status kipt_flow_counts(struct kipt_flow *flow)
{
	bool all;

	flow->input.stopped = false;
	flow->input.asked = false;
	flow->clock.moved = false;
	all = kipt_count_give(flow);
	if (all)
		kipt_emit_flush(flow);
	if (flow->input.stopped)
		return KIPT_STOPPED;
	return all ? KIPT_OK : KIPT_PAUSED;
}

bool kipt_flow_renew(struct kipt_flow *flow)
{
	if (!kipt_count_give(flow))
		return false;
	kipt_trail_settle(flow);
	kipt_graph_settle_returns(flow);
	kipt_pairs_clear(&flow->pairs);
	kipt_blocks_clear(&flow->blocks);
	kipt_pack_end(flow);
	if (flow->counts.max)
		kipt_counts_clear(&flow->counts);
	return true;
}

/* Code that is read anew may end in another branch. */
static void give_range(struct kipt_flow *flow, u64 space, u64 begin, u64 end)
{
	struct kipt_block *block;
	u32 i;

	bool all = !begin && end == ~0ULL;

	kipt_graph_fold(flow);
	flow->output.telling = (struct kipt_telling){ 0 };
	for (i = KIPT_BLOCK_NONE + 1; i < flow->blocks.count; i++) {
		block = &flow->blocks.table[i];
		if (kipt_block_touches(block, space, begin, end))
			emit_block(flow, block);
	}
	for (i = 1; all && i < flow->counts.count; i++) {
		if (kipt_space_matches(flow->counts.edges[i].space, space))
			emit_counted(flow, &flow->counts.edges[i]);
	}
	kipt_emit_flush(flow);
}

void kipt_flow_forget(struct kipt_flow *flow, u64 space, u64 begin, u64 end)
{
	flow->input.stopped = false;
	flow->clock.moved = false;
	if (flow->counts.max)
		give_range(flow, space, begin, end);
	flow->walk.history_count = 0;
	if (!kipt_blocks_forget(&flow->blocks, space, begin, end))
		return;
	kipt_pack_end(flow);
	kipt_graph_forget(flow);
}
