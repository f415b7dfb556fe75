// SPDX-License-Identifier: GPL-2.0-only
/*
 * The fast path over what was there before, byte by byte the same: windows are
 * taken again in the order they were logged in, and no packet is read. Runs
 * where the sink may.
 */
#include "flow_take.h"

/* Ways are asked for so many windows before they are taken. */
#define AGAIN_AHEAD	4U

/* Which window started with these bytes at this block? Returns false if none is
 * known.
 */
static bool find_logged(struct kipt_flow *flow, const struct fast *fast,
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
 * the log may have come elsewhere in the trace.
 */
static __always_inline bool take_one(struct kipt_flow *flow, struct fast *fast,
				     const struct kipt_logged *logged,
				     enum tell how)
{
	struct kipt_way *way = kipt_way_at(&flow->memo, logged->way);
	struct hit hit = { .way = way, .to = way->to };

	if (way->block != fast->block || logged->before != fast->last_ip ||
	    !guards_hold(flow, way))
		return false;
	tell(flow, way, how);
	kipt_log_put(&flow->memo.log, logged->len, logged->before,
		     logged->after, logged->way);
	take(flow, fast, hit, logged->after);
	fast->pos += logged->len;
	return true;
}

/* Takes windows from @number on as far as @same bytes go. @number becomes the next
 * one, and @more is cleared if that is not to be taken. Returns how many.
 */
static __always_inline u32 take_same(struct kipt_flow *flow, struct fast *fast,
				     u32 *number, u32 same, bool *more,
				     enum tell how)
{
	struct kipt_log *log = &flow->memo.log;
	const struct kipt_logged *logged = kipt_log_at(log, *number), *later;
	const u8 *start = fast->pos;
	u32 taken = 0;

	kipt_log_reserve(log, same);
	while (logged->len <= same) {
		if (!take_one(flow, fast, logged, how)) {
			*more = false;
			break;
		}
		later = kipt_log_at(log, *number + AGAIN_AHEAD);
		fetch_way(flow, later->way);
		taken++;
		same -= logged->len;
		if (fast->block == KIPT_BLOCK_NONE ||
		    !kipt_log_follows(log, *number)) {
			*more = false;
			break;
		}
		logged = kipt_log_at(log, ++*number);
	}
	kipt_log_bytes(log, start, (u32)(fast->pos - start));
	return taken;
}

static __always_inline u32 take_again(struct kipt_flow *flow, struct fast *fast,
				      enum tell how)
{
	const struct kipt_log *log = &flow->memo.log;
	u32 number, taken = 0, same;
	bool more;

	if (!find_logged(flow, fast, &number))
		return 0;
	do {
		same = kipt_log_same(log, kipt_log_at(log, number), fast->pos,
				     (u64)(fast->end - fast->pos));
		more = same == KIPT_LOG_COMPARED && !flow->stopped;
		taken += take_same(flow, fast, &number, same, &more, how);
	} while (more);
	return taken;
}

u32 kipt_take_again(struct kipt_flow *flow, struct fast *fast, enum tell how)
{
	if (how == TELL_COUNTS)
		return take_again(flow, fast, TELL_COUNTS);
	if (how == TELL_PATHS)
		return take_again(flow, fast, TELL_PATHS);
	return take_again(flow, fast, TELL_RECORDS);
}
