// SPDX-License-Identifier: GPL-2.0-only
/*
 * The fast path: windows of trace bytes looked up in the memo. What it does not
 * know is flow_learn.c's, and what cannot be remembered is left to the slow
 * path. Runs where the callbacks may.
 */
#include "flow_state.h"
#include "window.h"

/* Windows are read ahead, so that the memory of the memo is on its way when the
 * flow gets there.
 */
#define AHEAD		16

/**
 * struct ahead - a window that was read ahead
 * @window: its @tag lacks the block
 * @hash: kipt_memo_hash()
 * @begin: where it starts
 * @end: where it ends
 * @last_ip: IP compression behind it
 * @timed: there are packets in it that only tell time
 */
struct ahead {
	struct kipt_window window;
	u32 hash;
	bool timed;
	const u8 *begin;
	const u8 *end;
	u64 last_ip;
};

/**
 * struct fast - the flow's state while the memo runs
 * @pos: next byte
 * @end: windows end before it
 * @block: number of the block execution is at, or of "off"
 * @off: number of "off" in this space
 * @last_ip: IP compression
 * @before: IP of the packet right before the next window, or 0
 * @times: packets of the window at hand that only tell time
 * @count: of @ahead
 * @ahead: windows from @pos on
 */
struct fast {
	const u8 *pos;
	const u8 *end;
	u32 block;
	u32 off;
	u64 last_ip;
	u64 before;
	struct kipt_times times;
	u32 count;
	struct ahead ahead[AHEAD];
};

/* How what happens is told. */
enum tell {
	TELL_RECORDS,
	TELL_PATHS,
	TELL_COUNTS,
};

static bool more_guards(const struct kipt_flow *flow,
			const struct kipt_memo_entry *entry)
{
	const struct kipt_tape *tape = kipt_tape_at(&flow->memo, entry->tape);
	const u64 *guards = kipt_tape_pushes(tape) + entry->pushes;
	u32 i;

	for (i = KIPT_MEMO_GUARDS; i < entry->guards; i++) {
		if (*kipt_return_stack_at(&flow->stack, i) !=
		    guards[i - KIPT_MEMO_GUARDS])
			return false;
	}
	return true;
}

/* Without branches on how many there are: that follows no pattern. */
static inline bool guards_hold(const struct kipt_flow *flow,
			       const struct kipt_memo_entry *entry)
{
	const struct kipt_return_stack *stack = &flow->stack;
	u64 first = *kipt_return_stack_at(stack, 0) ^ entry->guard[0];
	u64 second = *kipt_return_stack_at(stack, 1) ^ entry->guard[1];
	u32 guards = entry->guards;

	first &= -(u64)(guards > 0);
	second &= -(u64)(guards > 1);
	if (first | second | (stack->depth < guards))
		return false;
	return likely(guards <= KIPT_MEMO_GUARDS) || more_guards(flow, entry);
}

static inline struct kipt_memo_entry *
find_in(const struct kipt_flow *flow, u32 hash,
	const struct kipt_window *window)
{
	struct kipt_memo_entry *entry = kipt_memo_pair(&flow->memo, hash);

	if (likely(kipt_memo_is(entry, window) && guards_hold(flow, entry)))
		return entry;
	entry++;
	if (kipt_memo_is(entry, window) && guards_hold(flow, entry))
		return entry;
	return NULL;
}

/* Where there was no room first: ways that use return addresses stand by the
 * youngest of them.
 */
static struct kipt_memo_entry *find_second(const struct kipt_flow *flow,
					   u32 hash,
					   const struct kipt_window *window)
{
	const struct kipt_return_stack *stack = &flow->stack;
	struct kipt_memo_entry *entry;
	u64 top = *kipt_return_stack_at(stack, 0);

	entry = find_in(flow, kipt_memo_second(hash, window->tag, 0), window);
	if (entry || !stack->depth)
		return entry;
	return find_in(flow, kipt_memo_second(hash, window->tag, top), window);
}

/* The first two pushes are written whether they are made or not, if not to
 * where nothing is.
 */
static inline void apply_stack(struct kipt_flow *flow,
			       const struct kipt_memo_entry *entry)
{
	struct kipt_return_stack *stack = &flow->stack;
	const u64 *pushes =
		kipt_tape_pushes(kipt_tape_at(&flow->memo, entry->tape));
	s32 depth = (s32)stack->depth + entry->net;
	u32 top = stack->top + (u32)entry->net, i;

	stack->top = top;
	stack->ip[(entry->pushes > 0 ? top - 1 : top) %
		  KIPT_RETURN_STACK_RING] = pushes[0];
	stack->ip[(entry->pushes > 1 ? top - 2 : top) %
		  KIPT_RETURN_STACK_RING] = pushes[1];
	for (i = 2; unlikely(i < entry->pushes); i++)
		stack->ip[(top - 1 - i) % KIPT_RETURN_STACK_RING] = pushes[i];
	depth = depth < entry->low ? entry->low : depth;
	stack->depth = (u32)(depth > entry->high ? entry->high : depth);
}

