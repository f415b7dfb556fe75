// SPDX-License-Identifier: GPL-2.0-only
/*
 * The fast path: from packet to packet by paths that are known. Runs where the sink may.
 */
#include "emit.h"
#include "flow_count.h"
#include "flow_step.h"
#include "path_flow.h"

/* How what happens is told. */
enum tell {
	TELL_RECORDS,
	TELL_PATHS,
	TELL_COUNTS,
};

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
	return flow->paths.max && !flow->version && !flow->tnt.count &&
	       !flow->cursor.block && !flow->held_count &&
	       flow->claim == KIPT_CLAIM_NONE &&
	       !(flow->lost | flow->doubtful | flow->event | flow->abort |
		 flow->overflow | flow->echo | flow->share | flow->tsx |
		 flow->mode_pending | flow->at.pip_pending);
}

static void tell_records(struct kipt_flow *flow, const struct kipt_path *path)
{
	const u64 *words = &flow->paths.words[path->told];
	u32 n = (u32)words[0], i;
	const struct kipt_record *from = (const void *)(words + 1);
	struct kipt_record *out;
	u64 insns, tail = words[0] >> 32;

	if (!n) {
		flow->at.insns += tail;
		return;
	}
	insns = flow->at.insns + from->aux;
	out = kipt_emit_room(flow, n);
	for (i = 0; i < n; i++)
		out[i] = from[i];
	out->aux = insns < 0xffffffffU ? (u32)insns : 0xffffffffU;
	flow->at.insns = tail;
}

static void tell_number(struct kipt_flow *flow, const struct kipt_path *path)
{
	if (unlikely(flow->clock.moved && path->told & KIPT_PATH_TELLS))
		kipt_emit_room(flow, 0);
	kipt_emit_path(flow, path->told & ~KIPT_PATH_TELLS);
}

static inline void tell(struct kipt_flow *flow, struct kipt_path *path, enum tell how)
{
	if (how == TELL_RECORDS)
		tell_records(flow, path);
	else if (how == TELL_PATHS)
		tell_number(flow, path);
	else
		path->told++;
}

static inline void pass_pads(struct place *place)
{
	u64 word;

	do {
		word = kipt_load64(place->pos);
		place->pos += word ? (u32)__builtin_ctzll(word) >> 3 : 8;
	} while (!word && place->pos < place->upto);
	if (place->pos > place->upto)
		place->pos = place->upto;
}

/* A packet that only tells time. Returns false if another is there. */
static noinline bool pass_time(struct kipt_flow *flow, struct place *place)
{
	struct kipt_cursor cursor;
	struct kipt_packet packet;

	kipt_cursor_init(&cursor, place->pos,
			 (u64)(flow->cursor.end - place->pos));
	if (kipt_packet_next(&cursor, &packet) != KIPT_OK ||
	    !kipt_packet_is_time(packet.type))
		return false;
	kipt_flow_on_time(flow, &packet);
	place->pos = cursor.pos;
	return true;
}

static bool guards_hold(const struct kipt_return_stack *stack,
			const struct kipt_stack_effect *more)
{
	u32 i;

	if (stack->depth < more->guards)
		return false;
	for (i = 0; i < more->guards; i++) {
		if (*kipt_return_stack_at(stack, i) != more->ips[more->pushes + i])
			return false;
	}
	return true;
}

static void apply_more(struct kipt_return_stack *stack,
		       const struct kipt_stack_effect *more)
{
	s32 depth = (s32)stack->depth + more->net;
	u32 top = stack->top + (u32)(s32)more->net, i;

	stack->top = top;
	for (i = 0; i < more->pushes; i++)
		stack->ip[(top - 1 - i) % KIPT_RETURN_STACK_RING] = more->ips[i];
	depth = depth < more->low ? more->low : depth;
	stack->depth = (u32)(depth > more->high ? more->high : depth);
}

/* The proof, and then the effect on the stack. Returns false if the proof does not hold:
 * nothing was done.
 */
