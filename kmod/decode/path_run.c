// SPDX-License-Identifier: GPL-2.0-only
/*
 * The fast path: from packet to packet by paths that are known. Runs where the sink may.
 */
#include "emit.h"
#include "flow_count.h"
#include "flow_step.h"
#include "path_flow.h"

/* Bytes that may be read behind a packet. */
#define READS	16

/* Bytes of a packet with an IP by its first byte; 0: another. */
#define IP_LENS(opcode) \
	[(opcode) | 1 << 5] = 3, [(opcode) | 2 << 5] = 5, \
	[(opcode) | 3 << 5] = 7, [(opcode) | 4 << 5] = 7, \
	[(opcode) | 6 << 5] = 9
static const u8 ip_lens[256] = {
	IP_LENS(KIPT_PATH_TIP), IP_LENS(KIPT_PATH_PGE), IP_LENS(KIPT_PATH_PGD),
	[KIPT_PATH_PGD] = 1,
};

/**
 * struct place - where the fast path is
 * @pos: next byte
 * @upto: no packet that starts here or behind is taken
 * @path: that was taken last
 * @last_ip: IP compression
 */
struct place {
	const u8 *pos;
	const u8 *upto;
	struct kipt_path *path;
	u64 last_ip;
};

bool kipt_path_may_run(const struct kipt_flow *flow)
{
	return flow->paths.max && kipt_flow_nothing_pending(flow);
}

static inline void tell(struct kipt_flow *flow, const struct kipt_path *path)
{
	if (unlikely(flow->clock.moved && path->told & KIPT_PATH_TELLS))
		kipt_emit_room(flow, 0);
	kipt_emit_path(flow, path->told & ~KIPT_PATH_TELLS);
}

/* Is the path for this packet here, and does its proof hold? */
static bool holds(const struct kipt_flow *flow, const struct kipt_path *path, u32 from,
		  u64 ip, bool has_ip)
{
	const struct kipt_return_stack *stack = &flow->walk.stack;
	const u64 *guards;
	u32 n, i;

	if (path->from != from || (has_ip && path->ips[1] != ip))
		return false;
	if (path->shape & KIPT_SHAPE_SPACE &&
	    flow->blocks.table[path->to].space != flow->at.space)
		return false;
	guards = kipt_path_guards(&flow->paths, path, &n);
	if (stack->depth < n)
		return false;
	for (i = 0; i < n; i++) {
		if (*kipt_return_stack_at(stack, i) != guards[i])
			return false;
	}
	return true;
}

static u32 look(struct kipt_flow *flow, u32 from, u64 key, u64 ip, bool has_ip)
{
	const struct kipt_paths *paths = &flow->paths;
	struct kipt_path_slot *slot = kipt_paths_first(paths, kipt_path_hash(paths, from, key));
	u32 alike = 0;

	for (; slot->number && alike < KIPT_PATHS_ALIKE; slot = kipt_paths_next(paths, slot)) {
		if (slot->from != from)
			continue;
		if (holds(flow, &paths->at[slot->number], from, ip, has_ip))
			return slot->number;
		alike++;
	}
	return 0;
}

/* @returns: of a TNT's paths those come first that need a return address. */
static u32 find(struct kipt_flow *flow, u32 from, u64 ip, bool has_ip, bool returns)
{
	u64 top = *kipt_return_stack_at(&flow->walk.stack, 0);
	u32 number;

	if (from & 1)
		return look(flow, from, has_ip ? ip : 0, ip, has_ip);
	__builtin_prefetch(kipt_paths_first(&flow->paths,
					    kipt_path_hash(&flow->paths, from, top)));
	number = look(flow, from, returns ? top : 0, ip, has_ip);
	return number ? number : look(flow, from, returns ? 0 : top, ip, has_ip);
}

/* What a path does to the return stack. */
static void apply(struct kipt_flow *flow, const struct kipt_path *path)
{
	struct kipt_return_stack *stack = &flow->walk.stack;
	s32 depth = (s32)stack->depth + path->net;
	const struct kipt_path_more *more;
	const u64 *pushes;
	u32 n, i;

	pushes = kipt_path_guards(&flow->paths, path, &n) + n;
	n = (path->shape >> 2 & 1) + (path->shape >> 3 & 1);
	if (path->shape & KIPT_SHAPE_MORE) {
		more = kipt_path_more(&flow->paths, path);
		n = more->pushes;
	}
	stack->top += (u32)(s32)path->net;
	for (i = 0; i < n; i++)
		stack->ip[(stack->top - 1 - i) % KIPT_RETURN_STACK_RING] = pushes[i];
	depth = depth < path->low ? path->low : depth;
	stack->depth = (u32)(depth > path->high ? path->high : depth);
}