static void take_time(struct kipt_flow *flow, const u8 *pos)
{
	struct kipt_cursor cursor;
	struct kipt_packet packet;

	kipt_cursor_init(&cursor, pos, (u64)(flow->cursor.end - pos));
	if (kipt_packet_next(&cursor, &packet) == KIPT_OK)
		kipt_flow_on_time(flow, &packet);
}

/* @n records from @from on; for the first of a way instructions from before
 * count too.
 */
static inline void tell_some(struct kipt_flow *flow,
			     const struct kipt_record *from, u32 n, bool first)
{
	struct kipt_record *out;
	u64 insns;
	u32 i;

	if (!n)
		return;
	out = kipt_emit_room(flow, n);
	for (i = 0; i < n; i++)
		out[i] = from[i];
	if (first) {
		insns = flow->at.insns + out->aux;
		out->aux = insns < 0xffffffffU ? (u32)insns : 0xffffffffU;
	}
}

/* How many parts stand before a place in the key: PADs are none. */
static u32 parts_before(u64 key, u32 behind)
{
	u32 parts = 0, i;

	for (i = 0; i < behind; i++)
		parts += (key >> 8 * i & 0xff) != 0;
	return parts;
}

/* Time passes among the records of a window. Returns how many are told. */
static u32 tell_until_last_time(struct kipt_flow *flow,
				const struct kipt_memo_entry *entry,
				const struct kipt_times *times)
{
	const struct kipt_tape *tape = kipt_tape_at(&flow->memo, entry->tape);
	const struct kipt_record *records = kipt_tape_records(tape);
	u32 told = 0, end, parts, i;

	for (i = 0; i < times->count; i++) {
		parts = parts_before(entry->key, times->at[i].behind);
		end = parts ? kipt_tape_upto(tape)[parts - 1] : 0;
		tell_some(flow, records + told, end - told, !told);
		told = end;
		take_time(flow, times->at[i].pos);
	}
	return told;
}

static inline void tell_records(struct kipt_flow *flow,
				const struct kipt_memo_entry *entry, u32 told)
{
	if (!entry->records) {
		flow->at.insns += entry->tail;
		return;
	}
	tell_some(flow, kipt_tape_records(kipt_tape_at(&flow->memo,
						       entry->tape)) + told,
		  entry->records - told, !told);
	flow->at.insns = entry->tail;
}

static inline void tell_path(struct kipt_flow *flow,
			     const struct kipt_memo_entry *entry)
{
	if (unlikely(flow->clock.moved && entry->records))
		kipt_emit_room(flow, 0);
	flow->paths.type = KIPT_RECORD_PATHS;
	((u32 *)(void *)&flow->paths)[1 + flow->nr_paths++] = entry->count;
	if (flow->nr_paths == KIPT_RECORD_PATHS_MAX)
		kipt_emit_paths(flow);
}

static inline void tell(struct kipt_flow *flow, struct kipt_memo_entry *entry,
			u32 told, enum tell how)
{
	if (how == TELL_RECORDS)
		tell_records(flow, entry, told);
	else if (how == TELL_PATHS)
		tell_path(flow, entry);
	else
		entry->count++;
}

static inline void go(struct kipt_flow *flow, struct fast *fast,
		      const struct kipt_memo_entry *entry)
{
	u32 to = entry->to;

	to = to == KIPT_TO_OFF ? fast->off : to;
	if (unlikely(to == KIPT_TO_SPACE))
		to = kipt_number_at(flow, entry->target);
	fast->block = to;
	flow->history[flow->history_count++ % KIPT_FLOW_HISTORY].tape =
		entry->tape;
}

/* @told: of its records */
static inline void take(struct kipt_flow *flow, struct fast *fast,
			struct kipt_memo_entry *entry, u32 told, enum tell how)
{
	apply_stack(flow, entry);
	tell(flow, entry, told, how);
	go(flow, fast, entry);
}

