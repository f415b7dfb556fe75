// SPDX-License-Identifier: GPL-2.0-only
/*
 * Nodes and links: built, forgotten; see graph.h. Runs where the code callbacks
 * and the sink may.
 */
#include "../flow/flow_settle.h"
#include "../flow/flow_walk.h"
#include "graph.h"
#include "pack.h"

_Static_assert(sizeof(struct kipt_node) == 1 << KIPT_LINK_SHIFT, "a link is an offset");
_Static_assert(sizeof(struct kipt_double) == 1 << KIPT_LINK_SHIFT, "likewise");
_Static_assert(sizeof(struct kipt_block) == 64, "one is a cache line");

/* Is it in the other half of the addresses, or where no code can be? */
static bool is_beyond(u64 from, u64 to)
{
	return (from ^ to) >> 63 || !kipt_ip_is_canonical(to);
}

/* What a block does by itself. */
static u8 kind_by_code(const struct kipt_block *block)
{
	if (is_beyond(block->ip, block->ip) ||
	    is_beyond(block->ip, kipt_block_end_ip(block)))
		return KIPT_NODE_SLOW;
	switch (block->class) {
	case KIPT_INSN_COND:
		return is_beyond(block->ip, block->target) ? KIPT_NODE_SLOW : KIPT_NODE_COND;
	case KIPT_INSN_JUMP:
		return is_beyond(block->ip, block->target) ? KIPT_NODE_SLOW : KIPT_NODE_ON;
	case KIPT_INSN_CALL:
		return is_beyond(block->ip, block->target) ? KIPT_NODE_SLOW : KIPT_NODE_CALL;
	case KIPT_INSN_RET:
		return block->mode == KIPT_EXEC_16 || (u32)block->target != ~0U ||
		       (block->mode == KIPT_EXEC_64 && block->target != ~0ULL) ?
		       KIPT_NODE_SLOW : KIPT_NODE_RET;
	case KIPT_INSN_OTHER:
	case KIPT_INSN_MOV_CR3:
	case KIPT_INSN_PTWRITE:
	case KIPT_INSN_INTO:
	case KIPT_INSN_VMCALL:
		return KIPT_NODE_ON;
	default:
		return KIPT_NODE_TARGET;
	}
}

static bool uses_no_packet(u32 kind)
{
	return kind == KIPT_NODE_ON || kind == KIPT_NODE_CALL || kind == KIPT_NODE_JUMP;
}

/* Where a block leads by itself: one that is no KIPT_NODE_COND, _RET or _TARGET. */
static u64 next_ip(const struct kipt_block *block)
{
	return block->class == KIPT_INSN_JUMP || block->class == KIPT_INSN_CALL ?
	       block->target : kipt_block_end_ip(block);
}

static u32 number_of(struct kipt_flow *flow, const struct kipt_block *block, u64 to)
{
	return kipt_blocks_number(&flow->blocks, block->space, to, block->mode);
}

/* The blocks of @chain lead from one to the next, the last of them to @end, whose kind and reach
 * are known, or to one that is patched: NULL.
 */
static void settle_chain(struct kipt_flow *flow, const u32 *chain, u32 count,
			 const struct kipt_block *end)
{
	u32 reach = end ? end->reach : 0;
	struct kipt_block *block;

	while (count--) {
		block = &flow->blocks.table[chain[count]];
		block->kind = kind_by_code(block);
		if (!end) {
			block->patched = KIPT_PATCHED;
			continue;
		}
		reach++;
		if (end->kind == KIPT_NODE_SLOW || reach > KIPT_NODE_REACH)
			block->kind = KIPT_NODE_SLOW;
		block->reach = (u8)(reach > KIPT_NODE_REACH ? KIPT_NODE_REACH : reach);
	}
}

/* What @apart of the configuration names, and what may leave no packet, is for the slow path. */
static u8 kind_of(const struct kipt_flow *flow, const struct kipt_block *block)
{
	return (block->ip == flow->config.apart && block->ip) || kipt_walk_unseen(flow, block) ?
	       KIPT_NODE_SLOW : kind_by_code(block);
}

