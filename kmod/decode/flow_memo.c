// SPDX-License-Identifier: GPL-2.0-only
/*
 * The fast path: windows of trace bytes looked up in the memo. What it does not
 * know is flow_learn.c's, and what cannot be remembered is left to the slow
 * path. Runs where the callbacks may.
 */
#include "flow_state.h"
#include "window.h"

/* Bytes after which what ways counted is folded. Tests make it small. */
#ifndef KIPT_MEMO_FOLD
#define KIPT_MEMO_FOLD	(1ULL << 31)
#endif

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

/**
 * struct fast - the flow's state while the memo runs
 * @pos: next byte
 * @end: no window reaches beyond
 * @block: number of the block execution is at, or of "off"
 * @off: number of "off" in this space
 * @last_ip: IP compression
 * @cut: where windows of each size end
 * @count: windows of each size in flow->ahead, from @pos on
 */
struct fast {
	const u8 *pos;
	const u8 *end;
	u32 block;
	u32 off;
	u64 last_ip;
	struct kipt_cut cut[KIPT_SIZES];
	u32 count[KIPT_SIZES];
};

static u32 least(u32 a, u32 b)
{
	return a < b ? a : b;
}

static bool more_guards(const struct kipt_flow *flow, const struct kipt_way *way)
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

static struct hit find_in(const struct kipt_flow *flow, u32 hash,
			  const struct kipt_window *window, u32 block)
{
	const struct kipt_bucket *bucket = kipt_memo_bucket(&flow->memo, hash);
	struct hit hit = { NULL, 0 };
	u32 match, place;

	match = kipt_bucket_match(bucket, kipt_memo_key(hash, block), ~0U);
	for (; match; match &= match - 1) {
		place = (u32)__builtin_ctz(match);
		hit.way = kipt_way_at(&flow->memo, bucket->way[place]);
		hit.to = bucket->to[place];
		if (likely(kipt_way_is(hit.way, window, block) &&
			   guards_hold(flow, hit.way) && bucket->way[place]))
			return hit;
	}
	hit.way = NULL;
	return hit;
}

/* Where there was no room first: ways that use return addresses stand by the
 * youngest of them.
 */
static struct hit find_second(const struct kipt_flow *flow,
			      const struct kipt_window *window, u32 block)
{
	const struct kipt_return_stack *stack = &flow->stack;
	u64 top = *kipt_return_stack_at(stack, 0);
	struct hit hit;

	hit = find_in(flow, kipt_memo_second(window->hash, block, 0), window,
		      block);
	if (hit.way || !stack->depth)
		return hit;
	return find_in(flow, kipt_memo_second(window->hash, block, top), window,
		       block);
}

static inline struct hit find(const struct kipt_flow *flow,
			      const struct kipt_window *window, u32 block)
{
	struct hit hit = find_in(flow, window->hash, window, block);

	return likely(hit.way) ? hit : find_second(flow, window, block);
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
	stack->ip[(way->pushes > 0 ? top - 1 : top) % KIPT_RETURN_STACK_RING] =
		pushes[0];
	stack->ip[(way->pushes > 1 ? top - 2 : top) % KIPT_RETURN_STACK_RING] =
		pushes[1];
	for (i = 2; unlikely(i < way->pushes); i++)
		stack->ip[(top - 1 - i) % KIPT_RETURN_STACK_RING] = pushes[i];
	depth = depth < way->low ? way->low : depth;
	stack->depth = (u32)(depth > way->high ? way->high : depth);
}

/* A packet that only tells time. Returns where it ends: where it begins if it
 * is another.
 */
static const u8 *take_time(struct kipt_flow *flow, const u8 *pos)
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

/* All records of a packet or a small window that are not @told. */
static inline void tell_part(struct kipt_flow *flow, const struct kipt_way *way,
			     u32 told)
{
	if (!way->records) {
		flow->at.insns += way->tail;
		return;
	}
	tell_some(flow, kipt_way_records(way) + told, way->records - told,
		  !told);
	flow->at.insns = way->tail;
}

