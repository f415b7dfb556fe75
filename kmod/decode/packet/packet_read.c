// SPDX-License-Identifier: GPL-2.0-only
/*
 * Many packets at once: what kipt_packet_next() gives one by one, without a
 * branch per packet. Knows no formats: the table has the frequent packets,
 * packet.c all others. Any context.
 *
 * First each byte of a chunk gets a mark: not a one-byte packet. Then each
 * step takes the one-byte packets up to the next mark, RUN_MAX at most, and the
 * packet at the mark, of any length. What one step must wait for of the one
 * before is only that packet's length; that is why marks are made ahead, and
 * why the word of marks for a step is loaded one step before. User space makes
 * the lengths ahead too, with SSE2; without, that would take more time than
 * looking them up when they are needed.
 */
#include "packet.h"
#include "packet_table.h"

/* One-byte packets that a step takes at most; where a packet is copied in two
 * parts one less is faster.
 */
#ifdef __SSE2__
#define RUN_MAX		7
#else
#define RUN_MAX		6
#endif
/* Ends a run in marks; the second bit is there only because compilers make a
 * slow partial write of the first alone.
 */
#define RUN_END		(1 << RUN_MAX | 1 << 16)
/* Not much more than what fills @packets of some hundred. */
#define CHUNK_BYTES	256
/* What a step may look at from the last byte of a chunk on. */
#define CHUNK_TAIL	(RUN_MAX + 1 + KIPT_TABLE_NEEDS)
#define CHUNK_LEAST	64

#define EACH_BYTE(x)	(0x0101010101010101ULL * (x))

/**
 * struct chunk - bytes being read
 * @data: the first
 * @size: how many, a multiple of 16
 * @marks: a bit for each, the first lowest: no one-byte packet; all of the
 *	eight bytes after it are 0xff
 * @lens: for each, and the one after it, what kipt_table_len has
 */
struct chunk {
	const u8 *data;
	u64 size;
	u8 marks[CHUNK_BYTES / 8 + 8];
#ifdef __SSE2__
	u8 lens[CHUNK_BYTES + 16];
#endif
};

#ifdef __SSE2__
/* Ones in each byte that has all bits of @mask as @value has them. */
static __m128i bytes_like(__m128i bytes, u8 mask, u8 value)
{
	return _mm_cmpeq_epi8(_mm_and_si128(bytes, _mm_set1_epi8((char)mask)),
			      _mm_set1_epi8((char)value));
}

/* @len in each byte of which @where has ones. */
static __m128i bytes_len(__m128i where, u8 len)
{
	return _mm_and_si128(where, _mm_set1_epi8((char)len));
}

/* Lengths of packets with an IP, by IPBytes: 1, 3, 5, 7, 7, none, 9, none. */
static __m128i lens_ip(__m128i bytes)
{
	__m128i with_ip = _mm_or_si128(bytes_like(bytes, 0x0f, 0x01),
				       bytes_like(bytes, 0x0f, 0x0d));
	__m128i bad = bytes_like(bytes, 0xa0, 0xa0);
	__m128i twice = _mm_and_si128(_mm_srli_epi16(bytes, 4),
				      _mm_set1_epi8(0x0e));
	__m128i len = _mm_add_epi8(_mm_min_epu8(twice, _mm_set1_epi8(6)),
				   _mm_set1_epi8(1));

	len = _mm_add_epi8(len, bytes_len(bytes_like(twice, 0x0f, 12), 2));
	return _mm_and_si128(len, _mm_andnot_si128(bad, with_ip));
}

