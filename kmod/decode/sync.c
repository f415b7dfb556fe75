// SPDX-License-Identifier: GPL-2.0-only
/*
 * PSB search: a PSB is sixteen bytes 02 82 02 82 ..., which no legal packets
 * hold at any other alignment, so bytes are enough. Any context.
 */
#include "sync.h"

#define PSB_LEN		16
#define PAIR_WORD	0x8202820282028202ULL
#define PAIR_SWAPPED	0x0282028202820282ULL

static bool is_pair(const u8 *b)
{
	return b[0] == 0x02 && b[1] == 0x82;
}

/* Every PSB covers the eight bytes at some multiple of 8, in one of two
 * alignments: so one comparison per 8 bytes finds where to look closer.
 */
static bool may_hold_psb(const u8 *b)
{
	u64 word;

	memcpy(&word, b, sizeof(word));
	return word == PAIR_WORD || word == PAIR_SWAPPED;
}

/* The run of pairs around @at: false if shorter than a PSB, else @psb is its
 * last 16 bytes and @after its end.
 */
static bool measure(const u8 *data, u64 size, u64 from, u64 at, u64 *psb,
		    u64 *after)
{
	u64 begin = at, end;

	if (!is_pair(data + begin)) {
		begin++;
		if (begin + 2 > size || !is_pair(data + begin))
			return false;
	}
	end = begin;
	while (begin >= from + 2 && is_pair(data + begin - 2))
		begin -= 2;
	while (end + 2 <= size && is_pair(data + end))
		end += 2;
	*after = end;
	*psb = end - PSB_LEN;
	return end - begin >= PSB_LEN;
}

u64 kipt_sync_next(const u8 *data, u64 size, u64 from)
{
	u64 at = from, psb, after = from;

	while (at + PSB_LEN / 2 <= size) {
		if (!may_hold_psb(data + at)) {
			at += 8;
			continue;
		}
		if (measure(data, size, from, at, &psb, &after))
			return psb;
		at = after > at + 8 ? after : at + 8;
	}
	return size;
}
