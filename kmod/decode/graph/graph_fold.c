// SPDX-License-Identifier: GPL-2.0-only
/*
 * What nodes counted goes to blocks and edges, see graph_fold.h. Nodes count how often they
 * were passed, blocks their direct branch, all other edges are counted by themselves. Runs
 * where the sink may.
 */
#include "../out/flow_count.h"
#include "graph.h"
#include "graph_fold.h"

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

void kipt_graph_fold_patched(struct kipt_flow *flow, u32 number)
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
