// SPDX-License-Identifier: GPL-2.0-only
/*
 * The fast path over what was there before, byte by byte the same: windows are
 * taken again in the order they were taken in, and no packet is read. Runs where
 * the sink may.
 */
#include "flow_take.h"

/* Bytes compared at once: what is compared in vain is bounded by it. */
#define COMPARED	1024U

/* How many of @most bytes are the same. Up to 7 behind them are read. */
static u64 same_bytes(const u8 *a, const u8 *b, u64 most)
{
	u64 n, other;

	for (n = 0; n < most; n += 8) {
		other = kipt_load64(a + n) ^ kipt_load64(b + n);
		if (other) {
			n += (u64)__builtin_ctzll(other) >> 3;
			break;
		}
	}
	return n < most ? n : most;
}

/* Which window started with these bytes at this block? Returns false if none is
 * known.
 */
static bool find_past(struct kipt_flow *flow, const struct fast *fast,
		      u32 *number)
{
	struct kipt_memo *memo = &flow->memo;
	u32 *place = kipt_past_place(memo, fast->pos, fast->block);

	*number = *place;
	if (!kipt_past_is_there(memo, *number) ||
	    kipt_past_at(memo, *number)->before != fast->last_ip)
		return false;
	*place = memo->past_count;
	return true;
}

/* Takes one, if the way is the same again. */
static inline bool take_one(struct kipt_flow *flow, struct fast *fast,
			    const struct kipt_past *past, enum tell how)
{
	struct kipt_way *way = kipt_way_at(&flow->memo, past->way);
	struct hit hit = { .way = way, .to = way->to };

	if (way->block != fast->block || !guards_hold(flow, way))
		return false;
	tell(flow, way, how);
	kipt_memo_put_past(&flow->memo, fast->pos, past->len, past->before,
			   past->after, past->way);
	take(flow, fast, hit, past->after);
	fast->pos += past->len;
	return true;
}

/* Is there one that follows right behind? */
static inline bool goes_on(const struct kipt_memo *memo, u32 number)
{
	const struct kipt_past *past = kipt_past_at(memo, number);

	return kipt_past_is_there(memo, number + 1) &&
	       kipt_past_at(memo, number + 1)->begin == past->begin + past->len;
}

static __always_inline u32 take_again(struct kipt_flow *flow, struct fast *fast,
				      enum tell how)
{
	const struct kipt_memo *memo = &flow->memo;
	const struct kipt_past *past;
	u32 number, taken = 0;
	u64 same;

	if (!find_past(flow, fast, &number))
		return 0;
	past = kipt_past_at(memo, number);
	same = (u64)(fast->end - fast->pos);
	same = same_bytes(fast->pos, past->begin,
			  same < COMPARED ? same : COMPARED);
	while (past->len <= same && take_one(flow, fast, past, how)) {
		taken++;
		same -= past->len;
		if (fast->block == KIPT_BLOCK_NONE || !goes_on(memo, number))
			break;
		past = kipt_past_at(memo, ++number);
	}
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