static void enter(struct kipt_flow *flow, struct fast *fast)
{
	const u8 *data_end = flow->data + flow->size;
	const u8 *end = flow->cursor.end;

	if (data_end - end < KIPT_WINDOW_READS)
		end = flow->size > KIPT_WINDOW_READS ?
		      data_end - KIPT_WINDOW_READS : flow->cursor.pos;
	fast->pos = flow->cursor.pos;
	fast->end = end;
	fast->last_ip = flow->last_ip;
	fast->before = 0;
	fast->times.tnts = KIPT_MEMO_TNTS;
	fast->off = kipt_number_at(flow, KIPT_OFF_IP);
	fast->block = flow->enabled ? kipt_number_at(flow, flow->at.ip) :
				      fast->off;
}

/* The flow is where the block is, or where the last TIP led if there was no
 * room for its block.
 */
static void settle(struct kipt_flow *flow, const struct fast *fast)
{
	flow->cursor.pos = fast->pos;
	flow->last_ip = fast->last_ip;
	flow->enabled = fast->block != fast->off;
	if (fast->block == KIPT_BLOCK_NONE)
		flow->at.ip = fast->last_ip;
	else if (flow->enabled)
		flow->at.ip = flow->blocks.table[fast->block].ip;
}

/* A packet of a window that only tells time, or a PAD. */
static const u8 *pass_packet(struct kipt_flow *flow, const struct fast *fast)
{
	struct kipt_cursor cursor;
	struct kipt_packet packet;

	kipt_cursor_init(&cursor, fast->pos, (u64)(flow->cursor.end -
						   fast->pos));
	if (kipt_packet_next(&cursor, &packet) == KIPT_OK &&
	    kipt_packet_is_time(packet.type))
		kipt_flow_on_time(flow, &packet);
	else
		cursor.pos = fast->pos;
	return cursor.pos;
}

/* Takes the way of a single packet, learnt if it is new. */
static bool take_packet(struct kipt_flow *flow, struct fast *fast,
			struct kipt_window *window, enum tell how)
{
	struct kipt_memo_entry *entry;
	u32 hash = kipt_memo_hash(window, 0);

	window->tag |= fast->block | KIPT_TAG_PACKET;
	entry = find_second(flow, hash, window);
	if (!entry) {
		settle(flow, fast);
		entry = kipt_learn_packet(flow, window, hash);
	}
	if (!entry)
		return false;
	kipt_learn_add(flow, entry);
	take(flow, fast, entry, 0, how);
	return true;
}

/* Takes a new window packet by packet and remembers it as a whole. Returns
 * false at a packet that is for the slow path, or where there is no room for
 * the next block.
 */
static bool take_new(struct kipt_flow *flow, struct fast *fast,
		     const struct ahead *ahead, enum tell how)
{
	u64 top = *kipt_return_stack_at(&flow->stack, 0);
	u32 second = kipt_memo_second(ahead->hash, ahead->window.tag, top);
	struct kipt_window one;
	u64 last_ip;
	const u8 *next;

	kipt_learn_begin(flow);
	while (fast->pos < ahead->end && fast->block != KIPT_BLOCK_NONE) {
		if (!*fast->pos ||
		    kipt_window_lens[*fast->pos] == KIPT_WINDOW_TIMES) {
			fast->pos = pass_packet(flow, fast);
			continue;
		}
		last_ip = fast->last_ip;
		next = kipt_window_packet(&one, fast->pos, &last_ip);
		if (!take_packet(flow, fast, &one, how)) {
			flow->slow_until = next;
			return false;
		}
		fast->pos = next;
		fast->last_ip = last_ip;
	}
	if (fast->pos == ahead->end && kipt_memo_worthy(&flow->memo, second))
		kipt_learn_end(flow, &ahead->window, ahead->hash);
	return fast->block != KIPT_BLOCK_NONE;
}

/* Reads windows ahead, up to a packet that is in none; PADs are passed. */
static inline void read_ahead(struct kipt_flow *flow, struct fast *fast)
{
	const u8 *pos = fast->pos, *end;
	u64 last_ip = fast->last_ip;
	struct ahead *ahead;

	fast->count = 0;
	while (pos < fast->end && fast->count < AHEAD) {
		if (unlikely(!*pos)) {
			pos = kipt_window_pads(pos);
			continue;
		}
		ahead = &fast->ahead[fast->count];
		end = kipt_window_read(&ahead->window, pos, fast->end, &last_ip,
				       &fast->times);
		if (end == pos || end > fast->end)
			break;
		ahead->begin = pos;
		pos = end;
		ahead->hash = kipt_memo_hash(&ahead->window, fast->before);
		__builtin_prefetch(kipt_memo_pair(&flow->memo, ahead->hash), 1);
		ahead->end = end;
		ahead->last_ip = last_ip;
		ahead->timed = fast->times.count;
		fast->before = ahead->window.target;
		fast->count++;
	}
}