/* The hint @number is of no use as it is. Returns the number of the path that is taken, as
 * to the stack; 0: none is known.
 */
static noinline u32 take_with_care(struct kipt_flow *flow, u32 number, u32 from, u64 ip,
				   bool has_ip)
{
	const struct kipt_path *path = &flow->paths.at[number];
	u32 guards;

	if (!holds(flow, path, from, ip, has_ip)) {
		kipt_path_guards(&flow->paths, path, &guards);
		number = find(flow, from, ip, has_ip, path->from == from && guards);
	}
	if (number)
		apply(flow, &flow->paths.at[number]);
	return number;
}

/* Not 0 if the return addresses that the path needs are not on the stack, or that takes
 * more than a look. No branches: what is right as a rule differs from path to path.
 */
static __always_inline u64 doubts(const struct kipt_path *path, const u64 *ring, u32 top,
				  u32 depth)
{
	u32 guard = path->shape & KIPT_SHAPE_GUARD;
	u32 guards = path->shape >> 1 & 1;
	u64 first = ring[(top - 1) % KIPT_RETURN_STACK_RING] ^ path->ips[0];
	u64 second = ring[(top - 2) % KIPT_RETURN_STACK_RING] ^ path->ips[1];

	return (first & -(u64)guard) | (second & -(u64)guards) |
	       ((depth - guard - guards) >> 31) | (path->shape & KIPT_SHAPE_CARE);
}

/* Short TNTs in a row. What the loop needs of the flow stands in registers. */
static __always_inline void take_tnts(struct kipt_flow *flow, struct place *place)
{
	struct kipt_path *const at = flow->paths.at;
	struct kipt_return_stack *const stack = &flow->walk.stack;
	const u8 *pos = place->pos, *const upto = place->upto;
	u32 top = stack->top, depth = stack->depth, history = flow->walk.history_count;
	struct kipt_path *path = place->path, *next;
	u32 from, number, *hint;

	while (pos < upto && kipt_tnt_is_short(*pos)) {
		hint = &path->next[(*pos >> 1 ^ *pos >> 4) % KIPT_PATH_NEXT];
		from = path->to << 8 | *pos;
		number = *hint;
		next = at + number;
		if (unlikely(next->from != from))
			goto search;
		if (!next->shape) {
			if (unlikely(depth > next->high))
				goto search;
			goto taken;
		}
		if (unlikely(doubts(next, stack->ip, top, depth)))
			goto search;
		top += (u32)(s32)next->net;
		stack->ip[(top + 1 - 3 * (next->shape >> 3 & 1)) % KIPT_RETURN_STACK_RING] =
			next->ips[1];
		stack->ip[(top - (next->shape >> 2 & 1)) % KIPT_RETURN_STACK_RING] =
			next->ips[next->shape & KIPT_SHAPE_GUARD];
		depth += (u32)(s32)next->net;
		depth = depth > next->high ? next->high : depth;
		goto taken;
search:
		stack->top = top;
		stack->depth = depth;
		number = take_with_care(flow, number, from, 0, false);
		if (!number)
			break;
		top = stack->top;
		depth = stack->depth;
		*hint = number;
		next = at + number;
taken:
		path = next;
		tell(flow, path);
		flow->walk.history[history++ % KIPT_FLOW_HISTORY].path = number;
		pos++;
		if (unlikely(pos >= flow->input.halt_at))
			break;
	}
	stack->top = top;
	stack->depth = depth;
	flow->walk.history_count = history;
	place->path = path;
	place->pos = pos;
}

