/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Following the graph from node to node: see graph.h. Only graph_run.c includes it, so that
 * what changes at every node can be kept in registers. Runs where the callbacks may.
 */
#ifndef KIPT_DECODE_GRAPH_STEP_H
#define KIPT_DECODE_GRAPH_STEP_H

#include "../out/emit.h"
#include "../out/flow_count.h"
#include "../flow/flow_walk.h"
#include "graph.h"
#include "graph_fold.h"
#include "pack.h"

/* What is emitted. */
enum emission {
	EMIT_COUNTS,
	EMIT_CALLS,
	EMIT_BRANCHES,
	EMIT_NO_COND,
	EMIT_PACKED,
};

/**
 * struct walk - where the flow is, and what of it changes at every node
 * @pos: next packet
 * @upto: no packet is read from here on
 * @link: the node; 0: there is none, for lack of memory, and flow->at.ip is the address
 * @top: of the return stack
 * @depth: of the return stack
 * @history: flow->walk.history_count
 * @insns: flow->at.insns
 * @last_ip: IP compression
 * @mark: of the mode
 * @nodes: the flow's
 * @doubles: the flow's
 * @sums: flow->output.sums
 * @emits: of packed output: branches other than conditional ones since the last packed item
 * @out: the next record goes here, if it is before @full
 * @full: there is no more room
 */
struct walk {
	const u8 *pos;
	const u8 *upto;
	u32 link;
	u32 top;
	u32 depth;
	u32 history;
	u64 insns;
	u64 last_ip;
	u64 mark;
	struct kipt_node *nodes;
	struct kipt_double *doubles;
	struct kipt_flow_sums sums;
	bool emits;
	struct kipt_record *out;
	struct kipt_record *full;
};

/* From next[n] to count[n] of a node. */
#define NEXT_TO_COUNT	2
/* From next[n] to count[n] of a double. */
#define DOUBLE_TO_COUNT	4

static __always_inline struct kipt_node *node_at(const struct walk *walk, u32 link)
{
	return &walk->nodes[link >> KIPT_LINK_SHIFT];
}

/* A pointer to next[@n] of the current node, a KIPT_NODE_COND, in @array of nodes, or of its double
 * in that of doubles; the count is NEXT_TO_COUNT or DOUBLE_TO_COUNT
 * further. A link is the offset of its node in bytes, plus its kind, so KIPT_NODE_COND is taken
 * away instead of masking the kind out. The compiler is kept from adding the link first: all
 * else is computed before it is known, and from link to link there is nothing but the load.
 */
static __always_inline u32 *at_link(const struct walk *walk, void *array, u32 n)
{
	u8 *base = (u8 *)array + 4 * n - KIPT_NODE_COND;

	OPTIMIZER_HIDE_VAR(base);
	return (void *)(base + walk->link);
}

/* The address that a link leads to. */
static __always_inline u64 ip_of(const struct kipt_flow *flow, const struct walk *walk, u32 link)
{
	return likely(link) ? node_at(walk, link)->ip ^ walk->mark : flow->at.ip;
}

/* The sink reads the sums of the flow when it takes records: this comes first. */
static __always_inline void sync_sums(struct kipt_flow *flow, const struct walk *walk)
{
	if (KIPT_SUMS)
		flow->output.sums = walk->sums;
}

/* Records made so far go to the flow; later ones follow them. */
static __always_inline void sync_records(struct kipt_flow *flow, const struct walk *walk)
{
	sync_sums(flow, walk);
	/* Edges there is no room for, and packed records, do not go through the walk. */
	if (!flow->counts.max && !flow->output.packs)
		flow->output.count = (u32)(walk->out - flow->output.records);
}

static __always_inline void read_records(struct kipt_flow *flow, struct walk *walk)
{
	walk->out = &flow->output.records[flow->output.count];
	/* The next record finds that there is no room, and time goes before it. */
	walk->full = flow->clock.moved ? walk->out : &flow->output.records[KIPT_FLOW_BUFFER];
}