/* kipt_table_len of sixteen bytes. */
static __m128i lens_make(__m128i bytes)
{
	__m128i tnt = _mm_andnot_si128(bytes_like(bytes, 0xff, 0x02),
				       bytes_like(bytes, 0x01, 0x00));
	__m128i one = _mm_or_si128(tnt, bytes_like(bytes, 0x07, 0x03));
	__m128i tsc = bytes_like(bytes, 0xff, KIPT_TABLE_TSC);
	__m128i mtc = bytes_like(bytes, 0xff, KIPT_TABLE_MTC);

	return _mm_or_si128(_mm_or_si128(bytes_len(tsc, 8), bytes_len(mtc, 2)),
			    _mm_or_si128(bytes_len(one, 1), lens_ip(bytes)));
}

static void chunk_fill(struct chunk *chunk)
{
	__m128i bytes, lens;
	u16 ones;
	u64 i;

	for (i = 0; i <= chunk->size; i += 16) {
		bytes = _mm_loadu_si128((const __m128i *)(chunk->data + i));
		lens = lens_make(bytes);
		_mm_storeu_si128((__m128i *)(chunk->lens + i), lens);
		ones = (u16)_mm_movemask_epi8(bytes_like(lens, 0xff, 1));
		ones = (u16)~ones;
		memcpy(chunk->marks + i / 8, &ones, sizeof(ones));
	}
}

/* What kipt_table_len has for the byte at @at + @run. */
static inline u64 chunk_len(const struct chunk *chunk, u64 at, u64 run)
{
	return chunk->lens[at + run];
}
#else
/* One-byte packets are even but not 02 (PAD, TNT), or have low bits 011 (CYC);
 * @word holds eight bytes. Bit n of the result: byte n is none.
 */
static u8 marks_make(u64 word)
{
	u64 odd = word & ~((word >> 1) & ~(word >> 2));
	u64 other = word ^ EACH_BYTE(0x02);
	u64 ext = ~((((other & EACH_BYTE(0x7f)) + EACH_BYTE(0x7f)) | other) >>
		    7);

	/* The factor moves bit 8 * n to bit 56 + n. */
	return (u8)(((odd | ext) & EACH_BYTE(1)) * 0x0102040810204080ULL >> 56);
}

static void chunk_fill(struct chunk *chunk)
{
	u64 i;

	for (i = 0; i < chunk->size; i += 8)
		chunk->marks[i / 8] = marks_make(kipt_load64(chunk->data + i));
}

/* As above; what is loaded does not wait for @run, which comes later. */
static inline u64 chunk_len(const struct chunk *chunk, u64 at, u64 run)
{
	return kipt_table_len[(u8)(kipt_load64(chunk->data + at) >> (8 * run))];
}
#endif

static void chunk_mark(struct chunk *chunk, const struct kipt_cursor *cursor)
{
	u64 size = (kipt_cursor_left(cursor) - CHUNK_TAIL) & ~15ULL;

	chunk->data = cursor->pos;
	chunk->size = size < CHUNK_BYTES ? size : CHUNK_BYTES;
	chunk_fill(chunk);
	memset(chunk->marks + chunk->size / 8, 0xff, 8);
}

/* Writes RUN_MAX packets, the caller counts those that are meant. */
static inline void run_read(const u8 *b, struct kipt_packet *p)
{
	p[0] = kipt_table_packet[b[0]];
	p[1] = kipt_table_packet[b[1]];
	p[2] = kipt_table_packet[b[2]];
	p[3] = kipt_table_packet[b[3]];
	p[4] = kipt_table_packet[b[4]];
	p[5] = kipt_table_packet[b[5]];
#if RUN_MAX > 6
	p[6] = kipt_table_packet[b[6]];
#endif
}

/* Reads up to the end of the chunk, a packet that the table does not have, or
 * after @last, and returns where the next packet goes to. @word has the marks
 * from where the step before took its last packet, of @len bytes.
 */
