// SPDX-License-Identifier: GPL-2.0-only
/*
 * The fast path: windows of trace bytes looked up in the memo. What it does not
 * know is flow_learn.c's, and what cannot be remembered is left to the slow
 * path. Runs where the callbacks may.
 */
#include "flow_take.h"

/* Bytes taken packet by packet before it is asked whether the run halts. */
#define KIPT_TAKE_BYTES	1024U
#define KIPT_TAKE_RECORDED	128U
/* So many windows taken again promise that more can be soon. */
#define KIPT_AGAIN_LONG	4U
/* Bytes after which what ways counted is folded. Tests make it small. */
#ifndef KIPT_MEMO_FOLD
#define KIPT_MEMO_FOLD	(1ULL << 31)
#endif

static inline struct hit find(const struct kipt_flow *flow,
			      const struct kipt_fast *fast,
			      const struct kipt_ahead *ahead)
{
	const struct kipt_window *window = &ahead->window;
	struct hit hit;

	hit = find_in(flow, window->hash, window, fast->block, fast->last_ip);
	if (unlikely(!hit.way)) {
		hit = kipt_find_second(flow, window, fast->block,
				       fast->last_ip);
		/* A packet's own way does not say what IP it leaves. */
		if (hit.way && hit.way->kind == KIPT_WAY_PACKET)
			hit.way = NULL;
	}
	if (hit.way && ahead->mtc != KIPT_WINDOW_NO_MTC &&
	    !kipt_window_starts(fast->pos, fast->pos + ahead->mtc))
		hit.way = NULL;
	return hit;
}

u32 kipt_leave_kernel(struct kipt_flow *flow, const struct kipt_way *way, u64 to)
{
	if (flow->counts.max)
		kipt_count_leave(flow, way, to);
	return kipt_number_at(flow, to);
}

void kipt_tell_timed(struct kipt_flow *flow, const struct kipt_way *way,
		     const u8 *pos, const u8 *end)
{
	const struct kipt_way *packet = way;
	u32 packets = 0, size;

	while (pos < end) {
		size = kipt_window_lens[*pos];
		if (!*pos) {
			pos++;
		} else if (size == KIPT_WINDOW_TIMES) {
			pos = kipt_take_time(flow, pos);
		} else {
			if (way->kind == KIPT_WAY_WINDOW)
				packet = kipt_way_part(&flow->memo, way,
						       packets++);
			tell_kept(flow, packet);
			pos += size ? size : 1;
		}
	}
}

static void enter(struct kipt_flow *flow, struct kipt_fast *fast)
{
	const u8 *data_end = flow->data + flow->size;
	const u8 *end = flow->cursor.end, *pos = flow->cursor.pos;

	if (data_end - end < KIPT_WINDOW_READS)
		end = data_end - pos > KIPT_WINDOW_READS ?
		      data_end - KIPT_WINDOW_READS : pos;
	if (end - pos > (s64)KIPT_MEMO_FOLD)
		end = pos + KIPT_MEMO_FOLD;
	*fast = (struct kipt_fast){ .pos = pos, .end = end, .most = 1 };
	fast->last_ip = flow->last_ip;
	fast->off = kipt_number_at(flow, KIPT_OFF_IP);
	fast->block = flow->enabled ? kipt_number_at(flow, flow->at.ip) :
				      fast->off;
}

void kipt_memo_settle(struct kipt_flow *flow, const struct kipt_fast *fast)
{
	flow->cursor.pos = fast->pos;
	flow->last_ip = fast->last_ip;
	flow->enabled = fast->block != fast->off;
	if (fast->block == KIPT_BLOCK_NONE)
		flow->at.ip = fast->last_ip;
	else if (flow->enabled)
		flow->at.ip = flow->blocks.table[fast->block].ip;
}

/* Brings what the look-up will need near, now that the table is. Which block it
 * will be is not known: two of the ways may be it. Inline: compilers leave calls
 * away of what only prefetches.
 */
static __always_inline void fetch(const struct kipt_flow *flow,
				  const struct kipt_ahead *ahead)
{
	const struct kipt_bucket *bucket;
	u32 hash, match;

	hash = ahead->window.hash;
	bucket = kipt_memo_bucket(&flow->memo, hash);
	match = kipt_bucket_match(bucket, hash, 0xffff0000U);
	if (!match)
		return;
	fetch_way(flow, bucket->way[__builtin_ctz(match)]);
	match &= match - 1;
	if (match)
		fetch_way(flow, bucket->way[__builtin_ctz(match)]);
}