static inline void tell_records(struct kipt_flow *flow,
				const struct kipt_way *way)
{
	u32 i;

	if (way->keeps) {
		tell_part(flow, way, 0);
		return;
	}
	for (i = 0; i < way->listed; i++)
		tell_part(flow, kipt_way_part(&flow->memo, way, i), 0);
}

/**
 * struct teller - tells of a window while time passes in it
 * @way: of the window
 * @next: its part that is next
 * @told: records of that part that are told
 * @packets: how many are in the parts before
 */
struct teller {
	const struct kipt_way *way;
	u32 next;
	u32 told;
	u32 packets;
};

static const struct kipt_way *teller_part(const struct kipt_flow *flow,
					  const struct teller *teller)
{
	const struct kipt_way *way = teller->way;

	if (way->kind != KIPT_WAY_LARGE)
		return teller->next ? NULL : way;
	return teller->next < way->listed ?
		       kipt_way_part(&flow->memo, way, teller->next) : NULL;
}

/* How many records of a part come up to the end of its first @packets. */
static u32 records_upto(const struct kipt_flow *flow,
			const struct kipt_way *part, u32 packets)
{
	u32 records = 0, i;

	if (part->kind == KIPT_WAY_PACKET)
		return packets ? part->records : 0;
	for (i = 0; i < packets; i++)
		records += kipt_way_part(&flow->memo, part, i)->records;
	return records;
}

/* Tells of the first @packets of the window, as far as is not told. */
static void teller_tell(struct kipt_flow *flow, struct teller *teller,
			u32 packets)
{
	const struct kipt_way *part = teller_part(flow, teller);
	u32 in, upto;

	while (part) {
		in = part->kind == KIPT_WAY_PACKET ? 1 : part->listed;
		if (teller->packets + in > packets)
			break;
		tell_part(flow, part, teller->told);
		teller->told = 0;
		teller->packets += in;
		teller->next++;
		part = teller_part(flow, teller);
	}
	if (!part)
		return;
	upto = records_upto(flow, part, packets - teller->packets);
	tell_some(flow, kipt_way_records(part) + teller->told,
		  upto - teller->told, !teller->told);
	teller->told = upto;
}

