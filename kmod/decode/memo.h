/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The memo: where a window of trace bytes leads from a block, what happens on
 * the way, and what it does to the return stack. Owns the table and the tapes;
 * who fills it and uses it is flow_memo.c. Any context.
 *
 * A window is up to 8 short TNT packets and PADs and then, or not, one TIP,
 * TIP.PGE or TIP.PGD, with MTCs and CYCs between them that make no difference.
 * Same block, same packets, same target and same return addresses where they
 * are used: same way.
 */
#ifndef KIPT_DECODE_MEMO_H
#define KIPT_DECODE_MEMO_H

#include "port.h"
#include "status.h"

#define KIPT_MEMO_FIRST		2048U
#define KIPT_MEMO_PER_SEEN	2U
/* Short TNTs of a window, and packets that only tell time among them. */
#define KIPT_MEMO_TNTS		8
#define KIPT_MEMO_TIMES		8
/* Return addresses that stand in the entry itself. */
#define KIPT_MEMO_GUARDS	2

/**
 * struct kipt_window - what a memo entry is found by
 * @key: the TNT packets and PADs, the first in the lowest byte, then zeros
 * @target: of the IP packet; 0: none
 * @tag: number of the block at the start in the lower half; in the upper half
 *	the first byte of the IP packet, 0: none, and KIPT_TAG_PACKET
 */
struct kipt_window {
	u64 key;
	u64 target;
	u64 tag;
};

/* The way of a packet alone, of which those of windows are made. */
#define KIPT_TAG_PACKET	(1ULL << 63)

/**
 * struct kipt_memo_entry - one way
 * @key: as in the window
 * @target: as in the window
 * @tag: as in the window; 0: the entry is free
 * @guard: youngest return addresses, the first @guards of them must be on the
 *	stack; further ones on the tape
 * @to: number of the block it leads to
 * @count: how often it was taken, or the number of its path
 * @tape: what happens: number of a struct kipt_tape's first word
 * @hash: that it stands by
 * @tail: instructions behind the last record, or all if there is none
 * @guards: return addresses it takes from the stack and jumps to
 * @pushes: return addresses it leaves on the stack
 * @net: by how much the stack's top moves
 * @low: depth of the stack is at least this afterwards
 * @high: and at most this
 * @records: how many records happen, 255: or more
 *
 * 64 bytes, one cache line.
 */
struct kipt_memo_entry {
	u64 key;
	u64 target;
	u64 tag;
	u64 guard[KIPT_MEMO_GUARDS];
	u32 to;
	u32 count;
	u32 tape;
	u32 hash;
	u16 tail;
	u8 guards;
	u8 pushes;
	s8 net;
	u8 low;
	u8 high;
	u8 records;
};

/* A step of a tape: the number of a block that was executed to its end, or
 * with KIPT_STEP_EDGE the number of an indirect edge taken there. The number
 * has 28 bits.
 */
#define KIPT_STEP_TAKEN		(1U << 31)	/* its direct branch was taken */
#define KIPT_STEP_EDGE		(1U << 30)
#define KIPT_STEP_START		(1U << 29)	/* tracing was off before */
#define KIPT_STEP_NUMBER	((1U << 28) - 1)

/**
 * struct kipt_tape - what a way is made of
 * @parts: of a window: tapes of its packets, one behind the other; 0: this is
 *	the tape of one packet
 * @reserved: fills
 * @steps: number of steps
 * @records: number of records
 * @at: word at which the numbers of the parts, or the steps, start
 * @tail: instructions behind the last record, or all if there is none
 * @path: number of the path, if it has one
 *
 * Behind it follow in words the return addresses left on the stack, the
 * youngest first, the guards that are not in the entry, the records, then the
 * steps; or the parts and a byte for each, how many records come up to its end.
 */
struct kipt_tape {
	u8 parts;
	u8 reserved;
	u16 steps;
	u16 records;
	u16 at;
	u32 tail;
	u32 path;
};

#define KIPT_TAPE_WORDS	(sizeof(struct kipt_tape) / sizeof(u64))

/**
 * struct kipt_memo - the memo
 * @table: pairs of entries
 * @size: entries in use, a power of two
 * @max: entries there is memory for, a power of two; 0: there is no memo
 * @count: entries filled
 * @seen: of windows met lately, the upper half of kipt_memo_second()
 * @seen_size: a power of two
 * @tapes: memory of the tapes; word 0 is not used
 * @used: words of it
 * @words: words there are
 * @paths: numbers of paths given
 * @full: a tape was wanted and there was no room
 */
struct kipt_memo {
	struct kipt_memo_entry *table;
	u32 size;
	u32 max;
	u32 count;
	u16 *seen;
	u32 seen_size;
	u64 *tapes;
	u32 used;
	u32 words;
	u32 paths;
	bool full;
};

/**
 * kipt_memo_init() - an empty memo
 * @memo: the memo
 * @table: memory of @max entries, 64-byte aligned, the caller's
 * @max: a power of two >= 2, or 0
 * @seen: memory of @max / KIPT_MEMO_PER_SEEN numbers, the caller's
 * @tapes: memory of @words words, the caller's
 * @words: 1 or more
 */
