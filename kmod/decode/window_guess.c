// SPDX-License-Identifier: GPL-2.0-only
/*
 * Guessing windows from their bytes, see window.h: where they end shows without
 * reading packets, whose lengths would have to be waited for. Bytes of addresses
 * can look like the header of a TIP or of an MTC; then the guess is wrong. User
 * space uses SSE2, the kernel has no such registers here. Any context.
 */
#include "window.h"

/* Without pattern, for the hash. */
static const u64 keys[KIPT_WINDOW_WORDS] = {
	0x9e3779b97f4a7c15ULL, 0xc2b2ae3d27d4eb4fULL, 0xa0761d6478bd642fULL,
	0xe7037ed1a0b428dbULL, 0x8ebc6af09c88c6e3ULL, 0x589965cc75374cc3ULL,
	0x1d8e4e27c47d124fULL, 0xeb44accab455d165ULL, 0x9c6e6877736c46e3ULL,
	0x2d358dccaa6c78a5ULL,
};

#define MIX	0xd6e8feb86659fd93ULL

#define ONES_8	0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff
#define ONES_40	ONES_8, ONES_8, ONES_8, ONES_8, ONES_8
const u8 kipt_window_ones[KIPT_WINDOW_WORDS * 16] = { ONES_40, ONES_40 };

_Static_assert(KIPT_WINDOW_WORDS * 8 == 80, "the ones are as many");

/**
 * struct marks - bytes that may be the first of a packet, one bit for each
 * @tips: of TIPs with 0 to 48 bits of address
 * @ends: of those that windows end behind, unless early
 * @mtcs: of MTCs
 */
struct marks {
	u64 tips;
	u64 ends;
	u64 mtcs;
};

#ifdef __SSE2__
/* Bytes looked at together. */
#define PART	16U

static inline __m128i load(const u8 *pos)
{
	return _mm_loadu_si128((const __m128i *)(const void *)pos);
}

static inline u64 bits(__m128i bytes)
{
	return (u64)(u32)_mm_movemask_epi8(bytes);
}

static inline __m128i are(__m128i bytes, u8 mask, u8 value)
{
	bytes = _mm_and_si128(bytes, _mm_set1_epi8((char)mask));
	return _mm_cmpeq_epi8(bytes, _mm_set1_epi8((char)value));
}

/* Of 16 bytes, those that have a bit. */
static inline u64 part_having(const u8 *pos, u32 bit)
{
	return bits(_mm_slli_epi16(load(pos), 7 - (int)bit));
}

static inline struct marks part_marks(const u8 *pos)
{
	__m128i at = load(pos), next = load(pos + 1), folded, tips;

	folded = _mm_xor_si128(_mm_xor_si128(next, _mm_srli_epi16(next, 4)),
			       load(pos + 2));
	folded = are(folded, KIPT_WINDOW_ENDS, 0);
	tips = are(at, KIPT_WINDOW_SHAPE, KIPT_WINDOW_TIP);
	return (struct marks){
		.tips = bits(tips),
		.ends = bits(_mm_and_si128(folded, tips)),
		.mtcs = bits(are(at, 0xff, KIPT_WINDOW_MTC)),
	};
}

/* Of the 16 bytes from @at on, those that a window of @len bytes has. */
static inline __m128i part_ones(u32 len, u32 at)
{
	return load(kipt_window_mask(len) + at);
}

static inline __m128i add_part(__m128i sum, u64 *words, u32 at, __m128i part)
{
	_mm_storeu_si128((__m128i *)(void *)((u8 *)words + at), part);
	part = _mm_add_epi32(part, load((const u8 *)keys + at));
	part = _mm_mul_epu32(part, _mm_srli_epi64(part, 32));
	return _mm_add_epi64(sum, part);
}

static inline u64 both_halves(__m128i sum)
{
	sum = _mm_add_epi64(sum, _mm_unpackhi_epi64(sum, sum));
	return (u64)_mm_cvtsi128_si64(sum);
}

/* Writes the words of a window. Returns products of their halves, added up. */
static inline u64 put_words(u64 *words, const u8 *bytes, u32 len)
{
	__m128i sum = _mm_setzero_si128();
	u32 at;

	for (at = 0; at < KIPT_WINDOW_WORDS * 8; at += 16)
		sum = add_part(sum, words, at,
			       _mm_and_si128(part_ones(len, at),
					     load(bytes + at)));
	return both_halves(sum);
}

