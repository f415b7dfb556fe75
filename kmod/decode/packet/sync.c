// SPDX-License-Identifier: GPL-2.0-only
/*
 * PSB search: a PSB is sixteen bytes 02 82 02 82 ..., which no legal packets
 * hold at any other alignment, so bytes are enough. Every PSB covers eight
 * bytes that begin at a multiple of 8 from where the search began: nothing
 * else is looked at before a candidate is found. User space skips over what
 * holds none with SSE2, the kernel has no such registers here. Any context.
 */
#include "sync.h"

#define PAIR_SWAPPED	0x0282028202820282ULL
#define GROUP_BYTES	64

static bool is_pair(const u8 *b)
{
	return b[0] == 0x02 && b[1] == 0x82;
}

static bool may_hold_psb(const u8 *b)
{
	u64 word;

	memcpy(&word, b, sizeof(word));
	return word == KIPT_PSB_WORD || word == PAIR_SWAPPED;
}

/* The run of pairs that the eight bytes at @at are part of: false if shorter
 * than a PSB, else @psb is its last 16 bytes and @after its end.
 */
static bool measure(const u8 *data, u64 size, u64 from, u64 at, u64 *psb,
		    u64 *after)
{
	u64 begin = is_pair(data + at) ? at : at + 1, end = begin;

	while (begin >= from + 2 && is_pair(data + begin - 2))
		begin -= 2;
	while (end + 2 <= size && is_pair(data + end))
		end += 2;
	*after = end;
	*psb = end - KIPT_PSB_BYTES;
	return end - begin >= KIPT_PSB_BYTES;
}

#ifdef __SSE2__
/* Of four bytes at @b, and at each multiple of 4 after it, those that are all 02
 * or 82, in any order, become ones.
 */
static __m128i candidates(const u8 *b)
{
	__m128i bytes = _mm_loadu_si128((const __m128i *)b);

	return _mm_cmpeq_epi32(_mm_and_si128(bytes, _mm_set1_epi8(0x7f)),
			       _mm_set1_epi8(0x02));
}

/* The first group of 64 bytes from @at on that may hold a PSB, or is not whole
 * before @size.
 */
static u64 skip_groups(const u8 *data, u64 size, u64 at)
{
	const u8 *b;
	__m128i any;

	for (; at + GROUP_BYTES <= size; at += GROUP_BYTES) {
		b = data + at;
		any = _mm_or_si128(
			_mm_or_si128(candidates(b), candidates(b + 16)),
			_mm_or_si128(candidates(b + 32), candidates(b + 48)));
		if (_mm_movemask_epi8(any))
			break;
	}
	return at;
}
#else
static u64 skip_groups(const u8 *data, u64 size, u64 at)
{
	(void)data;
	(void)size;
	return at;
}
#endif

u64 kipt_sync_next(const u8 *data, u64 size, u64 from)
{
	u64 at = from, seen = from, psb, after = from;

	for (;;) {
		if (at >= seen) {
			at = skip_groups(data, size, at);
			seen = at + GROUP_BYTES;
		}
		if (at + KIPT_PSB_BYTES / 2 > size)
			return size;
		if (!may_hold_psb(data + at)) {
			at += 8;
			continue;
		}
		if (measure(data, size, from, at, &psb, &after))
			return psb;
		at = after > at + 8 ? after : at + 8;
	}
}

u64 kipt_sync_before(const u8 *data, u64 offset, u64 most)
{
	u64 back;

	for (back = KIPT_PSB_BYTES; back <= most && back <= offset; back++)
		if (kipt_sync_is_psb(data + offset - back))
			return offset - back;
	return offset;
}
