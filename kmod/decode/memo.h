/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The memo: where a window of trace bytes leads from a block, what happens on
 * the way, and what it does to the return stack. Owns the table and the tapes;
 * who fills it and uses it is flow_memo.c. Any context.
 *
 * A window is up to 8 short TNT packets and PADs and then, or not, one TIP,
 * TIP.PGE or TIP.PGD. Same block, same bytes, same target and same return
 * addresses where they are used: same way.
 */
#ifndef KIPT_DECODE_MEMO_H
#define KIPT_DECODE_MEMO_H

#include "port.h"
#include "status.h"

#define KIPT_MEMO_FIRST		2048U
/* Return addresses that stand in the entry itself. */
#define KIPT_MEMO_GUARDS	2

/**
 * struct kipt_window - what a memo entry is found by
 * @key: the TNT packets and PADs, the first in the lowest byte, then zeros
 * @target: of the IP packet; 0: none
 * @tag: number of the block at the start in the lower half; in the upper half
 *	the first byte of the IP packet, 0: none
 * @top: youngest return address, or 0 where RETs are not compressed
 */
struct kipt_window {
	u64 key;
	u64 target;
	u64 tag;
	u64 top;
};

/**
 * struct kipt_memo_entry - one way
 * @key: as in the window
 * @target: as in the window
 * @tag: as in the window; 0: the entry is free
 * @guard: youngest return addresses, the first @guards of them must be on the
 *	stack; further ones on the tape. @guard[0] is the window's @top if
 *	there are none
 * @to: number of the block it leads to
 * @count: how often it was taken, or the number of its path
 * @tape: what happens, in 8-byte words of the memo's tapes, see
 *	struct kipt_tape; 0: nothing
 * @tail: instructions behind the last record, or all if there is none
 * @guards: return addresses it takes from the stack and jumps to
 * @pushes: return addresses it leaves on the stack
 * @net: by how much the stack's top moves
 * @low: depth of the stack is at least this afterwards
 * @high: and at most this
 * @records: on the tape
 * @reserved: fills the line
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
	u32 tail;
	u8 guards;
	u8 pushes;
	s8 net;
	u8 low;
	u8 high;
	u8 records;
	u8 reserved[2];
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
 * struct kipt_tape - what a way is made of, as it stands in the memo
 * @nr_steps: of @steps
 * @steps: blocks and edges in order, KIPT_STEP_*
 *
 * A tape's first word says where its steps are; then come the return addresses
 * pushed, the youngest first, the guards that are not in the entry, and the
 * records, if they are kept.
 */
struct kipt_tape {
	u32 nr_steps;
	const u32 *steps;
};

/**
 * struct kipt_memo - the memo
 * @table: pairs of entries
 * @size: entries in use, a power of two
 * @max: entries there is memory for, a power of two; 0: there is no memo
 * @count: entries filled
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
 * @tapes: memory of @words words, the caller's
 * @words: 1 or more
 */
void kipt_memo_init(struct kipt_memo *memo, struct kipt_memo_entry *table,
		    u32 max, u64 *tapes, u32 words);

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
 * kipt_tape_read() - the steps of a tape
 * @memo: the memo
 * @tape: its first word
 * @read: filled
 */
static inline void kipt_tape_read(const struct kipt_memo *memo, u32 tape,
				  struct kipt_tape *read)
{
	const u64 *words = &memo->tapes[tape];

	read->nr_steps = (u32)words[0];
	read->steps = (const u32 *)(const void *)(words + (words[0] >> 32));
}

/**
 * kipt_tape_pushes() - the return addresses a way leaves on the stack
 * @memo: the memo
 * @entry: the way
 *
 * Return: them, the youngest first.
 */
static inline const u64 *kipt_tape_pushes(const struct kipt_memo *memo,
					  const struct kipt_memo_entry *entry)
{
	return &memo->tapes[entry->tape + 1];
}

/**
 * kipt_tape_guards() - the guards that are not in the entry
 * @memo: the memo
 * @entry: the way
 *
 * Return: them, from the one behind the entry's last on.
 */
static inline const u64 *kipt_tape_guards(const struct kipt_memo *memo,
					  const struct kipt_memo_entry *entry)
{
	return kipt_tape_pushes(memo, entry) + entry->pushes;
}

/**
 * kipt_tape_records() - the records of a way, if the memo keeps them
 * @memo: the memo
 * @entry: the way
 *
 * Return: them.
 */
static inline const void *
kipt_tape_records(const struct kipt_memo *memo,
		  const struct kipt_memo_entry *entry)
{
	return kipt_tape_guards(memo, entry) +
	       (entry->guards > KIPT_MEMO_GUARDS ?
		entry->guards - KIPT_MEMO_GUARDS : 0);
}

/* Odd constants without pattern; the sum's upper bits are the hash. */
static inline u64 kipt_memo_hash(const struct kipt_window *window)
{
	u64 hash = window->key * 0x9e3779b97f4a7c15ULL +
		   window->target * 0xc2b2ae3d27d4eb4fULL +
		   window->top * 0x165667b19e3779f9ULL;

	hash ^= hash >> 29;
	return (hash + window->tag) * 0xd6e8feb86659fd93ULL;
}

/**
 * kipt_memo_pair() - the two entries a window may be in
 * @memo: the memo, @max not 0
 * @hash: of the window
 *
 * Return: the first of them.
 */
static inline struct kipt_memo_entry *
kipt_memo_pair(const struct kipt_memo *memo, u64 hash)
{
	return &memo->table[(hash >> 32) & (memo->size - 1) & ~1ULL];
}

static inline bool kipt_memo_is(const struct kipt_memo_entry *entry,
				const struct kipt_window *window)
{
	return ((entry->key ^ window->key) | (entry->target ^ window->target) |
		(entry->tag ^ window->tag)) == 0;
}

#endif /* KIPT_DECODE_MEMO_H */