/* Time passes among the records of a window. */
static void tell_timed(struct kipt_flow *flow, const struct kipt_ahead *ahead,
		       const struct kipt_way *way)
{
	struct teller teller = { .way = way };
	const u8 *pos = ahead->begin;
	u32 packets = 0, size;

	while (pos < ahead->end) {
		size = kipt_window_lens[*pos];
		if (!*pos) {
			pos++;
		} else if (size == KIPT_WINDOW_TIMES) {
			teller_tell(flow, &teller, packets);
			pos = take_time(flow, pos);
		} else {
			packets++;
			pos += size ? size : 1;
		}
	}
	teller_tell(flow, &teller, packets);
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

/* @last_ip: IP compression behind the way, the last address of its packets if
 * it has any.
 */
static inline void take(struct kipt_flow *flow, struct fast *fast,
			struct hit hit, u64 last_ip)
{
	u32 to = hit.to;

	apply_stack(flow, hit.way);
	to = to == KIPT_TO_OFF ? fast->off : to;
	if (unlikely(to == KIPT_TO_SPACE))
		to = kipt_number_at(flow, last_ip);
	fast->block = to;
	fast->last_ip = last_ip;
	flow->history[flow->history_count++ % KIPT_FLOW_HISTORY].way =
		kipt_way_number(&flow->memo, hit.way);
}

static void set_cuts(struct fast *fast, bool over_times)
{
	fast->cut[KIPT_SMALL] = (struct kipt_cut){
		.bytes = 5, .ends = 0, .over_times = over_times,
	};
	fast->cut[KIPT_LARGE] = (struct kipt_cut){
		.bytes = KIPT_WINDOW_BYTES, .ends = 7, .over_times = over_times,
	};
}

static void enter(struct kipt_flow *flow, struct fast *fast)
{
	const u8 *data_end = flow->data + flow->size;
	const u8 *end = flow->cursor.end;

	if (data_end - end < KIPT_WINDOW_READS)
		end = flow->size > KIPT_WINDOW_READS ?
		      data_end - KIPT_WINDOW_READS : flow->cursor.pos;
	if (end - flow->cursor.pos > (s64)KIPT_MEMO_FOLD)
		end = flow->cursor.pos + KIPT_MEMO_FOLD;
	fast->pos = flow->cursor.pos;
	fast->end = end;
	fast->last_ip = flow->last_ip;
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

static inline void fetch_way(const struct kipt_flow *flow, u32 way)
{
	const u8 *at = (const u8 *)&flow->memo.words[way];

	__builtin_prefetch(at, 1);
	__builtin_prefetch(at + 64);
}

/* Brings what the look-ups will need near, now that the table is. Which block
 * it will be is not known: some of the ways may be it.
 */
static void fetch(const struct kipt_flow *flow, const struct kipt_ahead *ahead,
		  u32 count)
{
	const struct kipt_bucket *bucket;
	u32 hash, match, i;

	for (i = 0; i < count; i++) {
		hash = ahead[i].window.hash;
		bucket = kipt_memo_bucket(&flow->memo, hash);
		match = kipt_bucket_match(bucket, hash, 0xffff0000U);
		if (!match)
			continue;
		fetch_way(flow, bucket->way[__builtin_ctz(match)]);
		match &= match - 1;
		if (match)
			fetch_way(flow, bucket->way[__builtin_ctz(match)]);
	}
}

/* Reads windows ahead, up to @end or a packet that is in none. */
static void read_ahead(struct kipt_flow *flow, struct fast *fast,
		       enum kipt_size size, const u8 *end)
{
	const u8 *pos = fast->pos, *next, *bucket;
	u64 last_ip = fast->last_ip;
	struct kipt_ahead *ahead = flow->ahead[size];
	u32 count = 0;

	while (pos < end && count < KIPT_AHEAD) {
		next = kipt_window_read(&ahead->window, pos, end, &last_ip,
					&fast->cut[size], &ahead->timed);
		if (next == pos)
			break;
		ahead->begin = pos;
		ahead->end = next;
		ahead->last_ip = last_ip;
		bucket = (const u8 *)kipt_memo_bucket(&flow->memo,
						      ahead->window.hash);
		__builtin_prefetch(bucket);
		__builtin_prefetch(bucket + 64);
		pos = next;
		ahead++;
		count++;
	}
	fast->count[size] = count;
	fetch(flow, flow->ahead[size], count);
}

/* Only PADs and time. */
static void pass_times(struct kipt_flow *flow, struct fast *fast, const u8 *end)
{
	const u8 *pos = NULL;

	while (fast->pos < end && fast->pos != pos) {
		pos = fast->pos;
		fast->pos = *pos ? take_time(flow, pos) : pos + 1;
	}
}

/* Takes a window whose way is known. */
static inline void take_known(struct kipt_flow *flow, struct fast *fast,
			      const struct kipt_ahead *ahead,
			      struct hit hit, enum tell how)
{
	if (how == TELL_RECORDS && unlikely(ahead->timed))
		tell_timed(flow, ahead, hit.way);
	else
		tell(flow, hit.way, how);
	take(flow, fast, hit, ahead->last_ip);
	fast->pos = ahead->end;
}

/* Takes the next packet by its own way, learnt if it is new. Returns NULL if it
 * is for the slow path.
 */
static struct kipt_way *take_packet(struct kipt_flow *flow, struct fast *fast,
				    enum tell how)
{
	u64 last_ip = fast->last_ip;
	struct kipt_window window;
	const u8 *next;
	struct hit hit;

	next = kipt_window_packet(&window, fast->pos, &last_ip);
	hit = find_second(flow, &window, fast->block);
	if (!hit.way) {
		settle(flow, fast);
		hit.way = kipt_learn_packet(flow, &window, fast->block);
		if (!hit.way) {
			flow->slow_until = next;
			return NULL;
		}
		hit.to = hit.way->to;
	}
	tell(flow, hit.way, how);
	take(flow, fast, hit, last_ip);
	fast->pos = next;
	return hit.way;
}

/* Is a window that is not known to be learnt? @must: in any case. */
static bool begin_learning(struct kipt_flow *flow, const struct fast *fast,
			   const struct kipt_ahead *ahead, enum kipt_size size, bool must)
{
	u64 top = flow->stack.depth ?
		  *kipt_return_stack_at(&flow->stack, 0) : 0;
	bool worthy = kipt_memo_worthy(&flow->memo,
				       kipt_memo_second(ahead->window.hash,
							fast->block, top));

	if (worthy || must)
		kipt_learn_begin(flow, &flow->joined[size], fast->block);
	return worthy || must;
}

/* Takes a small window packet by packet. Returns false at a packet that is for
 * the slow path, or where there is no room for the next block.
 */
static bool take_packets(struct kipt_flow *flow, struct fast *fast,
			 const struct kipt_ahead *ahead, struct kipt_way **last,
			 bool learn, enum tell how)
{
	while (fast->pos < ahead->end) {
		if (kipt_window_lens[*fast->pos] == KIPT_WINDOW_TIMES) {
			pass_times(flow, fast, fast->pos + 1);
			continue;
		}
		if (fast->block == KIPT_BLOCK_NONE)
			return false;
		*last = take_packet(flow, fast, how);
		if (!*last)
			return false;
		if (learn)
			kipt_learn_add(flow, &flow->joined[KIPT_SMALL], *last);
	}
	return true;
}

/* Takes a new small window and learns it, if @inside a large one that is learnt
 * in any case. Returns false as take_packets().
 */
static bool take_new(struct kipt_flow *flow, struct fast *fast,
		     const struct kipt_ahead *ahead, bool inside, enum tell how)
{
	bool learn = begin_learning(flow, fast, ahead, KIPT_SMALL, inside);
	struct kipt_recorder *small = &flow->joined[KIPT_SMALL];
	struct kipt_recorder *large = &flow->joined[KIPT_LARGE];
	struct kipt_way *way = NULL;

	if (!take_packets(flow, fast, ahead, &way, learn, how))
		return false;
	if (!learn)
		return true;
	if (small->bad)
		way = NULL;
	else if (small->nr_steps > 1)
		way = kipt_learn_end(flow, small, &ahead->window);
	if (inside && way)
		kipt_learn_add(flow, large, way);
	large->bad |= !way;
	return true;
}

/* As take_packets(); @inside a large window that is to be learnt. */
static inline bool take_small(struct kipt_flow *flow, struct fast *fast,
			      const struct kipt_ahead *ahead, bool inside,
			      enum tell how)
{
	struct hit hit;

	if (unlikely(!ahead->window.len)) {
		pass_times(flow, fast, ahead->end);
		return true;
	}
	if (unlikely(fast->block == KIPT_BLOCK_NONE))
		return false;
	hit = find(flow, &ahead->window, fast->block);
	if (unlikely(!hit.way))
		return take_new(flow, fast, ahead, inside, how);
	if (inside)
		kipt_learn_add(flow, &flow->joined[KIPT_LARGE],
			       hit.way);
	take_known(flow, fast, ahead, hit, how);
	return true;
}

/* Takes a large window by small ones, and learns it unless one of those is all
 * of it. Returns false as take_packets().
 */
static bool take_smalls(struct kipt_flow *flow, struct fast *fast,
			const struct kipt_ahead *ahead, enum tell how)
{
	bool learn = begin_learning(flow, fast, ahead, KIPT_LARGE, false);
	u32 i;

	while (fast->pos < ahead->end) {
		read_ahead(flow, fast, KIPT_SMALL, ahead->end);
		if (!fast->count[KIPT_SMALL])
			return false;
		for (i = 0; i < fast->count[KIPT_SMALL]; i++) {
			if (!take_small(flow, fast, &flow->ahead[KIPT_SMALL][i],
					learn, how))
				return false;
		}
	}
	if (learn && flow->joined[KIPT_LARGE].nr_steps > 1)
		kipt_learn_end(flow, &flow->joined[KIPT_LARGE], &ahead->window);
	return true;
}

/* Returns false as take_packets(). */
static inline bool take_large(struct kipt_flow *flow, struct fast *fast,
			      const struct kipt_ahead *ahead, enum tell how)
{
	struct hit hit;

	if (unlikely(!ahead->window.len)) {
		pass_times(flow, fast, ahead->end);
		return true;
	}
	if (unlikely(fast->block == KIPT_BLOCK_NONE))
		return false;
	hit = find(flow, &ahead->window, fast->block);
	flow->memo.known += hit.way != NULL;
	if (unlikely(!hit.way))
		return take_smalls(flow, fast, ahead, how);
	take_known(flow, fast, ahead, hit, how);
	return true;
}

/* Large windows are worth the look-up if every other one comes again. If not,
 * they are tried again later, and later.
 */
static void judge_large(struct kipt_memo *memo)
{
	if (memo->tried < KIPT_MEMO_TRIES)
		return;
	if (memo->known >= KIPT_MEMO_TRIES / 2)
		memo->pause = 0;
	else if (memo->pause < KIPT_MEMO_TRIES * 64)
		memo->pause = memo->pause ? memo->pause * 2 : KIPT_MEMO_TRIES * 4;
	memo->rest = memo->pause;
	memo->tried = 0;
	memo->known = 0;
}

/* Takes what was read ahead. Returns false as take_packets(). */
static inline bool take_ahead(struct kipt_flow *flow, struct fast *fast,
			      enum kipt_size size, enum tell how)
{
	const struct kipt_ahead *ahead = flow->ahead[size];
	u32 count = fast->count[size], i;

	for (i = 0; i < count; i++) {
		if (size == KIPT_LARGE ? !take_large(flow, fast, &ahead[i], how) :
				    !take_small(flow, fast, &ahead[i], false,
						how))
			return false;
	}
	if (size == KIPT_LARGE)
		flow->memo.tried += count;
	else
		flow->memo.rest -= least(count, flow->memo.rest);
	judge_large(&flow->memo);
	return true;
}

static inline void run(struct kipt_flow *flow, struct fast *fast, enum tell how)
{
	enum kipt_size size;
	const u8 *pos;

	while (!flow->stopped) {
		size = flow->memo.rest ? KIPT_SMALL : KIPT_LARGE;
		read_ahead(flow, fast, size, fast->end);
		pos = fast->pos;
		if (unlikely(!fast->count[size]))
			pass_times(flow, fast, fast->end);
		if (unlikely(!fast->count[size] && fast->pos == pos))
			return;
		if (size == KIPT_LARGE ? !take_ahead(flow, fast, KIPT_LARGE, how) :
				    !take_ahead(flow, fast, KIPT_SMALL, how))
			return;
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

	if (flow->blocks.full || flow->counts.full ||
	    kipt_memo_is_stale(&flow->memo))
		kipt_flow_renew(flow);
	enter(flow, &fast);
	start = fast.pos;
	if (fast.block == KIPT_BLOCK_NONE ||
	    fast.off == KIPT_BLOCK_NONE)
		return;
	set_cuts(&fast, true);
	if (flow->counts.max) {
		run(flow, &fast, TELL_COUNTS);
	} else if (flow->config.output & KIPT_FLOW_PATHS) {
		tell_untold(flow);
		/* Time cannot pass inside a path. */
		if (flow->config.output & KIPT_FLOW_TIME)
			set_cuts(&fast, false);
		run(flow, &fast, TELL_PATHS);
	} else {
		run(flow, &fast, TELL_RECORDS);
	}
	settle(flow, &fast);
	flow->memo.bytes += (u64)(fast.pos - start);
	if (flow->memo.bytes > KIPT_MEMO_FOLD)
		kipt_count_give(flow);
	if (fast.pos != start)
		flow->previous = KIPT_PACKET_TNT;
}
