// SPDX-License-Identifier: GPL-2.0-only
/*
 * Following the graph from packet to packet, see graph.h. Runs where the callbacks may.
 */
#include "../flow/flow_beside.h"
#include "../flow/flow_branch.h"
#include "../flow/flow_settle.h"
#include "../packet/packet_table.h"
#include "graph_fold.h"
#include "graph_step.h"
#include "pack.h"

/* Bytes that may be read after the first of a packet. */
#define READS	16

/**
 * struct rest - a packet whose outcomes are not all used
 * @at: the packet
 * @bits: its outcomes
 * @count: how many are left; 0: there is no such packet
 * @is_long: it is a long TNT
 * @done: the run halts, or the next packet may be used; else it is for the slow path
 */
struct rest {
	const u8 *at;
	u64 bits;
	u32 count;
	bool is_long;
	bool done;
};

/* Is the current node none for the slow path, and is there one? */
static __always_inline bool is_followed(const struct walk *walk)
{
	return (walk->link & KIPT_LINK_KIND) - KIPT_NODE_COND < KIPT_NODE_SLOW - KIPT_NODE_COND;
}

/* After something else than a packet that was followed. Returns false if there is nothing
 * that can be.
 */
static bool enter(struct kipt_flow *flow, struct walk *walk)
{
	const u8 *end = flow->input.data + flow->input.size - READS;
	const u8 *until = flow->input.data + flow->input.until;

	if (flow->input.size < READS)
		return false;
	if (flow->walk.space != flow->at.space || flow->walk.high_space != flow->at.high_space ||
	    flow->walk.mode != flow->at.mode) {
		flow->walk.space = flow->at.space;
		flow->walk.high_space = flow->at.high_space;
		flow->walk.mode = flow->at.mode;
		kipt_settle_returns(flow);
	}
	walk->pos = flow->input.cursor.pos;
	walk->upto = flow->input.cursor.end < end ? flow->input.cursor.end : end;
	/* What is used together does not depend on slices, so that packed records do not, either. */
	if (until > walk->pos && until < walk->upto)
		walk->upto = until;
	if (!kipt_flow_is_on(flow) || walk->pos >= walk->upto ||
	    !kipt_ip_is_canonical(flow->at.ip))
		return false;
	if (flow->counts.max && KIPT_COUNTS_FOLD - flow->counts.bytes < (u64)(walk->upto - walk->pos))
		walk->upto = walk->pos + (KIPT_COUNTS_FOLD - flow->counts.bytes);
	walk->mark = kipt_mode_mark(flow->at.mode);
	walk->nodes = flow->blocks.nodes;
	walk->doubles = flow->blocks.doubles;
	read_records(flow, walk);
	walk->link = find_node(flow, walk, flow->at.ip, 0);
	walk->top = flow->walk.stack.top;
	walk->depth = flow->walk.stack.depth;
	walk->history = flow->walk.history_count;
	walk->last_ip = flow->input.last_ip;
	walk->sums = flow->output.sums;
	walk->emits = false;
	if (!is_followed(walk)) {
		if (flow->output.walks)
			kipt_pack_upto(flow, walk->link >> KIPT_LINK_SHIFT);
		return false;
	}
	kipt_pack_start(flow, walk->link >> KIPT_LINK_SHIFT);
	walk->insns = flow->at.insns;
	return true;
}

static void leave(struct kipt_flow *flow, const struct walk *walk)
{
	/* Time leaves what was before it the last packet. */
	if (walk->history != flow->walk.history_count)
		flow->input.previous = KIPT_PACKET_TNT;
	flow->counts.bytes += (u64)(walk->pos - flow->input.cursor.pos);
	flow->input.cursor.pos = walk->pos;
	if (walk->link)
		flow->at.ip = ip_of(flow, walk, walk->link);
	sync_records(flow, walk);
	flow->walk.stack.top = walk->top;
	flow->walk.stack.depth = walk->depth;
	flow->walk.steps += walk->history - flow->walk.history_count;
	flow->walk.history_count = walk->history;
	flow->at.insns = walk->insns;
	flow->input.last_ip = walk->last_ip;
}

/* The outcomes of short TNTs that have six each, up to eight of them. Returns how many outcomes;
 * the oldest is in bit 47 of @bits.
 */