/* The same without the two bytes at @mtc, which are not counted. */
static inline u64 put_words_over(u64 *words, const u8 *bytes, u32 len, u32 mtc)
{
	__m128i sum = _mm_setzero_si128(), before, part;
	u32 at;

	for (at = 0; at < KIPT_WINDOW_WORDS * 8; at += 16) {
		before = part_ones(mtc, at);
		part = _mm_or_si128(_mm_and_si128(before, load(bytes + at)),
				    _mm_andnot_si128(before,
						     load(bytes + 2 + at)));
		sum = add_part(sum, words, at,
			       _mm_and_si128(part_ones(len, at), part));
	}
	return both_halves(sum);
}
#else
#define PART	8U
#define EACH(byte)	((byte) * 0x0101010101010101ULL)

/* The lowest bits of the bytes. */
static inline u64 bits(u64 word)
{
	return (word & EACH(1ULL)) * 0x0102040810204080ULL >> 56;
}

/* A bit for each byte that is zero. */
static inline u64 zeros(u64 word)
{
	const u64 low = EACH(0x7fULL);

	return bits(~(((word & low) + low) | word) >> 7);
}

static inline u64 part_having(const u8 *pos, u32 bit)
{
	return bits(kipt_load64(pos) >> bit);
}

static inline struct marks part_marks(const u8 *pos)
{
	u64 at = kipt_load64(pos), next = kipt_load64(pos + 1), folded, tips;

	folded = (next ^ next >> 4 ^ kipt_load64(pos + 2)) &
		 EACH((u64)KIPT_WINDOW_ENDS);
	tips = (at & EACH((u64)KIPT_WINDOW_SHAPE)) ^ EACH((u64)KIPT_WINDOW_TIP);
	return (struct marks){
		.tips = zeros(tips),
		.ends = zeros(tips | folded),
		.mtcs = zeros(at ^ EACH((u64)KIPT_WINDOW_MTC)),
	};
}

static inline u64 part_ones(u32 len, u32 at)
{
	return kipt_load64(kipt_window_mask(len) + at);
}

static inline u64 add_part(u64 sum, u64 *words, u32 at, u64 part)
{
	u64 key = keys[at / 8];

	words[at / 8] = part;
	return sum + (u64)((u32)part + (u32)key) *
		     (u32)((part >> 32) + (key >> 32));
}

static inline u64 put_words(u64 *words, const u8 *bytes, u32 len)
{
	u64 sum = 0;
	u32 at;

	for (at = 0; at < KIPT_WINDOW_WORDS * 8; at += 8)
		sum = add_part(sum, words, at,
			       part_ones(len, at) & kipt_load64(bytes + at));
	return sum;
}

static inline u64 put_words_over(u64 *words, const u8 *bytes, u32 len, u32 mtc)
{
	u64 sum = 0, before, part;
	u32 at;

	for (at = 0; at < KIPT_WINDOW_WORDS * 8; at += 8) {
		before = part_ones(mtc, at);
		part = (before & kipt_load64(bytes + at)) |
		       (~before & kipt_load64(bytes + 2 + at));
		sum = add_part(sum, words, at, part_ones(len, at) & part);
	}
	return sum;
}
#endif

/* Bytes that have a bit. */
static inline u64 have(const u8 *pos, u32 bit)
{
	u64 found = 0;
	u32 i;

	for (i = 0; i < KIPT_WINDOW_BYTES; i += PART)
		found |= part_having(pos + i, bit) << i;
	return found;
}

static inline struct marks find_marks(const u8 *pos)
{
	struct marks marks = { 0 }, part;
	u32 i;

	for (i = 0; i < KIPT_WINDOW_BYTES; i += PART) {
		part = part_marks(pos + i);
		marks.tips |= part.tips << i;
		marks.ends |= part.ends << i;
		marks.mtcs |= part.mtcs << i;
	}
	return marks;
}

/* @sum: of put_words(). */
static inline void set_hash(struct kipt_window *window, u64 sum, u32 len)
{
	sum += len * MIX;
	window->len = len;
	window->hash = (u32)((sum ^ sum >> 32) * MIX >> 32);
}

static inline void close_window(struct kipt_window *window, const u8 *bytes,
				u32 len)
{
	set_hash(window, put_words(window->words, bytes, len), len);
}

