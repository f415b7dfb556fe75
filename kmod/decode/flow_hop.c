// SPDX-License-Identifier: GPL-2.0-only
/*
 * The fast path packet by packet: where windows are new, or follow no pattern.
 * Hops stand before the table: most packets come again at the same block soon.
 * Runs where the callbacks may.
 */
#include "flow_take.h"

/**
 * struct next - the packet at hand
 * @hop: where its way stands, if it does
 * @key: what @hop has then
 * @size: its bytes
 * @last_ip: IP compression behind it
 */
struct next {
	struct kipt_hop *hop;
	u32 key;
	u32 size;
	u64 last_ip;
};

const u8 *kipt_take_time(struct kipt_flow *flow, const u8 *pos)
{
	struct kipt_cursor cursor;
	struct kipt_packet packet;

	kipt_cursor_init(&cursor, pos, (u64)(flow->cursor.end - pos));
	if (kipt_packet_next(&cursor, &packet) != KIPT_OK ||
	    !kipt_packet_is_time(packet.type))
		return pos;
	kipt_flow_on_time(flow, &packet);
	return cursor.pos;
}

void kipt_pass_times(struct kipt_flow *flow, struct kipt_fast *fast, const u8 *end)
{
	const u8 *pos = NULL;

	while (fast->pos < end && fast->pos != pos) {
		pos = fast->pos;
		fast->pos = *pos ? kipt_take_time(flow, pos) : pos + 1;
	}
}

struct hit kipt_find_second(const struct kipt_flow *flow,
			    const struct kipt_window *window, u32 block,
			    u64 last_ip)
{
	const struct kipt_return_stack *stack = &flow->stack;
	u64 top = *kipt_return_stack_at(stack, 0);
	struct hit hit;

	hit = find_in(flow, kipt_memo_second(window->hash, block, 0), window,
		      block, last_ip);
	if (hit.way || !stack->depth)
		return hit;
	return find_in(flow, kipt_memo_second(window->hash, block, top), window,
		       block, last_ip);
}

static inline struct next next_packet(const struct kipt_flow *flow,
				      const struct kipt_fast *fast)
{
	u8 byte = *fast->pos;
	struct next next = {
		.key = kipt_hop_tnt(fast->block, byte),
		.size = 1,
		.last_ip = fast->last_ip,
	};

	if (byte & 1) {
		next.size = kipt_window_ip(fast->pos, &next.last_ip);
		next.key = kipt_hop_ip(fast->block, byte, next.last_ip);
	}
	next.hop = kipt_hop_place(&flow->memo.hops, next.key);
	return next;
}

/* What the key of an IP packet leaves open. */
static inline bool is_ip_way(const struct kipt_way *way,
			     const struct kipt_fast *fast, const struct next *next)
{
	u64 word = next->last_ip << 8 | KIPT_WINDOW_FULL |
		   (*fast->pos & KIPT_WINDOW_OPCODE);
	const u64 *words = kipt_way_bytes(way);

	return way->block == fast->block && way->len == 9 && next->size != 1 &&
	       words[0] == word && words[1] == next->last_ip >> 56;
}

static inline bool hop_holds(const struct kipt_flow *flow,
			     const struct kipt_fast *fast, const struct next *next)
{
	const struct kipt_way *way;

	if (next->hop->key != next->key)
		return false;
	way = kipt_way_at(&flow->memo, next->hop->way);
	return (!(next->key & 1) || is_ip_way(way, fast, next)) &&
	       guards_hold(flow, way);
}

/* Its way by the table, learnt if it is new. */
static struct hit find_packet(struct kipt_flow *flow, const struct kipt_fast *fast)
{
	u64 last_ip = fast->last_ip;
	struct kipt_window window;
	const u8 *next;
	struct hit hit;

	next = kipt_window_packet(&window, fast->pos, &last_ip);
	hit = kipt_find_second(flow, &window, fast->block, fast->last_ip);
	if (hit.way)
		return hit;
	kipt_memo_settle(flow, fast);
	hit.way = kipt_learn_packet(flow, &window, fast->block);
	if (hit.way)
		hit.to = hit.way->to;
	else
		flow->slow_until = next;
	return hit;
}

static inline struct kipt_way *take_packet(struct kipt_flow *flow,
					   struct kipt_fast *fast, enum tell how)
{
	struct next next = next_packet(flow, fast);
	struct hit hit;

	if (likely(hop_holds(flow, fast, &next))) {
		hit.way = kipt_way_at(&flow->memo, next.hop->way);
		hit.to = next.hop->to;
	} else {
		hit = find_packet(flow, fast);
		if (!hit.way)
			return NULL;
		kipt_memo_put_hop(&flow->memo, next.key, hit.way);
	}
	tell(flow, hit.way, how);
	take(flow, fast, hit, next.last_ip);
	fast->pos += next.size;
	return hit.way;
}

