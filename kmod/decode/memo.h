/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The memo: where a window of packets leads from a block, what happens on the
 * way, and what it does to the return stack. Owns the memory of the ways and
 * the table they are found by; who fills it and uses it is flow_memo.c. Any
 * context.
 *
 * Same block, same packets, same return addresses where they are used: same
 * way.
 */
#ifndef KIPT_DECODE_MEMO_H
#define KIPT_DECODE_MEMO_H

#include "log.h"
#include "port.h"
#include "status.h"
#include "window.h"

/* Tests make these small. */
#ifndef KIPT_MEMO_FIRST
#define KIPT_MEMO_FIRST		128U
#endif
/* Windows looked up before it is judged whether they are worth it. */
#ifndef KIPT_MEMO_TRIES
#define KIPT_MEMO_TRIES		1024U
#endif
#define KIPT_MEMO_BUCKET	8U
/* See kipt_memo.reads. */
#define KIPT_MEMO_READS		512U
/* See kipt_memo.grace. */
#define KIPT_MEMO_GRACE		24U
/* What it can become again. */
#define KIPT_MEMO_GRACE_AGAIN	8U
/* Words whose numbers have three bytes. */
#ifndef KIPT_MEMO_NEAR
#define KIPT_MEMO_NEAR		(1U << 24)
#endif

/* What a way is of. */
enum kipt_way_kind {
	KIPT_WAY_PACKET,
	KIPT_WAY_WINDOW,
};

/**
 * struct kipt_way - where a window leads
 * @count: how often it was taken, or the number of its path
 * @hash: that it is found by
 * @block: number of the block at the start
 * @to: number of the block it leads to
 * @tail: instructions behind the last record, or all if there is none
 * @records: how many records happen
 * @at: word where the list starts
 * @listed: numbers in the list
 * @len: as in the window
 * @guards: return addresses it takes from the stack and jumps to
 * @pushes: return addresses it leaves on the stack
 * @net: by how much the stack's top moves
 * @low: depth of the stack is at least this afterwards
 * @high: and at most this
 * @kind: enum kipt_way_kind
 * @own: its records stand in it
 * @keeps: as in the window
 * @words: the return addresses left on the stack, the youngest first; the
 *	guards, the youngest first; bytes of the window; unless it is of a packet
 *	IP compression before it and behind it; the records, if it has its own;
 *	then the list: the steps of a packet, u32, or a window's parts, the
 *	numbers of its packets' ways, of kipt_memo.part bytes each
 */
struct kipt_way {
	u32 count;
	u32 hash;
	u32 block;
	u32 to;
	u16 tail;
	u16 records;
	u16 at;
	u16 listed;
	u8 len;
	u8 guards;
	u8 pushes;
	s8 net;
	u8 low;
	u8 high;
	u8 kind : 1;
	u8 own : 1;
	u8 keeps;
	u64 words[];
};

/* kipt_way.to: off, or an address that depends on the space. */
#define KIPT_TO_OFF	0U
#define KIPT_TO_SPACE	0xffffffffU

#define KIPT_WAY_WORDS	(sizeof(struct kipt_way) / sizeof(u64))

/* A step of a packet's way: the number of a block that was executed to its
 * end, or with KIPT_STEP_EDGE the number of an indirect edge taken there. The
 * number has 28 bits.
 */
#define KIPT_STEP_TAKEN		(1U << 31)	/* its direct branch was taken */
#define KIPT_STEP_EDGE		(1U << 30)
#define KIPT_STEP_START		(1U << 29)	/* tracing was off before */
/* The last, with KIPT_STEP_EDGE: it leads from the kernel to an address space, which
 * is known where the way is taken: the edge is counted there.
 */
#define KIPT_STEP_LEAVES	(1U << 28)
#define KIPT_STEP_NUMBER	((1U << 28) - 1)

/**
 * struct kipt_bucket - places in the table that are looked at together
 * @key: kipt_memo_key() of each way
 * @way: its number, that of its first word; 0: the place is free
 */
struct kipt_bucket {
	u32 key[KIPT_MEMO_BUCKET];
	u32 way[KIPT_MEMO_BUCKET];
};