static bool take_stack(struct kipt_flow *flow, u32 effect)
{
	struct kipt_return_stack *stack = &flow->stack;
	u32 argument = effect & KIPT_STACK_ARGUMENT;
	const struct kipt_stack_effect *more;
	u64 ip = 0;

	switch (effect >> KIPT_STACK_SHIFT) {
	case KIPT_STACK_SAME:
		if (stack->depth + argument > KIPT_RETURN_STACK_SIZE)
			stack->depth = KIPT_RETURN_STACK_SIZE - argument;
		return true;
	case KIPT_STACK_PUSH:
		kipt_return_stack_push(stack, flow->blocks.ips[argument]);
		return true;
	case KIPT_STACK_RET:
		return *kipt_return_stack_at(stack, 0) == flow->blocks.ips[argument] &&
		       kipt_return_stack_pop(stack, &ip, true);
	case KIPT_STACK_DROP:
		kipt_return_stack_pop(stack, &ip, false);
		return true;
	case KIPT_STACK_CLEAR:
		kipt_return_stack_clear(stack);
		return true;
	case KIPT_STACK_MORE:
		more = kipt_path_more(&flow->paths, effect);
		if (!guards_hold(stack, more))
			return false;
		apply_more(stack, more);
		return true;
	default:
		return false;
	}
}

/* Looks at the hash's places for a path of a TNT whose proof holds, and takes it as to the
 * stack. Returns its number, or 0.
 */
static inline u32 look(struct kipt_flow *flow, u32 from, u64 hash)
{
	const struct kipt_paths *paths = &flow->paths;
	struct kipt_path_slot *slot = kipt_paths_first(paths, hash);

	for (; slot->number; slot = kipt_paths_next(paths, slot)) {
		if (slot->from == from &&
		    take_stack(flow, paths->at[slot->number].effect))
			return slot->number;
	}
	return 0;
}

/* @returns: such paths need a return address. */
static noinline u32 find_tnt(struct kipt_flow *flow, u32 from, bool returns)
{
	u64 top = *kipt_return_stack_at(&flow->stack, 0);
	u32 number;

	number = returns ? 0 : look(flow, from, kipt_path_hash(from));
	return number ? number : look(flow, from, kipt_path_hash_ip(from, top));
}

/* Is @ip what is meant by a number that @path has? Where the block it comes from belongs to
 * all address spaces, an address of user space is another in each.
 */
static inline bool is_address(const struct kipt_flow *flow, u32 from, u32 number, u64 ip)
{
	const struct kipt_blocks *blocks = &flow->blocks;

	if (blocks->ips[number] != ip)
		return false;
	return likely((s64)ip < 0 || (s64)blocks->ips[from >> 8] >= 0) ||
	       blocks->table[number].space == flow->at.space;
}

static inline bool is_ip_path(const struct kipt_flow *flow, const struct kipt_path *path,
			      u32 from, u64 ip)
{
	if (path->from != from)
		return false;
	if (likely((u8)from != KIPT_PATH_PGD))
		return is_address(flow, from, path->to, ip);
	return is_address(flow, from, path->effect & KIPT_STACK_ARGUMENT, ip);
}

static noinline u32 find_ip(struct kipt_flow *flow, u32 from, u64 ip)
{
	const struct kipt_paths *paths = &flow->paths;
	struct kipt_path_slot *slot = kipt_paths_first(paths, kipt_path_hash_ip(from, ip));

	for (; slot->number; slot = kipt_paths_next(paths, slot)) {
		if (slot->from == from &&
		    is_ip_path(flow, &paths->at[slot->number], from, ip))
			return slot->number;
	}
	return 0;
}