static noinline struct kipt_record *make_room_for_record(struct kipt_flow *flow,
							 struct kipt_record *out)
{
	flow->output.count = (u32)(out - flow->output.records);
	kipt_emit_room(flow);
	return &flow->output.records[--flow->output.count];
}

static __always_inline bool emits_each(enum emission how)
{
	return how == EMIT_CALLS || how == EMIT_BRANCHES || how == EMIT_NO_COND;
}

static __always_inline void emit_branch(struct kipt_flow *flow, struct walk *walk,
					enum emission how, u8 kind, u16 flags, u64 from,
					u64 to)
{
	if (!emits_each(how) || !(flow->output.wanted >> kind & 1))
		return;
	if (unlikely(walk->out >= walk->full)) {
		sync_sums(flow, walk);
		walk->out = make_room_for_record(flow, walk->out);
		walk->full = &flow->output.records[KIPT_FLOW_BUFFER];
	}
	*walk->out++ = (struct kipt_record){
		.type = KIPT_RECORD_BRANCH, .kind = kind, .flags = flags,
		.aux = walk->insns < 0xffffffffU ? (u32)walk->insns : 0xffffffffU,
		.ip = from, .value = to,
	};
	walk->insns = 0;
}

/* @what: kipt_trail.node of what is passed. */
static __always_inline void add_trail(struct kipt_flow *flow, struct walk *walk, u32 what)
{
	flow->walk.history[walk->history++ % KIPT_FLOW_HISTORY].node = what;
}

/* The current node is passed, up to its branch. */
static __always_inline void pass(struct kipt_flow *flow, struct walk *walk, enum emission how)
{
	add_trail(flow, walk, walk->link & ~KIPT_LINK_KIND);
	if (emits_each(how))
		walk->insns += node_at(walk, walk->link)->insns;
}

/* The address of a node's branch. */
static __always_inline u64 branch_ip(const struct walk *walk, const struct kipt_node *node)
{
	return (node->ip ^ walk->mark) + (u64)(s64)node->branch;
}

static noinline void count_new(struct kipt_flow *flow, u32 from, u32 to)
{
	u32 pair = kipt_pairs_number(&flow->pairs, from, to);

	flow->blocks.nodes[from].next[1] = pair;
	if (pair)
		flow->pairs.at[pair].count++;
	else
		kipt_graph_count(flow, from, flow->blocks.table[to].ip);
}

/* Control went from the current node to the one of @link, by no direct branch. */
static __always_inline void count(struct kipt_flow *flow, const struct walk *walk, u32 link)
{
	u32 from = walk->link >> KIPT_LINK_SHIFT, to = link >> KIPT_LINK_SHIFT;
	u32 guess = walk->nodes[from].next[1];
	struct kipt_pair *pair = &flow->pairs.at[guess];

	if (likely(guess && pair->from == from && pair->to == to))
		pair->count++;
	else if (likely(link))
		count_new(flow, from, to);
	else
		kipt_graph_count(flow, from, flow->at.ip);
}

/* A link of the current node, which is made where it is not there yet. */
static __always_inline u32 link_of(struct kipt_flow *flow, const struct walk *walk, u32 link,
				   u32 which)
{
	if (likely(link & KIPT_LINK_KIND))
		return link;
	return kipt_graph_link(flow, walk->link >> KIPT_LINK_SHIFT, which);
}

/* The node after a CALL may be built already, but not for this CALL; its kind is kept unless it
 * is patched.
 */
static __always_inline void push(struct kipt_flow *flow, struct walk *walk,
				 struct kipt_node *node)
{
	u32 link = node->next[0];
	const struct kipt_block *next;

	if (unlikely(!(link & KIPT_LINK_KIND))) {
		next = &flow->blocks.table[link >> KIPT_LINK_SHIFT];
		link |= kipt_block_is_patched(next) ? 0 : next->node;
		node->next[0] = link;
	}
	flow->walk.stack.link[walk->top++ % KIPT_RETURN_STACK_SIZE] = link;
	walk->depth += walk->depth < KIPT_RETURN_STACK_SIZE;
}