/* What a hop does. The others are of short TNTs, and say where these lead. */
enum kipt_hop_kind {
	KIPT_HOP_OTHER,
	KIPT_HOP_CALLS,		/* anything to the stack */
	KIPT_HOP_PLAIN,		/* nothing, or it returns from what it calls */
	KIPT_HOP_CALL,		/* it leaves a return address */
	KIPT_HOP_RET,		/* it takes one and goes there */
};

/**
 * struct kipt_hop - the way of a packet that was taken lately
 * @key: kipt_hop_tnt() or kipt_hop_ip(); 0: none
 * @way: its number
 * @to: as in the way
 * @next: KIPT_HOP_KIND: enum kipt_hop_kind. For KIPT_HOP_PLAIN from
 *	KIPT_HOP_DEEP on: by how much it deepens the stack in between. If it is
 *	not KIPT_HOP_OTHER, KIPT_HOP_ROW: kipt_hop_row() of @to
 */
struct kipt_hop {
	u32 key;
	u32 way;
	u32 to;
	u32 next;
};

#define KIPT_HOP_KIND		0xfU
#define KIPT_HOP_ROW		0x3fffff0U
#define KIPT_HOP_DEEP		26
#define KIPT_HOP_DEEP_MOST	63U

#ifndef KIPT_HOPS_FIRST
#define KIPT_HOPS_FIRST		1024U
#endif
/* Hops of a block, and the fewest there may be. */
#define KIPT_HOPS_ROW		128U
/* And the most: KIPT_HOP_ROW tells so many apart. */
#define KIPT_HOPS_MOST		(1U << 22)

/**
 * struct kipt_hops - the hops
 * @at: by key
 * @size: of them in use, a power of two, KIPT_HOPS_ROW or more
 * @max: there is memory for, a power of two up to KIPT_HOPS_MOST
 * @puts: entered since @size changed
 */
struct kipt_hops {
	struct kipt_hop *at;
	u32 size;
	u32 max;
	u32 puts;
};

/**
 * struct kipt_memo - the memo
 * @table: buckets by hash
 * @size: buckets in use, a power of two
 * @max: buckets there is memory for, a power of two; 0: there is no memo
 * @count: places filled
 * @seen: of windows met lately, the upper half of their kipt_memo_second()
 * @seen_size: a power of two
 * @filters: @seen is in use
 * @words: memory of the ways; word 0 is not used
 * @used: words of it
 * @room: words there are
 * @part: bytes of a number of them where there are many: 3 if that is enough
 * @paths: numbers of paths given
 * @ways: ways there are
 * @missed: ways of packets that were wanted since there was no room for them
 * @hops: before the table, for packets
 * @log: windows taken lately
 * @tried: windows looked up lately
 * @known: of these, found
 * @guessed: windows found ahead lately
 * @wrong: of these, not as was guessed
 * @reads: so often these will be judged before windows are guessed again
 * @rest: bytes to be taken packet by packet before windows are tried again
 * @pause: how many that will be half of next time
 * @grace: how often few that come again are still enough; hardly any cost two
 * @bytes: of trace since what the ways count was last folded: no count is more
 */
struct kipt_memo {
	struct kipt_bucket *table;
	u32 size;
	u32 max;
	u32 count;
	u16 *seen;
	u32 seen_size;
	bool filters;
	u64 *words;
	u32 used;
	u32 room;
	u32 part;
	u32 paths;
	u32 ways;
	u32 missed;
	struct kipt_hops hops;
	struct kipt_log log;
	u32 tried;
	u32 known;
	u32 guessed;
	u32 wrong;
	u32 reads;
	u32 rest;
	u32 pause;
	u32 grace;
	u64 bytes;
};

/**
 * kipt_memo_init() - an empty memo
 * @memo: memory of the caller's: @table of @max buckets, a power of two or 0;
 *	@seen of @max * KIPT_MEMO_BUCKET numbers; if @max is not 0, @hops.at of
 *	@hops.max, a power of two, and @log ready
 * @words: memory of @room words, the caller's
 * @room: 1 or more
 */
void kipt_memo_init(struct kipt_memo *memo, u64 *words, u32 room);

/**
 * kipt_memo_clear() - drop everything
 * @memo: the memo
 */