/* Short TNTs in a row. What the loop needs of the flow stands in registers. */
static __always_inline void take_tnts(struct kipt_flow *flow, struct place *place,
				      enum tell how)
{
	const u8 *pos = place->pos, *upto = place->upto;
	struct kipt_path *const at = flow->paths.at;
	const u64 *const ips = flow->blocks.ips;
	struct kipt_return_stack *const stack = &flow->stack;
	u32 history = flow->history_count, from;
	u32 top = stack->top, depth = stack->depth;
	struct kipt_path *path = place->path, *next;
	u32 kind, argument, ret, number, *hint;
	u64 *slot, ip;

	/* Else compilers pack both into one register. */
	OPTIMIZER_HIDE_VAR(depth);
	while (pos < upto && kipt_tnt_is_short(*pos)) {
		hint = &path->next[kipt_path_slot(*pos)];
		number = *hint;
		next = at + number;
		from = path->to << 8 | *pos;
		kind = next->effect >> KIPT_STACK_SHIFT;
		argument = next->effect & KIPT_STACK_ARGUMENT;
		if (unlikely(next->from != from))
			goto search;
		if (kind == KIPT_STACK_SAME) {
			if (likely(depth + argument <= KIPT_RETURN_STACK_SIZE))
				goto taken;
			goto search;
		}
		if (unlikely(kind > KIPT_STACK_RET)) {
			stack->top = top;
			stack->depth = depth;
			if (!take_stack(flow, next->effect))
				goto search;
			top = stack->top;
			depth = stack->depth;
			OPTIMIZER_HIDE_VAR(depth);
			goto taken;
		}
		/* A CALL, or a RET. */
		ret = kind >> 1;
		slot = &stack->ip[(top - ret) % KIPT_RETURN_STACK_RING];
		ip = ips[argument];
		if (likely(!(((*slot ^ ip) & -(u64)ret) | (depth < ret)))) {
			*slot = ip;
			top += 1 - 2 * ret;
			depth += 1 - 2 * ret;
			depth = depth < KIPT_RETURN_STACK_SIZE ? depth :
				KIPT_RETURN_STACK_SIZE;
			goto taken;
		}
search:
		stack->top = top;
		stack->depth = depth;
		number = find_tnt(flow, from, next->from == from && kind);
		if (!number)
			break;
		top = stack->top;
		depth = stack->depth;
		OPTIMIZER_HIDE_VAR(depth);
		*hint = number;
		next = at + number;
taken:
		path = next;
		tell(flow, path, how);
		flow->history[history++ % KIPT_FLOW_HISTORY].path = number;
		pos++;
		if (how != TELL_COUNTS && unlikely(pos >= flow->halt_at))
			break;
	}
	stack->top = top;
	stack->depth = depth;
	flow->history_count = history;
	place->path = path;
	place->pos = pos;
}

/* Returns false if there is no path. */
static inline bool take_ip_packet(struct kipt_flow *flow, struct place *place, u32 size,
				  enum tell how)
{
	u32 opcode = size == 1 ? KIPT_PATH_PGD_NO_IP : *place->pos & KIPT_PATH_OPCODE;
	u32 from = place->path->to << 8 | opcode;
	u64 ip = kipt_last_ip_bytes(place->last_ip, *place->pos >> 5,
				    kipt_load64(place->pos + 1));
	u64 sought = size == 1 ? KIPT_OFF_IP : ip;
	u32 *hint = &place->path->next[kipt_path_slot_ip(sought)];
	u32 number = *hint;

	if (unlikely(size > (u64)(flow->cursor.end - place->pos)))
		return false;
	if (unlikely(!is_ip_path(flow, &flow->paths.at[number], from, sought))) {
		number = find_ip(flow, from, sought);
		if (!number)
			return false;
		*hint = number;
	}
	place->path = &flow->paths.at[number];
	take_stack(flow, place->path->effect);
	tell(flow, place->path, how);
	/* A TIP.PGE passes no block. */
	if (opcode != KIPT_PATH_PGE)
		flow->history[flow->history_count++ % KIPT_FLOW_HISTORY].path = number;
	place->last_ip = ip;
	place->pos += size;
	return true;
}