/* The node of an address in the current space and mode; 0: there is no room. @guess: a link that
 * may lead there, or 0.
 */
static __always_inline u32 find_node(struct kipt_flow *flow, const struct walk *walk, u64 ip,
				     u32 guess)
{
	const struct kipt_index *index = &flow->blocks.index;
	const struct kipt_node *node = node_at(walk, guess);
	u64 space = kipt_space_at(flow, ip);
	u32 at, link, number;

	if (guess & KIPT_LINK_KIND && node->ip == (ip ^ walk->mark) && node->space == space)
		return guess;
	at = kipt_index_first(index, kipt_block_key(space, ip));
	while ((link = index->slots[at]) != 0) {
		node = node_at(walk, link);
		if (likely(node->ip == (ip ^ walk->mark) && node->space == space)) {
			if (likely(link & KIPT_LINK_KIND))
				return link;
			return kipt_graph_node(flow, link >> KIPT_LINK_SHIFT);
		}
		at = kipt_index_next(index, at);
	}
	number = kipt_number_at(flow, ip);
	if (number != KIPT_BLOCK_NONE)
		return kipt_graph_node(flow, number);
	flow->at.ip = ip;
	kipt_pack_slow(flow, KIPT_BLOCK_NONE, ip);
	return 0;
}

/* Leaves the current node, which is of that kind and uses no packet. */
static __always_inline void go_on(struct kipt_flow *flow, struct walk *walk, u32 kind,
				  enum emission how)
{
	struct kipt_node *node = node_at(walk, walk->link);
	u32 link, which = kind != KIPT_NODE_ON;

	pass(flow, walk, how);
	if (kind == KIPT_NODE_CALL && likely(node->next[0]))
		push(flow, walk, node);
	if (how == EMIT_COUNTS)
		node->count[which]++;
	link = link_of(flow, walk, node->next[which], which);
	if (kind != KIPT_NODE_ON) {
		walk->emits = true;
		emit_branch(flow, walk, how,
			    kind == KIPT_NODE_CALL ? KIPT_BRANCH_CALL : KIPT_BRANCH_JUMP, 0,
			    branch_ip(walk, node), ip_of(flow, walk, link));
	}
	walk->link = link;
}

/* Leaves the current node if it uses no packet. Returns false if it does. */
static __always_inline bool use_no_packet(struct kipt_flow *flow, struct walk *walk,
					  enum emission how)
{
	switch (walk->link & KIPT_LINK_KIND) {
	case KIPT_NODE_CALL:
		go_on(flow, walk, KIPT_NODE_CALL, how);
		return true;
	case KIPT_NODE_JUMP:
		go_on(flow, walk, KIPT_NODE_JUMP, how);
		return true;
	case KIPT_NODE_ON:
		go_on(flow, walk, KIPT_NODE_ON, how);
		return true;
	default:
		return false;
	}
}

/* The CALL may be of another mode. */
static noinline u32 find_return(struct kipt_flow *flow, u64 mark, u32 slot)
{
	const struct walk walk = { .mark = mark, .nodes = flow->blocks.nodes };
	u64 ip = flow->walk.stack.ip[slot];
	u32 link = find_node(flow, &walk, mark ? (u32)ip : ip, 0);

	kipt_pack_link(flow, KIPT_LINK_RETURN, slot, link >> KIPT_LINK_SHIFT);
	return link;
}

