/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Taking a way of the memo: is it the one, what it tells, where the flow is
 * behind it. What flow_memo.c does with windows and flow_hop.c with packets.
 * Inline, since it is most of what the fast path does. Runs where the sink may.
 */
#ifndef KIPT_DECODE_FLOW_TAKE_H
#define KIPT_DECODE_FLOW_TAKE_H

#include "flow_state.h"

/**
 * struct hit - what a look-up gives
 * @way: the way, or NULL
 * @to: its @to
 */
struct hit {
	struct kipt_way *way;
	u32 to;
};

/* How what happens is told. */
enum tell {
	TELL_RECORDS,
	TELL_PATHS,
	TELL_COUNTS,
};

/* Where many records are made it is asked at each window whether the run halts. */
static inline bool halts(const struct kipt_flow *flow,
			 const struct kipt_fast *fast, enum tell how)
{
	return how == TELL_RECORDS && fast->pos >= flow->halt_at;
}

/* Brings a way near, to be counted. */
static inline void fetch_way(const struct kipt_flow *flow, u32 way)
{
	const u8 *at = (const u8 *)&flow->memo.words[way];

	__builtin_prefetch(at, 1);
	__builtin_prefetch(at + 64);
	__builtin_prefetch(at + 128);
}

/* Two periods of 8 KB between PSBs. */
#define KIPT_TRACE_AHEAD	16384

/* Brings the trace near, so that the search for the PSB behind the next one finds
 * it there.
 */
static inline void fetch_trace(const u8 *pos)
{
	__builtin_prefetch(pos + KIPT_TRACE_AHEAD);
}

static inline bool more_guards(const struct kipt_flow *flow, const struct kipt_way *way)
{
	const u64 *guards = kipt_way_pushes(way) + way->pushes;
	u32 i;

	for (i = 2; i < way->guards; i++) {
		if (*kipt_return_stack_at(&flow->stack, i) != guards[i])
			return false;
	}
	return true;
}

/* Without branches on how many there are: that follows no pattern. What is read
 * behind the guards is anything, but there.
 */
static inline bool guards_hold(const struct kipt_flow *flow,
			       const struct kipt_way *way)
{
	const struct kipt_return_stack *stack = &flow->stack;
	const u64 *guards = kipt_way_pushes(way) + way->pushes;
	u64 first = *kipt_return_stack_at(stack, 0) ^ guards[0];
	u64 second = *kipt_return_stack_at(stack, 1) ^ guards[1];

	first &= -(u64)(way->guards > 0);
	second &= -(u64)(way->guards > 1);
	if (first | second | (stack->depth < way->guards))
		return false;
	return likely(way->guards <= 2) || more_guards(flow, way);
}

static inline struct hit find_in(const struct kipt_flow *flow, u32 hash,
				 const struct kipt_window *window, u32 block,
				 u64 last_ip)
{
	const struct kipt_bucket *bucket = kipt_memo_bucket(&flow->memo, hash);
	struct hit hit = { NULL, 0 };
	u32 match, place;

	match = kipt_bucket_match(bucket, kipt_memo_key(hash, block), ~0U);
	for (; match; match &= match - 1) {
		place = (u32)__builtin_ctz(match);
		hit.way = kipt_way_at(&flow->memo, bucket->way[place]);
		hit.to = hit.way->to;
		if (likely(kipt_way_is(hit.way, window, block, last_ip) &&
			   guards_hold(flow, hit.way) && bucket->way[place]))
			return hit;
	}
	hit.way = NULL;
	return hit;
}

/* The first two pushes are written whether they are made or not, if not to
 * where nothing is.
 */
static inline void apply_stack(struct kipt_flow *flow,
			       const struct kipt_way *way)
{
	struct kipt_return_stack *stack = &flow->stack;
	const u64 *pushes = kipt_way_pushes(way);
	s32 depth = (s32)stack->depth + way->net;
	u32 top = stack->top + (u32)way->net, i;

	stack->top = top;
	stack->ip[(top - (way->pushes > 0)) % KIPT_RETURN_STACK_RING] =
		pushes[0];
	stack->ip[(top - 2 * (way->pushes > 1)) % KIPT_RETURN_STACK_RING] =
		pushes[1];
	for (i = 2; unlikely(i < way->pushes); i++)
		stack->ip[(top - 1 - i) % KIPT_RETURN_STACK_RING] = pushes[i];
	depth = depth < way->low ? way->low : depth;
	stack->depth = (u32)(depth > way->high ? way->high : depth);
}

/* Of a way that has its own records. For the first of them instructions from before
 * count too.
 */
static inline void tell_kept(struct kipt_flow *flow,
			     const struct kipt_way *way)
{
	const struct kipt_record *from = kipt_way_records(way);
	struct kipt_record *out;
	u64 insns;
	u32 i;

	if (!way->records) {
		flow->at.insns += way->tail;
		return;
	}
	insns = flow->at.insns + from->aux;
	out = kipt_emit_room(flow, way->records);
	for (i = 0; i < way->records; i++)
		out[i] = from[i];
	out->aux = insns < 0xffffffffU ? (u32)insns : 0xffffffffU;
	flow->at.insns = way->tail;
}