/* Reads the window at @pos. Returns where it ends: there, if none is. */
static const u8 *read_window(const struct kipt_fast *fast, struct kipt_ahead *ahead,
			     const u8 *pos, u64 *last_ip)
{
	ahead->begin = pos;
	ahead->guessed = false;
	ahead->mtc = KIPT_WINDOW_NO_MTC;
	ahead->end = kipt_window_read(&ahead->window, pos, fast->end, last_ip,
				      fast->over_times, &ahead->timed);
	return ahead->end;
}

/* Guesses the window at @pos. Returns where it ends: there, if nobody knows. */
static inline const u8 *guess(const struct kipt_fast *fast,
			      struct kipt_ahead *ahead, const u8 *pos)
{
	ahead->begin = pos;
	ahead->guessed = true;
	ahead->end = kipt_window_guess(&ahead->window, pos, fast->end,
				       fast->over_times, &ahead->mtc);
	ahead->timed = ahead->mtc != KIPT_WINDOW_NO_MTC;
	return ahead->end;
}

/* Finds @fast->most windows ahead, as far as there are some. Behind one that was
 * guessed nobody knows IP compression, and where a window ends is a guess too.
 */
static void look_ahead(struct kipt_flow *flow, struct kipt_fast *fast)
{
	bool guesses = !flow->memo.reads, known = true;
	const u8 *pos = fast->pos, *next = pos;
	struct kipt_ahead *ahead = flow->ahead;
	u64 last_ip = fast->last_ip;
	u32 i;

	while (pos < fast->end && ahead < flow->ahead + fast->most) {
		if (likely(guesses))
			next = guess(fast, ahead, pos);
		if (unlikely(next == pos)) {
			next = read_window(fast, ahead, pos, &last_ip);
			ahead->guessed = !known;
			if (next == pos)
				break;
		} else {
			known = false;
		}
		__builtin_prefetch(kipt_memo_bucket(&flow->memo,
						    ahead->window.hash));
		fetch_trace(next);
		pos = next;
		ahead++;
	}
	fast->count = (u32)(ahead - flow->ahead);
	for (i = 0; i < fast->count; i++)
		fetch(flow, &flow->ahead[i]);
}

/* What time passes in is not taken again. */
static inline void put_log(struct kipt_flow *flow,
			   const struct kipt_ahead *ahead, u64 before,
			   u64 after, const struct kipt_way *way)
{
	struct kipt_log *log = &flow->memo.log;
	u32 len = (u32)(ahead->end - ahead->begin);

	if (unlikely(ahead->timed || len > KIPT_LOG_LONGEST))
		return;
	*kipt_log_place(log, ahead->begin, way->block) = log->count;
	kipt_log_reserve(log, len);
	kipt_log_put(log, len, before, after,
		     kipt_way_number(&flow->memo, way));
	kipt_log_bytes(log, len, ahead->begin, len);
}

/* Takes a window whose way is known. */
static __always_inline void take_known(struct kipt_flow *flow, struct kipt_fast *fast,
			      const struct kipt_ahead *ahead,
			      struct hit hit, enum tell how)
{
	u64 last_ip = kipt_way_last_ip(hit.way, fast->last_ip);

	if (how == TELL_RECORDS && unlikely(ahead->timed))
		kipt_tell_timed(flow, hit.way, ahead->begin, ahead->end);
	else
		tell(flow, hit.way, how);
	put_log(flow, ahead, fast->last_ip, last_ip, hit.way);
	take(flow, fast, hit, last_ip);
	fast->pos = ahead->end;
}

/* Is a window that is not known to be learnt? */
static bool begin_learning(struct kipt_flow *flow, const struct kipt_fast *fast,
			   const struct kipt_ahead *ahead)
{
	u64 top = flow->stack.depth ?
		  *kipt_return_stack_at(&flow->stack, 0) : 0;
	u32 hash = kipt_memo_second(ahead->window.hash, fast->block, top);

	if (!kipt_memo_worthy(&flow->memo, hash))
		return false;
	kipt_learn_begin(flow, fast->block, fast->last_ip);
	return true;
}

/* Takes a new window packet by packet, and learns it unless one of those is all
 * of it. Returns false as kipt_take_packets().
 */