/* Returns false if there is no path. */
static inline bool take_ip_packet(struct kipt_flow *flow, struct place *place, u32 size)
{
	struct kipt_return_stack *stack = &flow->walk.stack;
	u32 opcode = size == 1 ? KIPT_PATH_PGD_NO_IP : *place->pos & KIPT_PATH_OPCODE;
	u32 from = place->path->to << 8 | opcode;
	u64 ip = kipt_last_ip_bytes(place->last_ip, *place->pos >> 5,
				    kipt_load64(place->pos + 1));
	u32 *hint = &place->path->next[(ip ^ ip >> 3 ^ ip >> 6) % KIPT_PATH_NEXT];
	const struct kipt_path *path = &flow->paths.at[*hint];
	u32 number = *hint;
	s32 depth;

	if (unlikely(size > (u64)(flow->input.cursor.end - place->pos)))
		return false;
	if (likely(path->from == from && (path->ips[1] == ip || size == 1) &&
		   !(path->shape & KIPT_SHAPE_CARE))) {
		stack->top += (u32)(s32)path->net;
		stack->ip[(stack->top - (path->shape >> 2 & 1)) % KIPT_RETURN_STACK_RING] =
			path->ips[0];
		depth = (s32)stack->depth + path->net;
		depth = depth < path->low ? path->low : depth;
		stack->depth = (u32)(depth > path->high ? path->high : depth);
	} else {
		number = take_with_care(flow, number, from, ip, size != 1);
		if (!number)
			return false;
		*hint = number;
	}
	place->path = &flow->paths.at[number];
	tell(flow, place->path);
	/* A TIP.PGE passes no block. */
	if (opcode != KIPT_PATH_PGE)
		flow->walk.history[flow->walk.history_count++ % KIPT_FLOW_HISTORY].path = number;
	place->last_ip = ip;
	place->pos += size;
	return true;
}

static void run(struct kipt_flow *flow, struct place *place)
{
	const u8 *behind;
	u32 size;

	while (place->pos < place->upto && place->pos < flow->input.halt_at) {
		take_tnts(flow, place);
		if (place->pos >= place->upto || kipt_tnt_is_short(*place->pos))
			break;
		size = ip_lens[*place->pos];
		if (size) {
			if (!take_ip_packet(flow, place, size))
				break;
			continue;
		}
		behind = kipt_flow_pass_beside(flow, place->pos, place->upto);
		if (!behind)
			break;
		place->pos = behind;
	}
}

/* Instructions that no path tells of stand before the next. */
static void tell_untold(struct kipt_flow *flow)
{
	while (flow->at.insns) {
		kipt_emit_paths(flow);
		flow->output.packed.type = KIPT_RECORD_PATHS;
		flow->output.packed.flags = flow->at.insns < 0xffff ?
					     (u16)flow->at.insns : 0xffff;
		flow->at.insns -= flow->output.packed.flags;
	}
}

/* Behind something else than a path number 0 stands for it. */
static bool enter(struct kipt_flow *flow, struct place *place)
{
	const u8 *end = flow->input.data + flow->input.size - READS;
	u64 ip = flow->state.enabled ? flow->at.ip : KIPT_OFF_IP;
	struct kipt_paths *paths = &flow->paths;
	u32 block = paths->at[paths->last].to;

	place->pos = flow->input.cursor.pos;
	place->upto = flow->input.cursor.end < end ? flow->input.cursor.end : end;
	place->upto = place->upto < flow->input.halt_at ? place->upto : flow->input.halt_at;
	place->last_ip = flow->input.last_ip;
	place->path = &paths->at[paths->last];
	if (!paths->last || !kipt_block_is(&flow->blocks.table[block],
					   ip >> 63 ? 0 : flow->at.space, ip, flow->at.mode)) {
		block = kipt_number_at(flow, ip);
		place->path = &paths->at[0];
		place->path->to = block;
	}
	return block;
}

static void leave(struct kipt_flow *flow, const struct place *place)
{
	u32 block = place->path->to;

	if (place->pos != flow->input.cursor.pos)
		flow->input.previous = KIPT_PACKET_TNT;
	flow->input.cursor.pos = place->pos;
	flow->input.last_ip = place->last_ip;
	flow->state.enabled = flow->blocks.ips[block] != KIPT_OFF_IP;
	if (flow->state.enabled)
		flow->at.ip = flow->blocks.ips[block];
	flow->paths.start = block;
	flow->paths.last = (u32)(place->path - flow->paths.at);
}

bool kipt_path_run(struct kipt_flow *flow)
{
	struct place place;
	const u8 *from;

	do {
		if ((flow->blocks.full || flow->paths.full) && !kipt_flow_renew(flow))
			return false;
		flow->paths.start = 0;
		if (flow->input.size < READS || !enter(flow, &place))
			return true;
		tell_untold(flow);
		from = place.pos;
		if (KIPT_PROVES) {
			kipt_prove_begin(flow);
			place.upto = from < place.upto ? from + 1 : from;
		}
		run(flow, &place);
		leave(flow, &place);
		if (KIPT_PROVES)
			kipt_prove_end(flow);
		if (place.pos >= flow->input.halt_at)
			return false;
	} while (KIPT_PROVES && place.pos > from);
	return true;
}