/* A RET that used an outcome. Returns false if no CALL is known, or none that can be. */
static __always_inline bool go_back(struct kipt_flow *flow, struct walk *walk, enum emission how)
{
	struct kipt_node *node = node_at(walk, walk->link);
	u32 slot = (walk->top - 1) % KIPT_RETURN_STACK_SIZE;
	u32 link = flow->walk.stack.link[slot];

	if (unlikely(!walk->depth ||
		     (!link && !kipt_ip_is_canonical(flow->walk.stack.ip[slot]))))
		return false;
	walk->top--;
	walk->depth--;
	pass(flow, walk, how);
	if (unlikely(!(link & KIPT_LINK_KIND)))
		link = link ? kipt_graph_node(flow, link >> KIPT_LINK_SHIFT) :
			      find_return(flow, walk->mark, slot);
	if (how == EMIT_COUNTS)
		count(flow, walk, link);
	walk->emits = true;
	emit_branch(flow, walk, how, KIPT_BRANCH_RET, KIPT_RF_COMPRESSED, branch_ip(walk, node),
		    ip_of(flow, walk, link));
	walk->link = link;
	return true;
}

/* Sums up one or two outcomes at KIPT_NODE_COND, of which @taken are taken branches. @insns of
 * their instructions are not in walk->insns yet; @since come after the last taken branch. No
 * branch here: outcomes cannot be predicted.
 */
static __always_inline void sum_up(struct walk *walk, u32 taken, u64 insns, u64 since)
{
	walk->sums.branches += taken;
	walk->sums.insns += walk->insns + insns - since;
	walk->insns = since;
}

/* One outcome at the current node, a KIPT_NODE_COND. Returns a pointer to the link. */
static __always_inline u32 *use_outcome(struct kipt_flow *flow, struct walk *walk, u32 taken,
					enum emission how)
{
	u32 *next = at_link(walk, walk->nodes, taken), link;
	struct kipt_node *node = node_at(walk, walk->link);

	pass(flow, walk, how);
	if (how == EMIT_COUNTS)
		next[NEXT_TO_COUNT]++;
	link = link_of(flow, walk, *next, taken);
	if (how == EMIT_BRANCHES && taken)
		emit_branch(flow, walk, how, KIPT_BRANCH_COND, 0, branch_ip(walk, node),
			    ip_of(flow, walk, link));
	else if (how == EMIT_NO_COND)
		sum_up(walk, taken, 0, walk->insns & ((u64)taken - 1));
	walk->link = link;
	return next;
}

/* Writes a record that stays if the branch was taken; no branch here, either. */
static __always_inline struct kipt_record *put_branch(struct kipt_record *out, u32 taken,
						      u64 *insns, u64 from, u64 to)
{
	out->type = KIPT_RECORD_BRANCH;
	out->kind = KIPT_BRANCH_COND;
	out->flags = 0;
	out->aux = (u32)*insns;
	out->ip = from;
	out->value = to;
	*insns &= (u64)taken - 1;
	return out + taken;
}

/* Two outcomes, the first in the upper bit, at two KIPT_NODE_COND; the first is the current
 * node. @next leads past them; @both points to it.
 */
static __always_inline void use_both(struct kipt_flow *flow, struct walk *walk, u32 two,
				     u32 *both, u32 next, enum emission how)
{
	const struct kipt_node *first, *second;
	u64 insns, since;

	/* KIPT_NODE_COND makes way for the other bits. */
	add_trail(flow, walk, walk->link - KIPT_NODE_COND + KIPT_TRAIL_TWO + (two >> 1));
	if (how == EMIT_COUNTS) {
		both[DOUBLE_TO_COUNT]++;
	} else if (how == EMIT_CALLS) {
		walk->insns += KIPT_DOUBLE_INSNS(both[DOUBLE_TO_COUNT]);
	} else if (how == EMIT_BRANCHES) {
		first = node_at(walk, walk->link);
		second = node_at(walk, first->next[two >> 1]);
		walk->insns += first->insns;
		walk->out = put_branch(walk->out, two >> 1, &walk->insns,
				       branch_ip(walk, first), second->ip ^ walk->mark);
		walk->insns += second->insns;
		walk->out = put_branch(walk->out, two & 1, &walk->insns,
				       branch_ip(walk, second),
				       node_at(walk, next)->ip ^ walk->mark);
	} else if (how == EMIT_NO_COND) {
		insns = KIPT_DOUBLE_INSNS(both[DOUBLE_TO_COUNT]);
		since = two ? KIPT_DOUBLE_SINCE(both[DOUBLE_TO_COUNT]) : walk->insns + insns;
		sum_up(walk, (two + 1) / 2, insns, since);
	}
	walk->link = next;
}

