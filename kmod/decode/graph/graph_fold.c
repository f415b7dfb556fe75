// SPDX-License-Identifier: GPL-2.0-only
/*
 * What nodes counted, on its way out, and the end of what is cached, when memory is full or
 * code changed: see graph_fold.h. Nodes count how often they were passed, blocks their direct
 * branch, all other edges are counted by themselves. Runs where the sink may.
 */
#include "../out/emit.h"
#include "../out/flow_count.h"
#include "../flow/flow_settle.h"
#include "graph.h"
#include "graph_fold.h"
#include "pack.h"

/* A node led on so often. Returns its last block. */
static struct kipt_block *fold_blocks(struct kipt_flow *flow, u32 number, u64 count)
{
	struct kipt_block *blocks[KIPT_NODE_BLOCKS];
	u32 n = kipt_node_blocks(&flow->blocks, number, blocks), i;

	for (i = 0; i < n; i++) {
		if (blocks[i]->class == KIPT_INSN_JUMP)
			blocks[i]->taken += count;
	}
	return blocks[n - 1];
}

/* What two outcomes counted goes to the nodes of each. */
static void fold_double(struct kipt_flow *flow, u32 number)
{
	struct kipt_double *both = &flow->blocks.doubles[number];
	struct kipt_node *nodes = flow->blocks.nodes;
	u32 two;

	for (two = 0; two < 4; two++) {
		if (!both->count[two])
			continue;
		nodes[number].count[two >> 1] += both->count[two];
		nodes[nodes[number].next[two >> 1] >> KIPT_LINK_SHIFT].count[two & 1] +=
			both->count[two];
		both->count[two] = 0;
	}
}

static void fold_node(struct kipt_flow *flow, u32 number)
{
	struct kipt_node *node = &flow->blocks.nodes[number];
	u32 past = node->count[0], taken = node->count[1];
	struct kipt_block *last;

	if (!(past | taken))
		return;
	last = fold_blocks(flow, number, (u64)past + taken);
	last->taken += taken;
	node->count[0] = 0;
	node->count[1] = 0;
}

static void fold_edge(struct kipt_flow *flow, u32 from, u64 space, u64 to, u64 count)
{
	const struct kipt_block *last = fold_blocks(flow, from, count);

	kipt_count_add(flow, last->space ? last->space : space, kipt_block_last_insn(last), to,
		       kipt_branch_kind(last->class), count);
}

static void fold_pair(struct kipt_flow *flow, struct kipt_pair *pair)
{
	const struct kipt_block *to = &flow->blocks.table[pair->to];

	if (pair->count)
		fold_edge(flow, pair->from, to->space, to->ip, pair->count);
	pair->count = 0;
}

void kipt_graph_count(struct kipt_flow *flow, u32 from, u64 to)
{
	fold_edge(flow, from, kipt_space_at(flow, to), to, 1);
}

/* What the node of a patched block counted: no other leads on into it, or past it. */
static void fold_patched(struct kipt_flow *flow, u32 number)
{
	u32 kind = flow->blocks.table[number].node, i;

	if (kind == KIPT_NODE_COND)
		fold_double(flow, number);
	fold_node(flow, number);
	if (kind != KIPT_NODE_RET && kind != KIPT_NODE_TARGET)
		return;
	for (i = 1; i < flow->pairs.index.count; i++) {
		if (flow->pairs.at[i].from == number)
			fold_pair(flow, &flow->pairs.at[i]);
	}
}

void kipt_graph_fold(struct kipt_flow *flow)
{
	u32 i;

	if (!flow->walk.graph || !flow->counts.max)
		return;
	for (i = KIPT_BLOCK_NONE + 1; i < flow->blocks.index.count; i++) {
		if (flow->blocks.table[i].node == KIPT_NODE_COND)
			fold_double(flow, i);
	}
	for (i = KIPT_BLOCK_NONE + 1; i < flow->blocks.index.count; i++)
		fold_node(flow, i);
	for (i = 1; i < flow->pairs.index.count; i++)
		fold_pair(flow, &flow->pairs.at[i]);
	flow->counts.bytes = 0;
}

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

/* What nodes counted goes to blocks and edges. */
bool kipt_count_give(struct kipt_flow *flow)
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
		fold_patched(flow, number);
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