static struct kipt_packet *chunk_read(const struct chunk *chunk,
				      struct kipt_cursor *cursor,
				      struct kipt_packet *to,
				      const struct kipt_packet *last)
{
	const u8 *marks = chunk->marks, *b = cursor->pos;
	const u8 *end = chunk->data + chunk->size;
	u64 at = (u64)(b - chunk->data), run, len = 0;
	u64 word = kipt_load64(marks + at / 8) >> (at & 7);

	while (b < end && to <= last) {
		run = (u64)__builtin_ctzll(word >> len | RUN_END);
		len = chunk_len(chunk, at, run);
		word = kipt_load64(marks + at / 8) >> (at & 7) >> run;
		run_read(b, to);
		to += run;
		b += run;
		if (unlikely(!len))
			break;
		kipt_table_read(b, (u32)len, to);
		to++;
		b += len;
		at += run + len;
	}
	cursor->pos = b;
	return to;
}

/* A CYC of two or three bytes; returns its length, 0 if there is none.
 * After a cut one (SKD007) comes 02 F3, an OVF.
 */
static inline u32 cyc_read(u64 word, struct kipt_packet *packet)
{
	u32 len = word & 0x100 ? 3 : 2;

	if ((word & 7) != 7 || (word & 0x10100) == 0x10100 ||
	    (word & 0xffff00) == 0xf30200)
		return 0;
	*packet = (struct kipt_packet){
		.type = KIPT_PACKET_CYC,
		.len = (u8)len,
		.value = (word >> 3 & 0x1f) | (word >> 9 & 0x7f) << 5 |
			 (len == 3 ? word >> 17 & 0x7f : 0) << 12,
	};
	return len;
}

/* Where the table gave up before a CYC: cycle-accurate traces may be little
 * else than CYCs and MTCs, so all there are in a row, also after the chunk.
 * Returns as chunk_read().
 */
static struct kipt_packet *cycles_read(struct kipt_cursor *cursor,
				       struct kipt_packet *to,
				       const struct kipt_packet *last)
{
	const u8 *b = cursor->pos;
	u64 word;
	u32 len;

	while (cursor->end - b >= KIPT_TABLE_NEEDS && to <= last) {
		word = kipt_load64(b);
		len = cyc_read(word, to);
		if (!len && (u8)word == KIPT_TABLE_MTC) {
			len = 2;
			kipt_table_read(b, len, to);
		}
		if (!len)
			break;
		to++;
		b += len;
	}
	cursor->pos = b;
	return to;
}

static bool chunk_holds(const struct chunk *chunk,
			const struct kipt_cursor *cursor)
{
	return (u64)(cursor->pos - chunk->data) < chunk->size;
}

/* Reads what can be read fast from here; returns as chunk_read(). */
static struct kipt_packet *many_read(struct chunk *chunk,
				     struct kipt_cursor *cursor,
				     struct kipt_packet *to,
				     const struct kipt_packet *last)
{
	const struct kipt_packet *before;

	do {
		if (!chunk_holds(chunk, cursor)) {
			if (kipt_cursor_left(cursor) < CHUNK_LEAST)
				break;
			chunk_mark(chunk, cursor);
		}
		to = chunk_read(chunk, cursor, to, last);
		before = to;
		to = cycles_read(cursor, to, last);
	} while (to <= last &&
		 (to != before || !chunk_holds(chunk, cursor)));
	return to;
}

enum kipt_status kipt_packets_read(struct kipt_cursor *cursor,
				   struct kipt_packet *packets, u32 max,
				   u32 *count)
{
	const struct kipt_packet *last = max < KIPT_PACKETS_LEAST ? NULL :
					 packets + max - RUN_MAX - 1;
	enum kipt_status status = KIPT_OK;
	struct kipt_packet *to = packets;
	struct chunk chunk;

	chunk.data = cursor->pos;
	chunk.size = 0;
	while (to < packets + max) {
		if (last && !cursor->block) {
			to = many_read(&chunk, cursor, to, last);
			if (to > last)
				break;
		}
		status = kipt_packet_next(cursor, to);
		if (status != KIPT_OK)
			break;
		to++;
	}
	*count = (u32)(to - packets);
	return status;
}