/* There is room for two records, and their instructions fit. */
static __always_inline bool may_emit_two(const struct walk *walk, enum emission how)
{
	return how != EMIT_BRANCHES || (walk->out + 1 < walk->full && !(walk->insns >> 31));
}

/* Uses @n outcomes, the oldest in the highest bit of @bits. Returns how many are left, for the
 * slow path to use from the node on.
 */
static __always_inline u32 use_outcomes(struct kipt_flow *flow, struct walk *walk, u64 bits,
					u32 n, enum emission how)
{
	u32 *both, *first, *second, kind, two, first_insns, second_insns;

	while (n) {
		kind = walk->link & KIPT_LINK_KIND;
		if (likely(kind == KIPT_NODE_COND)) {
			two = (u32)(bits >> 62);
			both = at_link(walk, walk->doubles, two);
			if (likely(n > 1 && *both && may_emit_two(walk, how))) {
				use_both(flow, walk, two, both, *both, how);
				bits <<= 2;
				n -= 2;
				continue;
			}
			first_insns = node_at(walk, walk->link)->insns;
			first = use_outcome(flow, walk, two >> 1, how);
			bits <<= 1;
			n--;
			if (!n || (walk->link & KIPT_LINK_KIND) != KIPT_NODE_COND)
				continue;
			second_insns = node_at(walk, walk->link)->insns;
			second = use_outcome(flow, walk, two & 1, how);
			if (likely(*first & KIPT_LINK_KIND && *second & KIPT_LINK_KIND)) {
				*both = *second;
				if (how == EMIT_CALLS || how == EMIT_NO_COND)
					both[DOUBLE_TO_COUNT] =
						KIPT_DOUBLE(first_insns + second_insns,
							    two == 2 ? second_insns : 0);
			}
			bits <<= 1;
			n--;
		} else if (kind == KIPT_NODE_RET) {
			if (!(bits >> 63) || !go_back(flow, walk, how))
				return n;
			bits <<= 1;
			n--;
		} else if (!use_no_packet(flow, walk, how)) {
			return n;
		}
	}
	return 0;
}

/* Branches to the target of a TIP. Returns false if the slow path has to, from the node on. */
static __always_inline bool use_target(struct kipt_flow *flow, struct walk *walk, u64 target,
				       enum emission how)
{
	struct kipt_node *node;
	u32 link, call = 0;
	u8 kind;

	while (use_no_packet(flow, walk, how))
		;
	node = node_at(walk, walk->link);
	switch (walk->link & KIPT_LINK_KIND) {
	case KIPT_NODE_RET:
		/* While the stack is empty, any slot may be the next. */
		walk->top--;
		call = walk->depth ? flow->walk.stack.link[walk->top % KIPT_RETURN_STACK_SIZE] : 0;
		walk->depth -= walk->depth > 0;
		break;
	case KIPT_NODE_TARGET:
		/* Of these only a CALL has a node after it. */
		if (node->next[0])
			push(flow, walk, node);
		break;
	default:
		return false;
	}
	pass(flow, walk, how);
	link = find_node(flow, walk, target, call);
	if (how == EMIT_COUNTS) {
		count(flow, walk, link);
	} else if (how != EMIT_PACKED || unlikely(flow->clock.moved)) {
		kind = kipt_branch_kind(kipt_node_last(&flow->blocks,
						       walk->link >> KIPT_LINK_SHIFT)->class);
		walk->emits |= flow->output.wanted >> kind & 1;
		emit_branch(flow, walk, how, kind, 0, branch_ip(walk, node), target);
	}
	walk->link = link;
	return true;
}

#endif /* KIPT_DECODE_GRAPH_STEP_H */