static __always_inline void run(struct kipt_flow *flow, struct place *place, enum tell how)
{
	u32 size;

	while (place->pos < place->upto && place->pos < flow->halt_at) {
		take_tnts(flow, place, how);
		if (place->pos >= place->upto || kipt_tnt_is_short(*place->pos))
			break;
		size = ip_lens[*place->pos];
		if (!*place->pos)
			pass_pads(place);
		else if (size ? !take_ip_packet(flow, place, size, how) :
			   !pass_time(flow, place))
			break;
	}
}

/* Instructions that no path tells of stand before the next. */
static void tell_untold(struct kipt_flow *flow)
{
	while (flow->at.insns) {
		kipt_emit_paths(flow);
		flow->packed.type = KIPT_RECORD_PATHS;
		flow->packed.flags = flow->at.insns < 0xffff ?
					     (u16)flow->at.insns : 0xffff;
		flow->at.insns -= flow->packed.flags;
	}
}

/* What is full is dropped, what counted for long is told. Returns false if the
 * run halts meanwhile.
 */
static bool make_room(struct kipt_flow *flow)
{
	if (flow->blocks.full || flow->counts.full || flow->paths.full)
		return kipt_flow_renew(flow);
	if (flow->cursor.pos < flow->paths.fold_at)
		return true;
	if (!kipt_count_give(flow))
		return false;
	flow->paths.fold_at = flow->cursor.pos + KIPT_PATHS_FOLD;
	return true;
}

/* Behind something else than a path number 0 stands for it. */
static bool enter(struct kipt_flow *flow, struct place *place)
{
	const u8 *end = flow->data + flow->size - READS;
	struct kipt_paths *paths = &flow->paths;
	u32 block;

	place->pos = flow->cursor.pos;
	place->upto = flow->cursor.end < end ? flow->cursor.end : end;
	place->upto = place->upto < flow->halt_at ? place->upto : flow->halt_at;
	place->upto = place->upto < paths->fold_at ? place->upto : paths->fold_at;
	place->last_ip = flow->last_ip;
	block = kipt_number_at(flow, flow->enabled ? flow->at.ip : KIPT_OFF_IP);
	place->path = &paths->at[paths->last];
	if (place->path->to != block || !paths->last) {
		place->path = &paths->at[0];
		place->path->to = block;
	}
	return block;
}

static void leave(struct kipt_flow *flow, const struct place *place)
{
	u32 block = place->path->to;

	if (place->pos != flow->cursor.pos)
		flow->previous = KIPT_PACKET_TNT;
	flow->cursor.pos = place->pos;
	flow->last_ip = place->last_ip;
	flow->enabled = flow->blocks.ips[block] != KIPT_OFF_IP;
	if (flow->enabled)
		flow->at.ip = flow->blocks.ips[block];
	flow->paths.start = block;
	flow->paths.last = (u32)(place->path - flow->paths.at);
}

static void run_as_told(struct kipt_flow *flow, struct place *place)
{
	if (flow->counts.max)
		run(flow, place, TELL_COUNTS);
	else if (flow->config.output & KIPT_FLOW_PATHS)
		run(flow, place, TELL_PATHS);
	else
		run(flow, place, TELL_RECORDS);
}

bool kipt_path_run(struct kipt_flow *flow)
{
	struct place place;
	const u8 *from;

	do {
		if (!make_room(flow))
			return false;
		flow->paths.start = 0;
		if (flow->size < READS || !enter(flow, &place))
			return true;
		if (flow->config.output & KIPT_FLOW_PATHS)
			tell_untold(flow);
		from = place.pos;
		if (KIPT_PROVES) {
			kipt_prove_begin(flow);
			place.upto = from < place.upto ? from + 1 : from;
		}
		run_as_told(flow, &place);
		leave(flow, &place);
		if (KIPT_PROVES)
			kipt_prove_end(flow);
		if (place.pos >= flow->halt_at)
			return false;
	} while (place.pos >= flow->paths.fold_at || (KIPT_PROVES && place.pos > from));
	return true;
}
