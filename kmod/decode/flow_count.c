// SPDX-License-Identifier: GPL-2.0-only
/*
 * Edge counts on their way out: the memo counts ways, blocks their direct
 * branch, all other edges are counted by themselves. And the end of what is
 * cached, when memory is full. Runs where the sink may.
 */
#include "flow_state.h"

static void emit_edge(struct kipt_flow *flow, u64 from, u64 to, u8 kind,
		      u64 count)
{
	struct kipt_record record = {
		.type = KIPT_RECORD_EDGE,
		.kind = kind,
		.ip = from,
		.value = to,
	};

	while (count) {
		record.aux = count < 0xffffffffU ? (u32)count : 0xffffffffU;
		count -= record.aux;
		*kipt_emit_room(flow, 1) = record;
	}
}

void kipt_count_edge(struct kipt_flow *flow, u64 from, u64 to, u8 kind)
{
	u32 number;

	if (flow->trial)
		return;
	number = kipt_counts_number(&flow->counts, from, to, kind);
	if (number)
		flow->counts.edges[number].count++;
	else
		emit_edge(flow, from, to, kind, 1);
}

static void fold_steps(struct kipt_flow *flow, struct kipt_way *way)
{
	const u32 *steps = kipt_way_steps(way);
	u32 number, i;

	for (i = 0; i < way->listed; i++) {
		number = steps[i] & KIPT_STEP_NUMBER;
		if (steps[i] & KIPT_STEP_TAKEN)
			flow->blocks.table[number].taken += way->count;
		else if (steps[i] & KIPT_STEP_EDGE)
			flow->counts.edges[number].count += way->count;
	}
	way->count = 0;
}

static void fold_parts(struct kipt_flow *flow, struct kipt_way *way)
{
	u32 i;

	for (i = 0; i < way->listed; i++)
		kipt_way_part(&flow->memo, way, i)->count += way->count;
	way->count = 0;
}

static void fold_ways(struct kipt_flow *flow, u8 kind)
{
	const struct kipt_memo *memo = &flow->memo;
	struct kipt_way *way;
	u32 at;

	for (at = 1; at < memo->used; at += kipt_way_size(memo, way)) {
		way = kipt_way_at(memo, at);
		if (!way->count || way->kind != kind)
			continue;
		if (kind)
			fold_parts(flow, way);
		else
			fold_steps(flow, way);
	}
}

static void emit_blocks(struct kipt_flow *flow)
{
	struct kipt_block *block;
	u32 i;

	for (i = KIPT_BLOCK_NONE + 1; i < flow->blocks.count; i++) {
		block = &flow->blocks.table[i];
		if (!block->taken)
			continue;
		emit_edge(flow, block->ip + block->last, block->target,
			  kipt_branch_kind(block->class), block->taken);
		block->taken = 0;
	}
}

static void emit_edges(struct kipt_flow *flow)
{
	struct kipt_edge *edge;
	u32 i;

	for (i = 1; i < flow->counts.count; i++) {
		edge = &flow->counts.edges[i];
		emit_edge(flow, edge->from, edge->to, (u8)edge->kind,
			  edge->count);
		edge->count = 0;
	}
}

/* What windows counted goes to their parts, and in the end to blocks and edges.
 */
void kipt_count_give(struct kipt_flow *flow)
{
	if (!flow->counts.max)
		return;
	fold_ways(flow, KIPT_WAY_WINDOW);
	fold_ways(flow, KIPT_WAY_PACKET);
	emit_blocks(flow);
	emit_edges(flow);
	flow->memo.bytes = 0;
}

enum kipt_status kipt_flow_counts(struct kipt_flow *flow)
{
	flow->stopped = false;
	flow->clock.moved = false;
	kipt_count_give(flow);
	kipt_emit_flush(flow);
	return flow->stopped ? KIPT_STOPPED : KIPT_OK;
}

/* The trail names ways, which go: its blocks stay. */
static void keep_trail(struct kipt_flow *flow)
{
	struct kipt_trail trail[KIPT_FLOW_HISTORY];
	u32 count = kipt_trail_read(flow, trail), i;

	for (i = 0; i < count; i++)
		flow->history[i] = trail[count - 1 - i];
	flow->history_count = count;
}

void kipt_flow_renew(struct kipt_flow *flow)
{
	/* Path numbers are given anew. */
	kipt_emit_paths(flow);
	kipt_count_give(flow);
	keep_trail(flow);
	kipt_blocks_clear(&flow->blocks);
	kipt_memo_clear(&flow->memo);
	if (flow->counts.max)
		kipt_counts_clear(&flow->counts);
}

void kipt_flow_forget(struct kipt_flow *flow, u64 space, u64 begin, u64 end)
{
	flow->stopped = false;
	kipt_count_give(flow);
	flow->history_count = 0;
	kipt_blocks_forget(&flow->blocks, space, begin, end);
	kipt_memo_clear(&flow->memo);
	kipt_emit_flush(flow);
}
