// SPDX-License-Identifier: GPL-2.0-only
/*
 * Naming blocks and addresses instead of nodes, see flow_settle.h. Any context.
 */
#include "flow_settle.h"

/* Appends the blocks of a node, the youngest first. */
static void read_node(struct kipt_flow *flow, u32 number, struct kipt_trail *trail, u32 *count)
{
	struct kipt_block *blocks[KIPT_NODE_BLOCKS];
	u32 n = kipt_node_blocks(&flow->blocks, number, blocks);

	while (n-- && *count < KIPT_FLOW_HISTORY)
		trail[(*count)++] = (struct kipt_trail){
			.ip = blocks[n]->ip, .len = blocks[n]->len
		};
}

u32 kipt_trail_read(struct kipt_flow *flow, struct kipt_trail *trail)
{
	u32 end = flow->walk.history_count, count = 0, i;
	const struct kipt_trail *item;
	const struct kipt_node *node;

	for (i = 1; i <= end && i <= KIPT_FLOW_HISTORY && count < KIPT_FLOW_HISTORY; i++) {
		item = &flow->walk.history[(end - i) % KIPT_FLOW_HISTORY];
		if (!item->node) {
			trail[count++] = *item;
			continue;
		}
		node = &flow->blocks.nodes[item->node >> KIPT_LINK_SHIFT];
		if (item->node & KIPT_TRAIL_TWO)
			read_node(flow, node->next[item->node & 1] >> KIPT_LINK_SHIFT, trail,
				  &count);
		read_node(flow, item->node >> KIPT_LINK_SHIFT, trail, &count);
	}
	return count;
}

void kipt_settle_trail(struct kipt_flow *flow)
{
	struct kipt_trail trail[KIPT_FLOW_HISTORY];
	u32 count = kipt_trail_read(flow, trail), i;

	for (i = 0; i < count; i++)
		flow->walk.history[i] = trail[count - 1 - i];
	flow->walk.history_count = count;
}

void kipt_settle_return(struct kipt_flow *flow, u32 below)
{
	struct kipt_return_stack *stack = &flow->walk.stack;
	u32 slot = (stack->top - 1 - below) % KIPT_RETURN_STACK_SIZE;

	if (stack->link[slot])
		stack->ip[slot] = flow->blocks.table[stack->link[slot] >> KIPT_LINK_SHIFT].ip;
	stack->link[slot] = 0;
}

void kipt_settle_returns(struct kipt_flow *flow)
{
	u32 i;

	for (i = 0; i < flow->walk.stack.depth; i++)
		kipt_settle_return(flow, i);
}