void kipt_window_close(struct kipt_window *window, const u8 *bytes, u32 len)
{
	close_window(window, bytes, len);
}

/* Where the TIP starts that the window ends with; KIPT_WINDOW_BYTES if it ends for
 * its length.
 */
static inline u32 last_tip(const struct marks *marks)
{
	u64 ends = (marks->ends & ~0ULL << KIPT_WINDOW_EARLY) |
		   (marks->tips & ~0ULL << KIPT_WINDOW_LATE);

	return likely(ends) ? (u32)__builtin_ctzll(ends) : KIPT_WINDOW_BYTES;
}

/* IPBytes 1 is for two bytes, 2 for four, 3 for six. */
static inline u32 tip_size(u8 byte)
{
	return 1 + (byte >> 5) * 2;
}

/* Of bits, the @n lowest. */
static inline u64 lowest(u64 marks, u32 n)
{
	return n < 64 ? marks & ((1ULL << n) - 1) : marks;
}

/* Bytes that seem to be of addresses: behind @tips, as IPBytes says. */
static inline u64 payloads(const u8 *pos, u64 tips)
{
	u64 one = have(pos, 5), two = have(pos, 6), found;

	tips &= one | two;
	found = tips << 1 | tips << 2;
	tips &= two;
	found |= tips << 3 | tips << 4;
	tips &= one;
	return found | tips << 5 | tips << 6;
}

/* Without the two bytes at @at. What the last two are is not known then: none. */
static inline u64 without(u64 marks, u32 at)
{
	return lowest(marks, at) | (marks >> 2 & ~0ULL << at);
}

/* Guesses a window with an MTC in it, the first of @marks->mtcs. Returns the bytes
 * of the trace that are guessed: none if there is another.
 */
static noinline u32 guess_over(struct kipt_window *window, const u8 *pos,
			       struct marks *marks)
{
	u32 at = (u32)__builtin_ctzll(marks->mtcs), tip;
	u32 len = KIPT_WINDOW_BYTES;

	marks->tips = without(marks->tips, at);
	marks->ends = without(marks->ends, at);
	marks->mtcs = without(marks->mtcs, at);
	tip = last_tip(marks);
	if (lowest(marks->mtcs, tip))
		return 0;
	if (tip < KIPT_WINDOW_BYTES)
		len = tip + tip_size(pos[tip + (tip < at ? 0 : 2)]);
	set_hash(window, put_words_over(window->words, pos, len, at), len);
	return len + 2;
}

/* Bytes looked at. */
#define GUESS_READS	(KIPT_WINDOW_WORDS * 8 + 2)

const u8 *kipt_window_guess(struct kipt_window *window, const u8 *pos,
			    const u8 *end, bool over_times, u8 *mtc)
{
	u32 tip, len = KIPT_WINDOW_BYTES;
	struct marks marks;

	*mtc = KIPT_WINDOW_NO_MTC;
	if (unlikely(end - pos < GUESS_READS - KIPT_WINDOW_READS))
		return pos;
	marks = find_marks(pos);
	tip = last_tip(&marks);
	if (unlikely(lowest(marks.mtcs, tip)))
		marks.mtcs &= ~payloads(pos, marks.tips);
	if (unlikely(lowest(marks.mtcs, tip))) {
		if (!over_times)
			return pos;
		*mtc = (u8)__builtin_ctzll(marks.mtcs);
		len = guess_over(window, pos, &marks);
	} else {
		if (likely(tip < KIPT_WINDOW_BYTES))
			len = tip + tip_size(pos[tip]);
		close_window(window, pos, len);
	}
	return likely(len <= (u64)(end - pos)) ? pos + len : pos;
}

#define ODD	0x0101010101010101ULL

/* Short TNTs and PADs are even, the first of an IP packet is odd. */
bool kipt_window_starts(const u8 *pos, const u8 *at)
{
	u64 odd;
	u32 size;

	while (pos < at) {
		odd = kipt_load64(pos) & ODD;
		pos += odd ? (u32)__builtin_ctzll(odd) >> 3 : 8;
		if (!odd || pos >= at)
			continue;
		size = kipt_window_lens[*pos];
		if (!size || size == KIPT_WINDOW_TIMES)
			return false;
		pos += size;
		if (pos > at)
			return false;
	}
	return true;
}