void kipt_memo_clear(struct kipt_memo *memo);

/**
 * kipt_memo_room() - memory for a way
 * @memo: the memo
 * @words: its size in 8-byte words, 1 or more
 * @kind: enum kipt_way_kind: what is kept for packets is not for windows
 *
 * Return: the number of its first word, or 0 if there is no room.
 */
u32 kipt_memo_room(struct kipt_memo *memo, u32 words, u8 kind);

/**
 * kipt_memo_is_stale() - has it become a burden
 * @memo: the memo
 *
 * Return: true if as often there was no room as there are ways: it would take no
 * longer to learn all it knows again.
 */
static inline bool kipt_memo_is_stale(const struct kipt_memo *memo)
{
	return memo->missed > memo->ways;
}

/**
 * kipt_memo_put() - enter a way into the table
 * @memo: the memo
 * @way: the way; its @hash is to be found by if there is room, unless it is 0
 * @second: it becomes its @hash otherwise; an older way may go for it
 */
void kipt_memo_put(struct kipt_memo *memo, struct kipt_way *way, u32 second);

/**
 * kipt_memo_worthy() - is a window worth a way
 * @memo: the memo
 * @hash: kipt_memo_second() of the window
 *
 * While there is much room all are. Then one is that was met lately: many never
 * come again.
 *
 * Return: true if so; else it is now one that was met.
 */
bool kipt_memo_worthy(struct kipt_memo *memo, u32 hash);

/**
 * kipt_memo_judge() - are windows worth their look-ups
 * @memo: the memo; @rest is set if not
 */
void kipt_memo_judge(struct kipt_memo *memo);

/**
 * kipt_hop_tnt() - what a short TNT's hop is found by
 * @block: number of the block it comes at, less than 1 << 24
 * @byte: the packet
 *
 * Return: the key, an even number; it stands for this packet only.
 */
static inline u32 kipt_hop_tnt(u32 block, u8 byte)
{
	return block << 8 | byte;
}

/**
 * kipt_hop_ip() - what an IP packet's hop is found by
 * @block: number of the block it comes at
 * @byte: the first of the packet
 * @ip: its address
 *
 * Return: the key, an odd number; other packets may have it too.
 */
static inline u32 kipt_hop_ip(u32 block, u8 byte, u64 ip)
{
	u64 mixed = (ip + byte) * 0x9e3779b97f4a7c15ULL +
		    block * 0xc2b2ae3d27d4eb4fULL;

	return (u32)(mixed >> 32) | 1;
}

/**
 * kipt_hop_place() - where a hop stands
 * @hops: the hops
 * @key: its key
 *
 * Return: the place; another may be there.
 */
static inline struct kipt_hop *kipt_hop_place(const struct kipt_hops *hops,
					      u32 key)
{
	return &hops->at[key >> 1 & (hops->size - 1)];
}

/**
 * kipt_hop_row() - where the hops of a block stand
 * @hops: the hops
 * @block: number of the block
 *
 * Return: bytes from the first hop on. Behind as many bytes as eight times the
 * short TNT stands kipt_hop_place() of its kipt_hop_tnt().
 */
static inline u32 kipt_hop_row(const struct kipt_hops *hops, u32 block)
{
	return (block * KIPT_HOPS_ROW & (hops->size - 1)) *
	       (u32)sizeof(struct kipt_hop);
}

/**
 * kipt_memo_put_hop() - have a packet's way at hand
 * @memo: the memo
 * @key: of the packet
 * @way: the way
 */
void kipt_memo_put_hop(struct kipt_memo *memo, u32 key,
		       const struct kipt_way *way);

/**
 * kipt_way_at() - a way by its number
 * @memo: the memo
 * @way: its first word
 *
 * Return: the way.
 */
static inline struct kipt_way *kipt_way_at(const struct kipt_memo *memo,
					   u32 way)
{
	return (struct kipt_way *)(void *)&memo->words[way];
}

static inline u32 kipt_way_number(const struct kipt_memo *memo,
				  const struct kipt_way *way)
{
	return (u32)((const u64 *)(const void *)way - memo->words);
}