static u32 tell_timed(struct kipt_flow *flow, struct fast *fast,
		      const struct ahead *ahead,
		      const struct kipt_memo_entry *entry)
{
	u64 last_ip = fast->last_ip;
	struct kipt_window window;

	kipt_window_read(&window, ahead->begin, fast->end, &last_ip,
			 &fast->times);
	return tell_until_last_time(flow, entry, &fast->times);
}

/* Returns false as take_new(). */
static inline bool take_ahead(struct kipt_flow *flow, struct fast *fast,
			      struct ahead *ahead, enum tell how)
{
	struct kipt_window *window = &ahead->window;
	struct kipt_memo_entry *entry;
	u32 told = 0;

	window->tag |= fast->block;
	entry = find_in(flow, ahead->hash, window);
	if (unlikely(!entry)) {
		entry = find_second(flow, ahead->hash, window);
		if (!entry)
			return take_new(flow, fast, ahead, how);
	}
	if (how == TELL_RECORDS && unlikely(ahead->timed))
		told = tell_timed(flow, fast, ahead, entry);
	fast->pos = ahead->end;
	fast->last_ip = ahead->last_ip;
	take(flow, fast, entry, told, how);
	return fast->block != KIPT_BLOCK_NONE;
}

/* Only PADs and time. */
static void pass_window(struct kipt_flow *flow, struct fast *fast,
			const u8 *end)
{
	while (fast->pos < end)
		fast->pos = *fast->pos ? pass_packet(flow, fast) :
					 fast->pos + 1;
}

static inline void run(struct kipt_flow *flow, struct fast *fast, enum tell how)
{
	struct ahead *ahead;
	const u8 *pos;
	u32 i;

	while (!flow->stopped) {
		read_ahead(flow, fast);
		if (unlikely(!fast->count)) {
			pos = fast->pos;
			while (fast->pos < fast->end && !*fast->pos)
				fast->pos++;
			if (fast->pos < fast->end)
				fast->pos = pass_packet(flow, fast);
			if (pos == fast->pos)
				return;
			fast->before = 0;
		}
		for (i = 0; i < fast->count; i++) {
			ahead = &fast->ahead[i];
			if (unlikely(!ahead->window.key && !ahead->window.tag))
				pass_window(flow, fast, ahead->end);
			else if (!take_ahead(flow, fast, ahead, how))
				return;
		}
	}
}

/* Instructions that no path tells of stand before the next. */
static void tell_untold(struct kipt_flow *flow)
{
	while (flow->at.insns) {
		kipt_emit_paths(flow);
		flow->paths.type = KIPT_RECORD_PATHS;
		flow->paths.flags = flow->at.insns < 0xffff ?
					    (u16)flow->at.insns : 0xffff;
		flow->at.insns -= flow->paths.flags;
	}
}

bool kipt_memo_may_run(const struct kipt_flow *flow)
{
	return flow->memo.max && flow->cursor.pos >= flow->slow_until &&
	       !flow->version && !flow->tnt.count && !flow->cursor.block &&
	       !flow->held_count && flow->lost == KIPT_LOST_NOT &&
	       flow->claim == KIPT_CLAIM_NONE &&
	       !(flow->event | flow->abort | flow->overflow | flow->echo |
		 flow->share | flow->tsx | flow->mode_pending |
		 flow->at.pip_pending);
}

void kipt_memo_run(struct kipt_flow *flow)
{
	struct fast fast;
	const u8 *start;

	if (flow->blocks.full || flow->memo.full || flow->counts.full)
		kipt_flow_renew(flow);
	enter(flow, &fast);
	start = fast.pos;
	if (fast.block == KIPT_BLOCK_NONE ||
	    fast.off == KIPT_BLOCK_NONE)
		return;
	fast.times.max = KIPT_MEMO_TIMES;
	if (flow->counts.max) {
		run(flow, &fast, TELL_COUNTS);
	} else if (flow->config.output & KIPT_FLOW_PATHS) {
		tell_untold(flow);
		/* Time cannot pass inside a path. */
		if (flow->config.output & KIPT_FLOW_TIME)
			fast.times.max = 0;
		run(flow, &fast, TELL_PATHS);
	} else {
		run(flow, &fast, TELL_RECORDS);
	}
	settle(flow, &fast);
	if (fast.pos != start)
		flow->previous = KIPT_PACKET_TNT;
}