/* Finds the kind of a block, which depends on those up to the first that uses a packet or is
 * patched. Where code is missing, or there is no room, it stays unknown.
 */
static void find_kind(struct kipt_flow *flow, u32 number)
{
	u32 chain[KIPT_NODE_REACH], count = 0;
	struct kipt_block *block;
	u8 kind;

	for (;;) {
		block = &flow->blocks.table[number];
		/* It is work of this slice, though nothing is executed yet. */
		flow->walk.steps++;
		if (count && kipt_block_is_patched(block)) {
			settle_chain(flow, chain, count, NULL);
			return;
		}
		if (!block->insns &&
		    kipt_blocks_fill(&flow->blocks, &flow->code, number, block->space,
				     block->ip, block->mode) != KIPT_OK)
			return;
		if (block->kind)
			break;
		kind = kind_of(flow, block);
		if (!uses_no_packet(kind)) {
			block->kind = kind;
			break;
		}
		if (count == KIPT_NODE_REACH) {
			flow->blocks.table[chain[0]].kind = KIPT_NODE_SLOW;
			return;
		}
		chain[count++] = number;
		number = number_of(flow, block, next_ip(block));
		if (number == KIPT_BLOCK_NONE)
			return;
	}
	settle_chain(flow, chain, count, block);
}

/* Does the flow use a packet within KIPT_NODE_REACH blocks from @number on? Asked anew each time,
 * since any of them may have been patched.
 */
static bool arrives(struct kipt_flow *flow, u32 number)
{
	const struct kipt_block *block;
	u32 n;
	u8 kind;

	for (n = 0; n < KIPT_NODE_REACH && number != KIPT_BLOCK_NONE; n++) {
		flow->walk.steps++;
		block = &flow->blocks.table[number];
		kind = block->insns ? kind_of(flow, block) : KIPT_NODE_SLOW;
		if (!uses_no_packet(kind))
			return kind != KIPT_NODE_SLOW;
		number = kipt_blocks_look(&flow->blocks, block->space, next_ip(block), block->mode);
	}
	return false;
}

static bool is_near(u64 from, u64 to)
{
	return (u64)((s64)(s32)(u32)(to - from)) == to - from;
}

static bool emits_jumps(const struct kipt_flow *flow)
{
	return flow->output.wanted >> KIPT_BRANCH_JUMP & 1;
}

/* Joins blocks up to one that ends a node. Their kinds are known. Returns the node's kind. */
static u8 join_blocks(struct kipt_flow *flow, u32 number, u32 *insns)
{
	struct kipt_block *first = &flow->blocks.table[number], *block = first, *next;
	u32 n;

	first->end = number;
	*insns = block->insns;
	for (n = 1; block->kind == KIPT_NODE_ON; n++) {
		if (block->class == KIPT_INSN_JUMP && emits_jumps(flow))
			return KIPT_NODE_JUMP;
		number = number_of(flow, block, next_ip(block));
		next = &flow->blocks.table[number];
		if (n == KIPT_NODE_BLOCKS || number == KIPT_BLOCK_NONE ||
		    kipt_block_is_patched(next) || !is_near(first->ip, kipt_block_last_insn(next)))
			return KIPT_NODE_ON;
		*insns += next->insns;
		block->on = number;
		first->end = number;
		block = next;
	}
	return block->kind;
}

static void enter_kind(struct kipt_flow *flow, u32 number)
{
	struct kipt_block *block = &flow->blocks.table[number];
	struct kipt_index *index = &flow->blocks.index;
	u32 at = kipt_index_first(index, kipt_block_key(block->space, block->ip));

	if (kipt_block_is_patched(block))
		return;
	while (index->slots[at] >> KIPT_LINK_SHIFT != number)
		at = kipt_index_next(index, at);
	index->slots[at] = number << KIPT_LINK_SHIFT | block->node;
}

/* Nothing is stored where a node is slow for want of code or room. */
static u8 leave_slow(struct kipt_flow *flow, u32 number)
{
	kipt_pack_slow(flow, number, flow->blocks.table[number].ip);
	return KIPT_NODE_SLOW;
}