static bool take_new(struct kipt_flow *flow, struct kipt_fast *fast,
		     const struct kipt_ahead *ahead, enum tell how)
{
	const struct kipt_way *packet, *way = NULL;
	u64 before = fast->last_ip;

	if (!begin_learning(flow, fast, ahead))
		return kipt_take_packets(flow, fast, ahead->end, how);
	while (fast->pos < ahead->end) {
		if (kipt_window_lens[*fast->pos] == KIPT_WINDOW_TIMES) {
			kipt_pass_times(flow, fast, fast->pos + 1);
			continue;
		}
		if (fast->block == KIPT_BLOCK_NONE)
			return false;
		packet = kipt_take_packet(flow, fast, how);
		if (!packet)
			return false;
		kipt_learn_add(flow, packet);
	}
	if (flow->joined.nr_steps > 1)
		way = kipt_learn_end(flow, &ahead->window, fast->last_ip);
	if (way)
		put_log(flow, ahead, before, fast->last_ip, way);
	return true;
}

/* Reads a window that was guessed, and that nobody knows. Returns its way if the
 * guess was wrong, and the window is known.
 */
static noinline struct hit find_read(struct kipt_flow *flow, struct kipt_fast *fast,
				     struct kipt_ahead *ahead)
{
	struct hit none = { NULL, 0 };
	u32 len = ahead->window.len;
	const u8 *end = ahead->end;
	u64 last_ip = fast->last_ip;

	if (read_window(fast, ahead, fast->pos, &last_ip) == end &&
	    ahead->window.len == len)
		return none;
	flow->memo.wrong++;
	return ahead->window.len ? find(flow, fast, ahead) : none;
}

/* Returns false as kipt_take_packets(). */
static inline bool take_window(struct kipt_flow *flow, struct kipt_fast *fast,
			       struct kipt_ahead *ahead, enum tell how)
{
	struct hit hit = { NULL, 0 };

	if (unlikely(fast->block == KIPT_BLOCK_NONE))
		return false;
	if (likely(ahead->window.len))
		hit = find(flow, fast, ahead);
	if (unlikely(!hit.way && ahead->guessed))
		hit = find_read(flow, fast, ahead);
	if (unlikely(!ahead->window.len)) {
		kipt_pass_times(flow, fast, ahead->end);
		return fast->pos != ahead->begin;
	}
	flow->memo.known += hit.way != NULL;
	if (unlikely(!hit.way))
		return take_new(flow, fast, ahead, how);
	take_known(flow, fast, ahead, hit, how);
	return true;
}

/* Does a packet of windows start with this byte? */
static bool may_begin(u8 byte)
{
	u32 size = kipt_window_lens[byte];

	return kipt_tnt_is_short(byte) || (size && size != KIPT_WINDOW_TIMES);
}

/* Returns false if none is in the log. */
static inline bool take_logged(struct kipt_flow *flow, struct kipt_fast *fast,
			       enum tell how)
{
	u32 again = kipt_take_again(flow, fast, how);

	if (!again)
		return flow->kept.place == KIPT_KEPT_IN_LOG;
	if (again >= KIPT_AGAIN_LONG)
		fast->most = 1;
	flow->memo.tried += again;
	flow->memo.known += again;
	kipt_memo_judge(&flow->memo);
	return true;
}

/* Takes windows that were there before, or reads some: behind a long stretch that
 * was there one, then two, then four. Returns false as kipt_take_packets(), or if
 * none is there.
 */
static inline bool take_windows(struct kipt_flow *flow, struct kipt_fast *fast,
				enum tell how)
{
	const u8 *pos = fast->pos;
	u32 i = 0;

	if (unlikely(flow->kept.place == KIPT_KEPT_IN_ROW)) {
		flow->kept.place = KIPT_KEPT_BETWEEN;
		i = flow->kept.row;
		goto row;
	}
	if (unlikely(pos >= fast->end || fast->block == KIPT_BLOCK_NONE))
		return false;
	if (unlikely(!may_begin(*pos))) {
		kipt_pass_times(flow, fast, fast->end);
		return fast->pos != pos;
	}
	if (take_logged(flow, fast, how))
		return true;
	look_ahead(flow, fast);
	fast->most = fast->most < KIPT_AHEAD ? fast->most * 2 : KIPT_AHEAD;
	if (unlikely(!fast->count))
		return false;
row:
	for (; i < fast->count && flow->ahead[i].begin == fast->pos; i++) {
		if (unlikely(halts(flow, fast, how))) {
			flow->kept.place = KIPT_KEPT_IN_ROW;
			flow->kept.row = i;
			return true;
		}
		if (!take_window(flow, fast, &flow->ahead[i], how))
			return false;
	}
	flow->memo.tried += i;
	flow->memo.guessed += i;
	kipt_memo_judge(&flow->memo);
	return true;
}

