// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packed records, see pack.h. Runs where the sink may.
 */
#include "graph.h"
#include "pack.h"

_Static_assert(KIPT_NODE_BLOCKS * KIPT_BLOCK_SPAN <= kipt_node_insns(0xffff),
	       "the instructions of a node fit in a NODE record");
_Static_assert(kipt_node_branch(~0U) >= KIPT_BRANCH_KIND_MAX, "and the kind of its branch");
_Static_assert(KIPT_WALK_SLOTS == KIPT_RETURN_STACK_SIZE, "slots are the same");
_Static_assert(KIPT_WALK_REACH >= KIPT_NODE_REACH, "a reader goes as far");

/* Outcomes in a byte. */
#define OUTCOMES	6U

void kipt_pack_node(struct kipt_flow *flow, u32 number)
{
	const struct kipt_block *last = kipt_node_last(&flow->blocks, number);
	const struct kipt_block *first = &flow->blocks.table[number];
	const struct kipt_node *node = &flow->blocks.nodes[number];
	u32 branch = kipt_branch_kind(last->class);
	struct kipt_record record = {
		.type = KIPT_RECORD_NODE,
		.kind = first->node,
		.flags = (u16)(node->insns << KIPT_NODE_INSNS_SHIFT),
		.aux = number,
		.ip = kipt_block_last_insn(last),
		.value = first->ip,
	};

	if (!flow->output.packs)
		return;
	if (flow->output.wanted >> branch & 1)
		record.flags |= (u16)branch;
	if (node->next[0])
		record.flags |= KIPT_NODE_PUSHES;
	kipt_emit_raw(flow, &record);
}

void kipt_pack_slow(struct kipt_flow *flow, u32 number, u64 ip)
{
	const struct kipt_record record = {
		.type = KIPT_RECORD_NODE,
		.kind = KIPT_NODE_SLOW,
		.aux = number,
		.ip = ip,
		.value = ip,
	};

	if (!flow->output.walks || flow->output.slow == number)
		return;
	flow->output.slow = number;
	kipt_emit_raw(flow, &record);
}

void kipt_pack_link(struct kipt_flow *flow, u32 kind, u32 from, u32 to)
{
	const struct kipt_record record = {
		.type = KIPT_RECORD_LINK,
		.kind = (u8)kind,
		.flags = KIPT_RF_NO_IP,
		.aux = from,
		.value = to,
	};

	if (flow->output.packs)
		kipt_emit_raw(flow, &record);
}

/* Room for an item, in the record being filled. */
static u8 *take_room(struct kipt_flow *flow, u32 size)
{
	if (flow->output.nr_packed + size > KIPT_RECORD_WALK_MAX)
		kipt_emit_packed(flow);
	flow->output.nr_packed += size;
	return flow->output.packed + flow->output.nr_packed - size;
}

void kipt_pack_start(struct kipt_flow *flow, u32 number)
{
	u32 insns;
	u8 *at;

	if (!flow->output.packs || flow->output.walks)
		return;
	insns = kipt_emit_count(flow);
	at = take_room(flow, kipt_walk_size(KIPT_WALK_START));
	at[0] = KIPT_WALK_START;
	memcpy(&at[1], &number, 4);
	at[5] = (u8)(flow->walk.stack.top % KIPT_RETURN_STACK_SIZE);
	memcpy(&at[6], &insns, 4);
	flow->output.walks = true;
	flow->output.slow = ~0U;
}

void kipt_pack_outcomes(struct kipt_flow *flow, u64 bits, u32 n)
{
	u32 some;

	for (; n; n -= some) {
		some = n < OUTCOMES ? n : OUTCOMES;
		*take_room(flow, 1) = (u8)(2U << some | bits >> (64 - some) << 1);
		bits <<= some;
	}
}

void kipt_pack_upto(struct kipt_flow *flow, u32 number)
{
	u8 *at = take_room(flow, kipt_walk_size(KIPT_WALK_UPTO));

	at[0] = KIPT_WALK_UPTO;
	memcpy(&at[1], &number, 4);
}

void kipt_pack_end(struct kipt_flow *flow)
{
	kipt_emit_packed(flow);
	flow->output.walks = false;
}

void kipt_pack_drop(struct kipt_flow *flow)
{
	flow->output.nr_packed = 0;
	flow->output.walks = false;
}
