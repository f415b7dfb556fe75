// SPDX-License-Identifier: GPL-2.0-only
/*
 * The fast path over what was there before, byte by byte the same: windows are
 * taken again in the order they were logged in, and no packet is read. Runs
 * where the sink may.
 */
#include "flow_take.h"

/* Ways are asked for so many windows before they are taken. */
#define AGAIN_AHEAD	4U
#define MTC_BYTES	2

/* Which window started with these bytes at this block? Returns false if none is
 * known.
 */
static bool find_logged(struct kipt_flow *flow, const struct kipt_fast *fast,
			u32 *number)
{
	struct kipt_log *log = &flow->memo.log;
	u32 *place = kipt_log_place(log, fast->pos, fast->block);

	*number = *place;
	if (!kipt_log_is_there(log, *number))
		return false;
	*place = log->count;
	return true;
}

/* Takes one, if the way is the same again. What stands behind another window in
 * the log may have come elsewhere in the trace. There it has @len bytes: more
 * than before if time passes in it.
 */
static __always_inline bool take_one(struct kipt_flow *flow, struct kipt_fast *fast,
				     const struct kipt_logged *logged, u32 len,
				     enum tell how)
{
	struct kipt_way *way = kipt_way_at(&flow->memo, logged->way);
	struct hit hit = { .way = way, .to = way->to };

	if (way->block != fast->block || logged->before != fast->last_ip ||
	    !guards_hold(flow, way))
		return false;
	if (how == TELL_RECORDS && len != logged->len)
		kipt_tell_timed(flow, way, fast->pos, fast->pos + len);
	else
		tell(flow, way, how);
	kipt_log_put(&flow->memo.log, logged->len, logged->before,
		     logged->after, logged->way);
	take(flow, fast, hit, logged->after);
	fast->pos += len;
	fetch_trace(fast->pos);
	return true;
}

/* Goes on to the window in the log that followed right behind. Returns false if
 * none did.
 */
static inline bool next_logged(const struct kipt_flow *flow,
			       const struct kipt_fast *fast, u32 *number)
{
	if (fast->block == KIPT_BLOCK_NONE ||
	    !kipt_log_follows(&flow->memo.log, *number))
		return false;
	++*number;
	return true;
}

/* Takes windows from @number on as far as @same bytes go: @number becomes the next
 * one, and @same how much of it is the same too. Returns false if it is not to be
 * taken.
 */
static __always_inline bool take_same(struct kipt_flow *flow, struct kipt_fast *fast,
				      u32 *number, u32 *same, u32 *taken,
				      enum tell how)
{
	struct kipt_log *log = &flow->memo.log;
	const struct kipt_logged *logged = kipt_log_at(log, *number), *later;
	const u8 *start = fast->pos;
	bool more = true;
	u32 len;

	kipt_log_reserve(log, *same);
	while (more && logged->len <= *same && !halts(flow, fast, how)) {
		more = take_one(flow, fast, logged, logged->len, how);
		if (!more)
			break;
		later = kipt_log_at(log, *number + AGAIN_AHEAD);
		fetch_way(flow, later->way);
		++*taken;
		*same -= logged->len;
		more = next_logged(flow, fast, number);
		logged = kipt_log_at(log, *number);
	}
	len = (u32)(fast->pos - start);
	kipt_log_bytes(log, len, start, len);
	return more;
}

/* Takes a window of which @same bytes are the same, then there is an MTC that was
 * not there before, then the rest. Returns false if that is not so.
 */
static __always_inline bool take_over_mtc(struct kipt_flow *flow,
					  struct kipt_fast *fast, u32 number,
					  u32 same, enum tell how)
{
	struct kipt_log *log = &flow->memo.log;
	const struct kipt_logged *logged = kipt_log_at(log, number);
	u32 len = logged->len, rest = len - same;
	const u8 *pos = fast->pos, *mtc = pos + same;

	if (likely(*mtc != KIPT_WINDOW_MTC) || !fast->over_times ||
	    fast->end - pos < (s64)len + MTC_BYTES || !kipt_window_starts(pos, mtc) ||
	    kipt_log_same(log, logged, same, mtc + MTC_BYTES, rest) != rest)
		return false;
	kipt_log_reserve(log, len);
	if (!take_one(flow, fast, logged, len + MTC_BYTES, how))
		return false;
	kipt_log_bytes(log, len, pos, same);
	kipt_log_bytes(log, rest, mtc + MTC_BYTES, rest);
	return true;
}

static noinline u32 keep(struct kipt_flow *flow, u32 number, u32 same,
			 u32 taken, bool all)
{
	struct kipt_kept *kept = &flow->kept;

	kept->place = KIPT_KEPT_IN_LOG;
	kept->number = number;
	kept->same = same;
	kept->taken = taken;
	kept->all = all;
	return 0;
}

static __always_inline u32 take_again(struct kipt_flow *flow,
				      struct kipt_fast *fast, enum tell how)
{
	const struct kipt_log *log = &flow->memo.log;
	struct kipt_kept *kept = &flow->kept;
	u32 number, taken = 0, same;
	bool all;

	if (unlikely(kept->place == KIPT_KEPT_IN_LOG)) {
		kept->place = KIPT_KEPT_BETWEEN;
		number = kept->number;
		taken = kept->taken;
		same = kept->same;
		all = kept->all;
		goto follow;
	}
	if (!find_logged(flow, fast, &number))
		return 0;
	for (;;) {
		same = kipt_log_same(log, kipt_log_at(log, number), 0,
				     fast->pos, (u64)(fast->end - fast->pos));
		all = same == KIPT_LOG_COMPARED;
follow:
		if (!take_same(flow, fast, &number, &same, &taken, how))
			break;
		if (unlikely(fast->pos >= flow->halt_at))
			return keep(flow, number, same, taken, all);
		if (all)
			continue;
		if (!take_over_mtc(flow, fast, number, same, how))
			break;
		taken++;
		if (!next_logged(flow, fast, &number))
			break;
	}
	return taken;
}

u32 kipt_take_again(struct kipt_flow *flow, struct kipt_fast *fast, enum tell how)
{
	if (how == TELL_COUNTS)
		return take_again(flow, fast, TELL_COUNTS);
	if (how == TELL_PATHS)
		return take_again(flow, fast, TELL_PATHS);
	return take_again(flow, fast, TELL_RECORDS);
}