static inline void tell_records(struct kipt_flow *flow,
				const struct kipt_way *way)
{
	u32 i;

	if (way->own) {
		tell_kept(flow, way);
		return;
	}
	for (i = 0; i < way->listed; i++)
		tell_kept(flow, kipt_way_part(&flow->memo, way, i));
}

static inline void tell_path(struct kipt_flow *flow, const struct kipt_way *way)
{
	if (unlikely(flow->clock.moved && way->records))
		kipt_emit_room(flow, 0);
	flow->paths.type = KIPT_RECORD_PATHS;
	((u32 *)(void *)&flow->paths)[1 + flow->nr_paths++] = (u32)way->count;
	if (flow->nr_paths == KIPT_RECORD_PATHS_MAX)
		kipt_emit_paths(flow);
}

static inline void tell(struct kipt_flow *flow, struct kipt_way *way,
			enum tell how)
{
	if (how == TELL_RECORDS)
		tell_records(flow, way);
	else if (how == TELL_PATHS)
		tell_path(flow, way);
	else
		way->count++;
}

/* flow_memo.c */

/**
 * kipt_leave_kernel() - take the end of a way that leads to an address space
 * @flow: the flow
 * @way: the way
 * @to: the address
 *
 * Return: number of the block there, as kipt_number_at().
 */
u32 kipt_leave_kernel(struct kipt_flow *flow, const struct kipt_way *way,
		      u64 to);

/* @last_ip: IP compression behind the way, the last address of its packets if
 * it has any.
 */
static __always_inline void take(struct kipt_flow *flow, struct kipt_fast *fast,
			struct hit hit, u64 last_ip)
{
	u32 to = hit.to;

	apply_stack(flow, hit.way);
	to = to == KIPT_TO_OFF ? fast->off : to;
	if (unlikely(to == KIPT_TO_SPACE))
		to = kipt_leave_kernel(flow, hit.way, last_ip);
	fast->block = to;
	fast->last_ip = last_ip;
	flow->history[flow->history_count++ % KIPT_FLOW_HISTORY].way =
		kipt_way_number(&flow->memo, hit.way);
}

/* flow_hop.c: packet by packet. */

/**
 * kipt_take_time() - a packet that only tells time
 * @flow: the flow
 * @pos: the packet
 *
 * Return: where it ends: where it begins if it is another.
 */
const u8 *kipt_take_time(struct kipt_flow *flow, const u8 *pos);

/**
 * kipt_pass_times() - PADs and packets that only tell time
 * @flow: the flow
 * @fast: goes on behind them
 * @end: none that starts here or behind is passed
 */
void kipt_pass_times(struct kipt_flow *flow, struct kipt_fast *fast, const u8 *end);

/**
 * kipt_find_second() - the way of a packet, or of a window where there was no
 * room first
 * @flow: the flow
 * @window: the packet, or the window
 * @block: number of the block it starts at
 * @last_ip: IP compression there
 *
 * Return: the way, or NULL.
 */
struct hit kipt_find_second(const struct kipt_flow *flow,
			    const struct kipt_window *window, u32 block,
			    u64 last_ip);

/**
 * kipt_take_packet() - take the next packet by its own way, learnt if it is new
 * @flow: the flow
 * @fast: at a short TNT or an IP packet of a window, all of it before @fast->end;
 *	@fast->block is not KIPT_BLOCK_NONE
 * @how: it is told
 *
 * Return: the way, or NULL if the packet is for the slow path.
 */
struct kipt_way *kipt_take_packet(struct kipt_flow *flow, struct kipt_fast *fast,
				  enum tell how);

/**
 * kipt_take_packets() - take packets and time as far as the memo may
 * @flow: the flow
 * @fast: goes on behind them
 * @upto: no packet that starts here or behind is taken
 * @how: they are told
 *
 * Return: false if the next packet is for the slow path, or there is no room for
 * the next block.
 */
bool kipt_take_packets(struct kipt_flow *flow, struct kipt_fast *fast,
		       const u8 *upto, enum tell how);

/* flow_again.c: what was there before. */

/**
 * kipt_take_again() - take windows whose bytes were there before
 * @flow: the flow
 * @fast: @pos before @end, a packet starts there; goes on behind them
 * @how: they are told
 *
 * Return: how many were taken.
 */
u32 kipt_take_again(struct kipt_flow *flow, struct kipt_fast *fast, enum tell how);

/* flow_memo.c */

/**
 * kipt_tell_timed() - tell the records of a window while time passes among them
 * @flow: the flow
 * @way: of the window; KIPT_FLOW_BRANCHES or KIPT_FLOW_CALLS without
 *	KIPT_FLOW_PATHS
 * @pos: its first byte
 * @end: behind its last
 */
void kipt_tell_timed(struct kipt_flow *flow, const struct kipt_way *way,
		     const u8 *pos, const u8 *end);

/**
 * kipt_memo_settle() - put the flow where the memo is
 * @flow: written
 * @fast: where the block is, or where the last TIP led if there was no room for
 *	its block
 */
void kipt_memo_settle(struct kipt_flow *flow, const struct kipt_fast *fast);

#endif /* KIPT_DECODE_FLOW_TAKE_H */