/* Out of line: the loop around it has no registers to spare. Returns false if it
 * is another way's turn.
 */
static noinline bool take_calls(struct kipt_flow *flow,
				const struct kipt_way *way)
{
	if (!guards_hold(flow, way))
		return false;
	apply_stack(flow, way);
	return true;
}

/* A CALL, or with @ret a RET, and no branch on which: that follows no pattern.
 * Returns false if the RET goes elsewhere.
 */
static inline bool take_call(struct kipt_return_stack *stack, u64 ip, u32 ret)
{
	u64 *slot = &stack->ip[(stack->top - ret) % KIPT_RETURN_STACK_RING];
	u32 depth = stack->depth + 1 - 2 * ret;

	if (unlikely(((*slot ^ ip) & -(u64)ret) || (s32)depth < 0))
		return false;
	/* What a RET takes stands there. */
	*slot = ip;
	stack->top += 1 - 2 * ret;
	stack->depth = depth < KIPT_RETURN_STACK_SIZE ? depth :
							KIPT_RETURN_STACK_SIZE;
	return true;
}

/* What a TNT does to the stack. Returns false if its hop does not say. */
static inline bool take_stack(struct kipt_flow *flow,
			      const struct kipt_way *way, u32 next)
{
	struct kipt_return_stack *stack = &flow->stack;
	u32 kind = next & KIPT_HOP_KIND;

	if (kind == KIPT_HOP_PLAIN &&
	    likely(stack->depth + (next >> KIPT_HOP_DEEP) <=
		   KIPT_RETURN_STACK_SIZE))
		return true;
	/* What is pushed, or else guarded. */
	if (kind >= KIPT_HOP_CALL)
		return take_call(stack, way->words[0], kind == KIPT_HOP_RET);
	return kind != KIPT_HOP_OTHER && take_calls(flow, way);
}

/* Short TNTs whose hops say where they lead. Which hop is next waits for one
 * load and one addition.
 */
static __always_inline void take_tnts(struct kipt_flow *flow, struct kipt_fast *fast,
				      const u8 *upto, enum tell how)
{
	u32 block = fast->block, history = flow->history_count, next;
	/* A copy: what is written below cannot change it. */
	const struct kipt_hops hops = flow->memo.hops;
	const u8 *at = (const u8 *)hops.at, *pos = fast->pos;
	const u8 *row = at + kipt_hop_row(&hops, block);
	const struct kipt_hop *hop;
	struct kipt_way *way;

	for (; pos < upto; pos++) {
		hop = (const void *)(row + (*pos & 0xfeU) * 8);
		way = kipt_way_at(&flow->memo, hop->way);
		next = hop->next;
		if (hop->key != kipt_hop_tnt(block, *pos) ||
		    !take_stack(flow, way, next))
			break;
		row = at + (next & KIPT_HOP_ROW);
		tell(flow, way, how);
		flow->history[history++ % KIPT_FLOW_HISTORY].way = hop->way;
		block = hop->to;
	}
	flow->history_count = history;
	fast->block = block;
	fast->pos = pos;
}

/* Is a packet of windows there, all of it? */
static bool has_packet(const struct kipt_fast *fast)
{
	u8 byte = *fast->pos;
	u32 size = kipt_window_lens[byte];

	if (size)
		return size <= (u64)(fast->end - fast->pos);
	return kipt_tnt_is_short(byte);
}

static __always_inline bool take_packets(struct kipt_flow *flow,
					 struct kipt_fast *fast, const u8 *upto,
					 enum tell how)
{
	const u8 *pos;

	while (fast->pos < upto) {
		take_tnts(flow, fast, upto, how);
		pos = fast->pos;
		if (pos == upto)
			break;
		if (kipt_window_lens[*pos] == KIPT_WINDOW_TIMES)
			kipt_pass_times(flow, fast, pos + 1);
		else if (!has_packet(fast) || fast->block == KIPT_BLOCK_NONE ||
			 !take_packet(flow, fast, how))
			return false;
		if (fast->pos == pos)
			return false;
	}
	return true;
}

struct kipt_way *kipt_take_packet(struct kipt_flow *flow, struct kipt_fast *fast,
				  enum tell how)
{
	return take_packet(flow, fast, how);
}

bool kipt_take_packets(struct kipt_flow *flow, struct kipt_fast *fast,
		       const u8 *upto, enum tell how)
{
	if (how == TELL_COUNTS)
		return take_packets(flow, fast, upto, TELL_COUNTS);
	if (how == TELL_PATHS)
		return take_packets(flow, fast, upto, TELL_PATHS);
	return take_packets(flow, fast, upto, TELL_RECORDS);
}