void kipt_memo_init(struct kipt_memo *memo, struct kipt_memo_entry *table,
		    u32 max, u16 *seen, u64 *tapes, u32 words);

/**
 * kipt_memo_clear() - drop everything
 * @memo: the memo
 */
void kipt_memo_clear(struct kipt_memo *memo);

/**
 * kipt_memo_grow() - double the table
 * @memo: the memo; @size is less than @max; entries move
 */
void kipt_memo_grow(struct kipt_memo *memo);

/**
 * kipt_memo_tape() - memory for a tape
 * @memo: the memo; @full is set if there is no room
 * @words: its size in 8-byte words, 1 or more
 *
 * Return: the number of its first word, or 0.
 */
u32 kipt_memo_tape(struct kipt_memo *memo, u32 words);

/**
 * kipt_tape_at() - a tape by its number
 * @memo: the memo
 * @tape: its first word
 *
 * Return: the tape.
 */
static inline struct kipt_tape *kipt_tape_at(const struct kipt_memo *memo,
					     u32 tape)
{
	return (struct kipt_tape *)(void *)&memo->tapes[tape];
}

/**
 * kipt_tape_list() - the parts of a tape, or its steps
 * @tape: the tape
 *
 * Return: numbers of tapes, or KIPT_STEP_*.
 */
static inline u32 *kipt_tape_list(const struct kipt_tape *tape)
{
	return (u32 *)((u64 *)(void *)tape + tape->at);
}

/**
 * kipt_tape_pushes() - the return addresses a way leaves on the stack
 * @tape: of the way
 *
 * Return: them, the youngest first; the guards that are not in the entry
 * follow.
 */
static inline u64 *kipt_tape_pushes(const struct kipt_tape *tape)
{
	return (u64 *)(void *)tape + KIPT_TAPE_WORDS;
}

/**
 * kipt_tape_upto() - how many records come up to the end of each part
 * @tape: of a window
 *
 * Return: a byte for each part.
 */
static inline u8 *kipt_tape_upto(const struct kipt_tape *tape)
{
	return (u8 *)(kipt_tape_list(tape) + tape->parts);
}

/**
 * kipt_tape_records() - the records of a tape
 * @tape: the tape
 *
 * Return: them.
 */
static inline struct kipt_record *
kipt_tape_records(const struct kipt_tape *tape)
{
	return (struct kipt_record *)((u64 *)(void *)tape + tape->at) -
	       tape->records;
}

/**
 * kipt_memo_worthy() - is a window worth an entry
 * @memo: the memo
 * @hash: kipt_memo_second() of the window
 *
 * While there is much room all are. Then one is that was met lately: many never
 * come again.
 *
 * Return: true if so; else it is now one that was met.
 */
bool kipt_memo_worthy(struct kipt_memo *memo, u32 hash);

/* Hashes multiply by odd constants without pattern; upper bits are used. */
#define KIPT_MEMO_MIX_A	0x9e3779b97f4a7c15ULL
#define KIPT_MEMO_MIX_B	0xc2b2ae3d27d4eb4fULL
#define KIPT_MEMO_MIX_C	0xd6e8feb86659fd93ULL
#define KIPT_MEMO_MIX_D	0x165667b19e3779f9ULL

/**
 * kipt_memo_hash() - where a window stands first, whatever its block is
 * @window: its @tag does not matter
 * @before: IP of the packet right before the window, or 0 if that was another:
 *	often it tells which block it is
 *
 * All it needs is in the trace: the place can be fetched before the flow gets
 * there.
 *
 * Return: the hash.
 */
static inline u32 kipt_memo_hash(const struct kipt_window *window, u64 before)
{
	u64 hash = window->key * KIPT_MEMO_MIX_A +
		   window->target * KIPT_MEMO_MIX_B + before * KIPT_MEMO_MIX_D;

	return (u32)((hash ^ hash >> 29) * KIPT_MEMO_MIX_C >> 32);
}

/**
 * kipt_memo_second() - where a window stands if there was no room first
 * @hash: kipt_memo_hash()
 * @tag: of the window
 * @top: youngest return address, if the way depends on it, or 0
 *
 * Return: the hash.
 */
static inline u32 kipt_memo_second(u32 hash, u64 tag, u64 top)
{
	u64 mixed = hash + tag * KIPT_MEMO_MIX_B + top * KIPT_MEMO_MIX_A;

	return (u32)((mixed ^ mixed >> 29) * KIPT_MEMO_MIX_C >> 32);
}

/**
 * kipt_memo_pair() - the two entries that a hash stands for
 * @memo: the memo, @max not 0
 * @hash: kipt_memo_hash() or kipt_memo_second()
 *
 * Return: the first of them.
 */
static inline struct kipt_memo_entry *
kipt_memo_pair(const struct kipt_memo *memo, u32 hash)
{
	return &memo->table[hash & (memo->size - 1) & ~1U];
}

static inline bool kipt_memo_is(const struct kipt_memo_entry *entry,
				const struct kipt_window *window)
{
	return ((entry->key ^ window->key) | (entry->target ^ window->target) |
		(entry->tag ^ window->tag)) == 0;
}

#endif /* KIPT_DECODE_MEMO_H */