/* Takes packets while windows are not worth it. Returns false as
 * kipt_take_packets().
 */
static bool take_rest(struct kipt_flow *flow, struct kipt_fast *fast, enum tell how)
{
	const u8 *pos = fast->pos;
	u64 left, most;
	bool more;

	/* A packet of time may end behind the end. */
	if (pos >= fast->end)
		return false;
	left = (u64)(fast->end - pos);
	if (left > flow->memo.rest)
		left = flow->memo.rest;
	most = how == TELL_RECORDS ? KIPT_TAKE_RECORDED : KIPT_TAKE_BYTES;
	if (left > most)
		left = most;
	more = kipt_take_packets(flow, fast, pos + left, how);
	left = (u64)(fast->pos - pos);
	flow->memo.rest -= left < flow->memo.rest ? (u32)left : flow->memo.rest;
	return more && left;
}

/* Returns false if the run halts. */
static inline bool run(struct kipt_flow *flow, struct kipt_fast *fast,
		       enum tell how)
{
	if (unlikely(flow->kept.place == KIPT_KEPT_IN_LOG))
		take_logged(flow, fast, how);
	while (fast->pos < flow->halt_at) {
		if (flow->memo.rest ? !take_rest(flow, fast, how) :
				      !take_windows(flow, fast, how))
			return true;
	}
	return false;
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
	       !flow->held_count && flow->claim == KIPT_CLAIM_NONE &&
	       !(flow->lost | flow->doubtful | flow->event | flow->abort |
		 flow->overflow | flow->echo | flow->share | flow->tsx |
		 flow->mode_pending | flow->at.pip_pending);
}

/* What is full is dropped, what counted for long is told. Returns false if the
 * run halts meanwhile.
 */
static bool make_room(struct kipt_flow *flow)
{
	if (flow->blocks.full || flow->counts.full ||
	    kipt_memo_is_stale(&flow->memo))
		return kipt_flow_renew(flow);
	return flow->memo.bytes <= KIPT_MEMO_FOLD || kipt_count_give(flow);
}

static bool run_as_told(struct kipt_flow *flow, struct kipt_fast *fast)
{
	if (flow->counts.max)
		return run(flow, fast, TELL_COUNTS);
	if (flow->config.output & KIPT_FLOW_PATHS)
		return run(flow, fast, TELL_PATHS);
	return run(flow, fast, TELL_RECORDS);
}

/* Time cannot pass inside a path. */
static void begin(struct kipt_flow *flow, struct kipt_fast *fast)
{
	bool paths = flow->config.output & KIPT_FLOW_PATHS;

	fast->over_times = !paths || !(flow->config.output & KIPT_FLOW_TIME);
	if (paths)
		tell_untold(flow);
}

static bool pause(struct kipt_flow *flow, const struct kipt_fast *fast,
		  const u8 *start)
{
	kipt_memo_settle(flow, fast);
	flow->kept.on = true;
	flow->kept.start = start;
	flow->kept.fast = *fast;
	return false;
}

bool kipt_memo_run(struct kipt_flow *flow)
{
	struct kipt_fast fast;
	const u8 *start;

	if (unlikely(flow->kept.on)) {
		fast = flow->kept.fast;
		start = flow->kept.start;
	} else {
		if (!make_room(flow))
			return false;
		enter(flow, &fast);
		start = fast.pos;
		if (fast.block == KIPT_BLOCK_NONE ||
		    fast.off == KIPT_BLOCK_NONE)
			return true;
		begin(flow, &fast);
	}
	if (!run_as_told(flow, &fast))
		return pause(flow, &fast, start);
	flow->kept.on = false;
	kipt_memo_settle(flow, &fast);
	flow->memo.bytes += (u64)(fast.pos - start);
	if (fast.pos != start)
		flow->previous = KIPT_PACKET_TNT;
	return true;
}