static __always_inline u32 read_full(struct walk *walk, u64 *bits)
{
	u64 word = kipt_load64(walk->pos), other = (word & 0x8181818181818181ULL) ^
						   0x8080808080808080ULL;
	u32 count = other ? (u32)__builtin_ctzll(other) >> 3 : 8;

	if (count > (u64)(walk->upto - walk->pos))
		count = (u32)(walk->upto - walk->pos);
	/* Six bits of each byte, the first byte in the highest, are put side by side. */
	word = __builtin_bswap64(word) >> 1;
	word = (word & 0x003f003f003f003fULL) | (word >> 2 & 0x0fc00fc00fc00fc0ULL);
	word = (word & 0x00000fff00000fffULL) | (word >> 4 & 0x00fff00000fff000ULL);
	*bits = (word & 0xffffff) | (word >> 8 & 0xffffff000000ULL);
	walk->pos += count;
	return 6 * count;
}

/* The outcomes of the short TNTs here, as many as there is room for; after them is the
 * next packet. Returns how many; the oldest is in the highest bit of @bits.
 */
static __always_inline u32 read_short(struct walk *walk, u64 *bits)
{
	u32 n = read_full(walk, bits), some;

	*bits >>= 48 - n;
	while (n <= 64 - 6 && walk->pos < walk->upto && kipt_tnt_is_short(*walk->pos)) {
		some = kipt_tnt_outcomes(*walk->pos);
		n += some;
		/* The XOR takes the stop bit away: the outcomes before end in its place. */
		*bits = *bits << some | ((*walk->pos >> 1) ^ 1U << some);
		walk->pos++;
	}
	*bits <<= (64 - n) & 63;
	return n;
}

/* The outcomes of a long TNT; 0: it is another packet. */
static __always_inline u32 read_long(const struct kipt_flow *flow, struct walk *walk, u64 *bits)
{
	u64 value;
	u32 n;

	if (walk->pos[0] != 0x02 || walk->pos[1] != 0xa3 ||
	    flow->input.cursor.end - walk->pos < 8)
		return 0;
	value = kipt_load64(walk->pos + 2) & 0xffffffffffffULL;
	if (value < 2)
		return 0;
	n = 63 - (u32)__builtin_clzll(value);
	*bits = value << (64 - n);
	walk->pos += 8;
	return n;
}

/* @left outcomes of the packets that end at the next one are not used: those of the first
 * that has some are for the slow path, and the next packet is the one after it.
 */
static __always_inline void find_rest(struct walk *walk, u32 left, struct rest *rest)
{
	if (rest->is_long) {
		rest->at = walk->pos - 8;
		rest->bits = kipt_load64(walk->pos - 6) & 0xffffffffffffULL;
	} else {
		while (left > kipt_tnt_outcomes(walk->pos[-1]))
			left -= kipt_tnt_outcomes(*--walk->pos);
		rest->at = walk->pos - 1;
		rest->bits = *rest->at >> 1;
	}
	rest->count = left;
}

/* Time that has moved goes before steps that make records. */
static __always_inline void emit_time(struct kipt_flow *flow, struct walk *walk, bool taken)
{
	if (unlikely(flow->clock.moved) &&
	    (walk->emits || (taken && flow->output.wanted >> KIPT_BRANCH_COND & 1)))
		kipt_emit_time(flow);
	walk->emits = false;
}

/* Packs short TNTs from @from on as their own bytes. @n outcomes were used. */
static __always_inline void pack_outcomes(struct kipt_flow *flow, const u8 *from,
					  struct walk *walk, const struct rest *rest, u64 bits,
					  u32 n)
{
	emit_time(flow, walk, n && bits >> (64 - n));
	if (rest->is_long) {
		kipt_pack_outcomes(flow, bits, n);
		return;
	}
	kipt_pack_short(flow, from, rest->count ? rest->at : walk->pos);
	if (rest->count) {
		n = kipt_tnt_outcomes(*rest->at);
		kipt_pack_outcomes(flow, (u64)(*rest->at >> 1) << (64 - n), n - rest->count);
	}
}

/* Uses packets as long as the run does not halt. @rest: of one that was begun. Only functions that
 * are inlined get the address of the local walk: the compiler keeps it in registers.
 */
static __always_inline void follow(struct kipt_flow *flow, struct walk *at, struct rest *rest,
				   enum emission how)
{
	struct walk walk = *at;
	const u32 history = walk.history;
	const u8 *next, *from;
	bool done = true;
	u64 bits, ip;
	u32 n, left, len;