/**
 * kipt_way_pushes() - the return addresses a way leaves on the stack
 * @way: the way
 *
 * Return: them, the youngest first; the guards follow.
 */
static inline const u64 *kipt_way_pushes(const struct kipt_way *way)
{
	return way->words;
}

/**
 * kipt_way_bytes() - the window of a way
 * @way: the way
 *
 * Return: @way->len bytes.
 */
static inline const u64 *kipt_way_bytes(const struct kipt_way *way)
{
	return way->words + way->pushes + way->guards;
}

/**
 * kipt_way_ips() - IP compression before and behind a way
 * @way: the way, of a window
 *
 * Return: two of them.
 */
static inline const u64 *kipt_way_ips(const struct kipt_way *way)
{
	return kipt_way_bytes(way) + (way->len + 7U) / 8;
}

/**
 * kipt_way_last_ip() - IP compression behind a way
 * @way: the way, of a window
 * @last_ip: before it
 *
 * Return: it.
 */
static inline u64 kipt_way_last_ip(const struct kipt_way *way, u64 last_ip)
{
	return way->keeps == KIPT_WINDOW_NO_IP ? last_ip : kipt_way_ips(way)[1];
}

/**
 * kipt_way_records() - the records of a way that has its own
 * @way: the way
 *
 * Return: them.
 */
static inline const struct kipt_record *
kipt_way_records(const struct kipt_way *way)
{
	return (const struct kipt_record *)(kipt_way_ips(way) + 2 * way->kind);
}

/**
 * kipt_way_steps() - what the way of a packet is made of
 * @way: the way
 *
 * Return: @way->listed KIPT_STEP_*.
 */
static inline const u32 *kipt_way_steps(const struct kipt_way *way)
{
	return (const u32 *)(const void *)(way->words + way->at);
}

/**
 * kipt_way_part() - one of the ways a window is made of
 * @memo: the memo
 * @way: of the window
 * @i: which, less than @way->listed
 *
 * Return: the way.
 */
static inline struct kipt_way *kipt_way_part(const struct kipt_memo *memo,
					     const struct kipt_way *way, u32 i)
{
	const u8 *parts = (const u8 *)(way->words + way->at);
	u32 number;

	memcpy(&number, parts + i * memo->part, sizeof(number));
	return kipt_way_at(memo, number & ~0U >> (32 - memo->part * 8));
}

/**
 * kipt_way_put_parts() - write what a window is made of
 * @memo: the memo
 * @way: of the window, in its place, with @at and @listed
 * @numbers: of the ways; a byte behind the list may be written
 */
static inline void kipt_way_put_parts(const struct kipt_memo *memo,
				      struct kipt_way *way, const u32 *numbers)
{
	u8 *parts = (u8 *)(way->words + way->at);
	u32 i;

	for (i = 0; i < way->listed; i++)
		memcpy(parts + i * memo->part, &numbers[i], sizeof(*numbers));
}

/**
 * kipt_way_size() - the words a way takes
 * @memo: the memo
 * @way: the way
 *
 * Return: at least KIPT_WAY_WORDS.
 */
static inline u32 kipt_way_size(const struct kipt_memo *memo,
				const struct kipt_way *way)
{
	u32 each = way->kind == KIPT_WAY_WINDOW ? memo->part : sizeof(u32);

	return (u32)KIPT_WAY_WORDS + way->at + (way->listed * each + 7) / 8;
}

/**
 * kipt_memo_second() - where a way is found if there was no room first
 * @hash: of the window
 * @block: number of the block it starts at
 * @top: youngest return address, if the way depends on it, or 0
 *
 * Return: the hash.
 */
static inline u32 kipt_memo_second(u32 hash, u32 block, u64 top)
{
	u64 mixed = hash + block * 0xc2b2ae3d27d4eb4fULL +
		    top * 0x9e3779b97f4a7c15ULL;

	return (u32)((mixed ^ mixed >> 29) * 0xd6e8feb86659fd93ULL >> 32);
}

/**
 * kipt_memo_key() - what tells ways of a bucket apart
 * @hash: that they are found by
 * @block: number of the block they start at
 *
 * Return: the key; its upper half is of the hash alone.
 */
static inline u32 kipt_memo_key(u32 hash, u32 block)
{
	return (hash & 0xffff0000U) | (u16)block;
}