/* The kind of the node. */
static u8 build(struct kipt_flow *flow, u32 number)
{
	struct kipt_block *block = &flow->blocks.table[number];
	struct kipt_node *node = &flow->blocks.nodes[number];
	const struct kipt_block *last;
	u32 after = 0, insns;
	u8 kind;

	if (!block->kind)
		find_kind(flow, number);
	if (!block->kind)
		return leave_slow(flow, number);
	kind = join_blocks(flow, number, &insns);
	last = kipt_node_last(&flow->blocks, number);
	if (kind != KIPT_NODE_SLOW && (last->pushes || last->class == KIPT_INSN_CALL_IND)) {
		after = number_of(flow, last, kipt_block_end_ip(last));
		if (after == KIPT_BLOCK_NONE)
			return leave_slow(flow, number);
	}
	node->next[0] = after << KIPT_LINK_SHIFT;
	node->next[1] = 0;
	node->insns = insns;
	node->branch = (s32)(kipt_block_last_insn(last) - block->ip);
	if (flow->counts.max)
		memset(node->count, 0, sizeof(node->count));
	flow->blocks.doubles[number] = (struct kipt_double){ 0 };
	block->node = kind;
	enter_kind(flow, number);
	kipt_pack_node(flow, number);
	if (after)
		kipt_pack_link(flow, KIPT_LINK_FALL_THROUGH, number, after);
	return kind;
}

static u32 link_to(struct kipt_flow *flow, u32 number)
{
	u32 kind = flow->blocks.table[number].node;

	return number << KIPT_LINK_SHIFT | (kind ? kind : build(flow, number));
}

u32 kipt_graph_node(struct kipt_flow *flow, u32 number)
{
	u32 link = link_to(flow, number);

	if (kipt_block_is_patched(&flow->blocks.table[number]) &&
	    uses_no_packet(link & KIPT_LINK_KIND) && !arrives(flow, number))
		return number << KIPT_LINK_SHIFT | KIPT_NODE_SLOW;
	return link;
}

u32 kipt_graph_link(struct kipt_flow *flow, u32 number, u32 which)
{
	const struct kipt_block *last = kipt_node_last(&flow->blocks, number);
	const struct kipt_block *from = &flow->blocks.table[number];
	u32 *stored = &flow->blocks.nodes[number].next[which];
	u64 to = which ? last->target : next_ip(last);
	u32 next = number_of(flow, last, to), link;

	if (next == KIPT_BLOCK_NONE) {
		flow->at.ip = to;
		kipt_pack_slow(flow, next, to);
		kipt_pack_link(flow, which, number, next);
		return 0;
	}
	/* arrives() has looked through the next node, too, when the flow came to this one. */
	if (kipt_block_is_patched(from) && uses_no_packet(from->node))
		link = link_to(flow, next);
	else
		link = kipt_graph_node(flow, next);
	if (*stored >> KIPT_LINK_SHIFT != next)
		kipt_pack_link(flow, which, number, next);
	if (kipt_block_is_patched(&flow->blocks.table[next]))
		*stored = link & ~KIPT_LINK_KIND;
	else if (flow->blocks.table[next].node)
		*stored = link;
	return link;
}

/* What is looked up is rarely there: a bit for each address that may be. */
static u64 bit_of(const struct kipt_flow *flow, u64 ip)
{
	return 1ULL << (ip * flow->blocks.index.factor >> 58);
}

/* The block that one leads to by itself, if its kind is unknown; else NULL. */
static const struct kipt_block *unknown_next(const struct kipt_flow *flow,
					     const struct kipt_block *block)
{
	u32 number = kipt_blocks_look(&flow->blocks, block->space, next_ip(block), block->mode);
	const struct kipt_block *next = &flow->blocks.table[number];

	return number == KIPT_BLOCK_NONE || next->kind || kipt_block_is_patched(next) ? NULL : next;
}