	while (done && is_followed(&walk) && walk.pos < walk.upto &&
	       walk.pos < flow->input.halt_at &&
	       kipt_walk_slice_left(flow) > (s32)(walk.history - history) &&
	       !(how == EMIT_COUNTS && (flow->pairs.index.full || flow->counts.index.full)) &&
	       !(flow->blocks.index.full && walk.history != history)) {
		from = walk.pos;
		n = read_short(&walk, &bits);
		rest->is_long = !n;
		if (!n)
			n = read_long(flow, &walk, &bits);
		if (likely(n)) {
			left = use_outcomes(flow, &walk, bits, n, how);
			if (unlikely(left))
				find_rest(&walk, left, rest);
			if (how == EMIT_PACKED)
				pack_outcomes(flow, from, &walk, rest, bits, n - left);
			if (unlikely(left))
				break;
			continue;
		}
		if ((*walk.pos & KIPT_OPCODE_IP_MASK) != KIPT_OPCODE_TIP) {
			sync_records(flow, &walk);
			next = kipt_flow_pass_beside(flow, walk.pos, walk.upto);
			read_records(flow, &walk);
			done = next;
			walk.pos = next ? next : walk.pos;
			continue;
		}
		len = kipt_table_len[*walk.pos];
		ip = kipt_last_ip_bytes(walk.last_ip, *walk.pos >> 5,
					kipt_load64(walk.pos + 1));
		done = *walk.pos >> 5 && len && len <= flow->input.cursor.end - walk.pos &&
		       kipt_ip_is_canonical(ip) && use_target(flow, &walk, ip, how);
		if (likely(done)) {
			walk.last_ip = ip;
			walk.pos += len;
		}
		if (how == EMIT_PACKED) {
			emit_time(flow, &walk, false);
			if (likely(done))
				kipt_pack_target(flow, walk.link >> KIPT_LINK_SHIFT);
		}
	}
	*at = walk;
	rest->done = done;
}

/* One copy of follow() for each emission: what is not emitted costs nothing. */
#define FOLLOW(name, how) \
static noinline void name(struct kipt_flow *flow, struct walk *walk, struct rest *rest) \
{ \
	follow(flow, walk, rest, how); \
}

FOLLOW(follow_counts, EMIT_COUNTS)
FOLLOW(follow_calls, EMIT_CALLS)
FOLLOW(follow_packed, EMIT_PACKED)
FOLLOW(follow_no_cond, EMIT_NO_COND)
FOLLOW(follow_branches, EMIT_BRANCHES)

/* The slow path goes on amid the outcomes of a packet. */
static void hand_over(struct kipt_flow *flow, const struct rest *rest)
{
	flow->input.offset = (u64)(rest->at - flow->input.data);
	flow->input.previous = KIPT_PACKET_TNT;
	flow->walk.tnt.bits = rest->bits;
	flow->walk.tnt.count = rest->count;
	flow->walk.bound = (struct kipt_walk_bound){ 0 };
	kipt_flow_walk_on(flow);
}

/* Packs that nodes which use no packet were passed; other records follow. */
static void end_packed(struct kipt_flow *flow, u32 number)
{
	if (!flow->output.packs)
		return;
	kipt_pack_upto(flow, number);
	kipt_pack_end(flow);
}

static void end_slice(struct kipt_flow *flow)
{
	if (kipt_walk_slice_left(flow) > 0)
		return;
	kipt_walk_begin_slice(flow);
	if (flow->config.step_slice)
		flow->input.halt_at = flow->input.data;
}

bool kipt_graph_run(struct kipt_flow *flow)
{
	struct rest rest = { 0 };
	struct walk walk;

	if (KIPT_PROVES)
		kipt_prove_graph_begin(flow);
	if (!enter(flow, &walk)) {
		kipt_pack_end(flow);
		if (KIPT_PROVES)
			kipt_prove_graph_end(flow, 0);
		/* What was classified counts; the current packet is used all the same. */
		if (flow->config.step_slice && kipt_walk_slice_left(flow) <= 0)
			flow->input.halt_at = flow->input.data;
		return true;
	}
	if (KIPT_PROVES)
		walk.upto = walk.pos + 1;
	if (flow->counts.max)
		follow_counts(flow, &walk, &rest);
	else if (flow->output.packs)
		follow_packed(flow, &walk, &rest);
	else if (flow->output.wanted >> KIPT_BRANCH_COND & 1)
		follow_branches(flow, &walk, &rest);
	else if (KIPT_SUMS && flow->config.output & KIPT_FLOW_NO_COND)
		follow_no_cond(flow, &walk, &rest);
	else
		follow_calls(flow, &walk, &rest);
	leave(flow, &walk);
	if (rest.count || !rest.done)
		end_packed(flow, walk.link >> KIPT_LINK_SHIFT);
	if (rest.count)
		hand_over(flow, &rest);
	if (KIPT_PROVES)
		kipt_prove_graph_end(flow, rest.count);
	end_slice(flow);
	return !rest.done;
}