/**
 * kipt_memo_bucket() - where a hash stands
 * @memo: the memo, @max not 0
 * @hash: of a window, or kipt_memo_second()
 *
 * Return: the bucket.
 */
static inline struct kipt_bucket *kipt_memo_bucket(const struct kipt_memo *memo,
						   u32 hash)
{
	return &memo->table[hash & (memo->size - 1)];
}

/**
 * kipt_bucket_match() - the places in a bucket that have a key
 * @bucket: the bucket
 * @key: the key
 * @mask: of the bits of it that count
 *
 * Without a branch: which place it is follows no pattern.
 *
 * Return: a bit for each place, the first lowest; free places may be among them.
 */
#ifdef __SSE2__
static inline u32 kipt_bucket_match(const struct kipt_bucket *bucket, u32 key,
				    u32 mask)
{
	const __m128i *keys = (const __m128i *)(const void *)bucket->key;
	__m128i masks = _mm_set1_epi32((int)mask), low, high;
	__m128i want = _mm_set1_epi32((int)(key & mask));

	low = _mm_and_si128(_mm_loadu_si128(keys), masks);
	high = _mm_and_si128(_mm_loadu_si128(keys + 1), masks);
	low = _mm_packs_epi32(_mm_cmpeq_epi32(low, want),
			      _mm_cmpeq_epi32(high, want));
	return (u32)_mm_movemask_epi8(_mm_packs_epi16(low, low)) & 0xff;
}
#else
static inline u32 kipt_bucket_match(const struct kipt_bucket *bucket, u32 key,
				    u32 mask)
{
	u32 match = 0, i;

	for (i = 0; i < KIPT_MEMO_BUCKET; i++)
		match |= (u32)!((bucket->key[i] ^ key) & mask) << i;
	return match;
}
#endif

/**
 * kipt_way_differs() - have a way and a window other bytes
 * @words: kipt_way_bytes() of the way
 * @window: of the same length
 *
 * Most have up to 48, and these are compared whether they are there or not: how
 * many there are follows no pattern.
 *
 * Return: not 0 if so.
 */
#ifdef __SSE2__
static inline u64 kipt_way_differs(const u64 *words,
				   const struct kipt_window *window)
{
	const __m128i *bytes = (const void *)words;
	const __m128i *other = (const void *)window->words;
	const __m128i *mask = (const void *)kipt_window_mask(window->len);
	__m128i differs = _mm_setzero_si128(), part;
	u32 i;

	for (i = 0; i < 3 || unlikely(i * 16 < window->len); i++) {
		part = _mm_xor_si128(_mm_loadu_si128(bytes + i),
				     _mm_loadu_si128(other + i));
		part = _mm_and_si128(part, _mm_loadu_si128(mask + i));
		differs = _mm_or_si128(differs, part);
	}
	differs = _mm_cmpeq_epi8(differs, _mm_setzero_si128());
	return (u64)_mm_movemask_epi8(differs) ^ 0xffff;
}
#else
static inline u64 kipt_way_differs(const u64 *words,
				   const struct kipt_window *window)
{
	u64 other = (words[1] ^ window->words[1]) & -(u64)(window->len > 8);
	u32 i;

	other |= words[0] ^ window->words[0];
	for (i = 2; unlikely(i * 8 < window->len); i++)
		other |= words[i] ^ window->words[i];
	return other;
}
#endif

/**
 * kipt_way_is() - is a way that of a window at a block
 * @way: the way
 * @window: the window
 * @block: number of the block
 * @last_ip: IP compression before the window
 *
 * Return: true if so.
 */
static inline bool kipt_way_is(const struct kipt_way *way,
			       const struct kipt_window *window, u32 block,
			       u64 last_ip)
{
	u64 before = *kipt_way_ips(way) ^ last_ip, other;

	other = kipt_way_differs(kipt_way_bytes(way), window);
	other |= before >> (way->keeps & 63) &
		 -(u64)(way->keeps != KIPT_WINDOW_NO_IP);
	return !(other | (way->block ^ block) | (way->len ^ window->len));
}

#endif /* KIPT_DECODE_MEMO_H */