/* Those that lead to a block whose kind is unknown are unknown themselves: one KIPT_NODE_ON or
 * _CALL after the other, at most KIPT_NODE_REACH of them. A block that is KIPT_NODE_SLOW is
 * decoded rightly whatever it leads to, and any number of them may follow each other: with @slow,
 * only those that lead directly to an unknown one are made unknown.
 */
static bool forget_leading(struct kipt_flow *flow, u64 *gone, bool slow)
{
	u32 i = flow->blocks.index.count;
	const struct kipt_block *next;
	struct kipt_block *block;
	bool some = false;

	/* Numbers mostly follow the code, so this meets a chain from its end. */
	while (--i > KIPT_BLOCK_NONE) {
		block = &flow->blocks.table[i];
		if (!(uses_no_packet(block->kind) || (slow && block->kind == KIPT_NODE_SLOW)) ||
		    !(*gone & bit_of(flow, next_ip(block))))
			continue;
		next = unknown_next(flow, block);
		if (!next)
			continue;
		block->kind = KIPT_NODE_UNKNOWN;
		if (!kipt_block_is_patched(block))
			block->patched = next->patched;
		*gone |= bit_of(flow, block->ip);
		some = true;
	}
	return some;
}

/* The kind of a block whose code is gone is unknown, and so is that of blocks that lead there
 * before a packet is used.
 */
static void forget_kinds(struct kipt_flow *flow)
{
	struct kipt_block *block;
	u64 gone = 0;
	u32 i;

	for (i = KIPT_BLOCK_NONE + 1; i < flow->blocks.index.count; i++) {
		block = &flow->blocks.table[i];
		if (block->insns || !block->kind)
			continue;
		block->kind = KIPT_NODE_UNKNOWN;
		gone |= bit_of(flow, block->ip);
	}
	if (!gone || !forget_leading(flow, &gone, true))
		return;
	for (i = 0; i < KIPT_NODE_REACH && forget_leading(flow, &gone, false); i++)
		;
}

/* Is the kind of each of its blocks known? */
static bool is_whole(const struct kipt_flow *flow, u32 number)
{
	struct kipt_block *blocks[KIPT_NODE_BLOCKS];
	u32 n = kipt_node_blocks(&flow->blocks, number, blocks);

	while (n--) {
		if (!blocks[n]->kind)
			return false;
	}
	return true;
}

/* A link of a node that is gone keeps its number; the kind is found anew. */
static void forget_link(const struct kipt_flow *flow, u32 *link)
{
	if (!flow->blocks.table[*link >> KIPT_LINK_SHIFT].node)
		*link &= ~KIPT_LINK_KIND;
}

static void forget_links(struct kipt_flow *flow, u32 number)
{
	struct kipt_double *both = &flow->blocks.doubles[number];
	struct kipt_node *node = &flow->blocks.nodes[number];
	u32 kind = flow->blocks.table[number].node, two;

	forget_link(flow, &node->next[0]);
	/* Else it is the number of a pair. */
	if (kind != KIPT_NODE_RET && kind != KIPT_NODE_TARGET)
		forget_link(flow, &node->next[1]);
	for (two = 0; two < 4; two++) {
		forget_link(flow, &both->next[two]);
		if (!(both->next[two] & KIPT_LINK_KIND) ||
		    !(node->next[two >> 1] & KIPT_LINK_KIND))
			both->next[two] = 0;
	}
}

void kipt_graph_forget(struct kipt_flow *flow, bool all)
{
	struct kipt_block *table = flow->blocks.table;
	u32 i;

	if (!flow->walk.graph)
		return;
	kipt_settle_returns(flow);
	forget_kinds(flow);
	for (i = KIPT_BLOCK_NONE + 1; i < flow->blocks.index.count; i++) {
		if (!table[i].node || (!all && is_whole(flow, i)))
			continue;
		table[i].node = KIPT_NODE_UNKNOWN;
		enter_kind(flow, i);
	}
	for (i = KIPT_BLOCK_NONE + 1; i < flow->blocks.index.count; i++) {
		if (table[i].node)
			forget_links(flow, i);
		if (table[i].patched == KIPT_PATCHED_NOW)
			table[i].patched = KIPT_PATCHED;
	}
}
