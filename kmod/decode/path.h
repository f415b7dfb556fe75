/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Paths: where a packet leads from a block, and what that does. The table they
 * are found in, with its memory.
 *
 * The theorem they stand on: if nothing is pending, the flow is at the path's
 * block, the packet is the path's, and the proof holds, then walking the code
 * gives the path's effect. Each clause has its check:
 *
 *  nothing is pending	kipt_path_may_run(), before paths are taken and before one
 *			is learnt; a path leaves nothing pending behind
 *  the block		@from has the block's number, which stands for address,
 *			address space, mode and version of the code
 *  the packet		of a short TNT @from has the byte itself; of an IP packet its
 *			opcode, and @to is the number of its address: is_ip_path()
 *  the proof		the return addresses that RETs used are on top of the stack
 *			again: take_stack()
 *  walking gives	the path was learnt by walking: kipt_path_learn(); the code
 *			behind a number is the same until kipt_flow_forget()
 *  the effect		where it leads (@to), what it does to the stack (@effect),
 *			what is told of it (@told)
 */
#ifndef KIPT_DECODE_PATH_H
#define KIPT_DECODE_PATH_H

#include "port.h"
#include "return_stack.h"

/* Paths that came behind a path. */
#define KIPT_PATH_NEXT		4U

/**
 * struct kipt_path - a path
 * @from: number of the block << 8 | the packet's first byte: that of a short TNT, or
 *	KIPT_PATH_TIP and its like
 * @to: number of the block it leads to
 * @effect: on the return stack: KIPT_STACK_* << 28 | what that says
 * @told: how often it was taken since it was last asked, or its number in PATH
 *	records, or the word at which its records stand
 * @next: hints: numbers of paths that came behind it, by kipt_path_slot() or
 *	kipt_path_slot_ip() of their packets
 */
struct kipt_path {
	u32 from;
	u32 to;
	u32 effect;
	u32 told;
	u32 next[KIPT_PATH_NEXT];
};

/* kipt_path.from of packets with an address: odd, as TNTs are even. */
#define KIPT_PATH_TIP		0x0dU
#define KIPT_PATH_PGE		0x11U
#define KIPT_PATH_PGD		0x01U
#define KIPT_PATH_PGD_NO_IP	0x03U
/* The bits of a packet's first byte that are its opcode. */
#define KIPT_PATH_OPCODE	0x1fU

/* kipt_path.effect >> KIPT_STACK_SHIFT */
enum kipt_stack_kind {
	KIPT_STACK_SAME,	/* nothing is left of what is done; argument: how many
				 * addresses are there at most in between
				 */
	KIPT_STACK_PUSH,	/* argument: number of the block behind the CALL */
	KIPT_STACK_RET,		/* a compressed RET: that of the block it goes to */
	KIPT_STACK_DROP,	/* a RET that got a TIP */
	KIPT_STACK_CLEAR,	/* nothing is known any more; argument: of a TIP.PGD,
				 * number of its address
				 */
	KIPT_STACK_MORE,	/* argument: word of a struct kipt_stack_effect */
};

#define KIPT_STACK_SHIFT	28
#define KIPT_STACK_ARGUMENT	((1U << KIPT_STACK_SHIFT) - 1)

/**
 * struct kipt_stack_effect - what a path does to the return stack
 * @net: see struct kipt_stack_watch
 * @low: see there
 * @high: see there
 * @guards: return addresses that have to be on the stack
 * @pushes: return addresses that it leaves there
 * @reserved: fills
 * @ips: the pushes, the youngest first, then the guards, the youngest first
 */
struct kipt_stack_effect {
	s8 net;
	u8 low;
	u8 high;
	u8 guards;
	u8 pushes;
	u8 reserved[3];
	u64 ips[];
};

/* Bytes of trace after which counts are folded. Tests make it small. */
#ifndef KIPT_PATHS_FOLD
#define KIPT_PATHS_FOLD	(1ULL << 30)
#endif
/* Records a path may have. */
#define KIPT_PATH_RECORDS	120U
/* Blocks it may go by: it is gone once more when counts are folded. */
#define KIPT_PATH_STEPS		256U
/* Numbers of blocks are less: @from has room for no more. */
#define KIPT_PATH_BLOCKS	(1U << 24)

/**
 * struct kipt_path_slot - a place in the table
 * @from: of the path
 * @number: of it; 0: the place is free
 */
struct kipt_path_slot {
	u32 from;
	u32 number;
};

/**
 * struct kipt_paths - the paths
 * @at: by number; number 0 is none, and stands for what came before the first
 * @count: numbers given, number 0 included
 * @max: there is memory for; 0: there are no paths
 * @slots: numbers by what they are found by, with open addressing
 * @size: of them in use, a power of two
 * @most: there is memory for
 * @words: memory for effects and records
 * @used: of it
 * @room: words there are; word 0 is not used
 * @full: there was no room
 * @numbers: numbers of PATH records given
 * @bytes: of the runs since counts were folded
 * @fold_at: where that is due in this run: no path is taken more often than there were
 *	bytes, so that no count is over 3 * KIPT_PATHS_FOLD
 * @last: number of the path taken or learnt last
 * @start: @from of the packet that is watched
 * @insns: instructions not told yet when it began
 * @crossings: the flow's then
 * @steps: the flow's then
 * @given: the flow's then
 */
struct kipt_paths {
	struct kipt_path *at;
	u32 count;
	u32 max;
	struct kipt_path_slot *slots;
	u32 size;
	u32 most;
	u64 *words;
	u32 used;
	u32 room;
	bool full;
	u32 numbers;
	u64 bytes;
	const u8 *fold_at;
	u32 last;
	u32 start;
	u64 insns;
	u32 crossings;
	u32 steps;
	u32 given;
};

/* kipt_path.told, of a number: there are records. */
#define KIPT_PATH_TELLS		(1U << 31)

/**
 * kipt_paths_init() - no paths
 * @paths: the paths
 * @at: memory of @max paths, the caller's
 * @max: 2 or more, or 0
 * @slots: memory of @nr_slots places, the caller's
 * @nr_slots: a power of two, more than @max, or 0
 * @words: memory of @room words, the caller's
 * @room: 1 or more; no more are used than KIPT_STACK_ARGUMENT can say
 */
void kipt_paths_init(struct kipt_paths *paths, struct kipt_path *at, u32 max,
		     struct kipt_path_slot *slots, u32 nr_slots, u64 *words, u32 room);

/**
 * kipt_paths_clear() - drop all paths; numbers are given anew
 * @paths: the paths
 */
void kipt_paths_clear(struct kipt_paths *paths);

/**
 * kipt_path_hash() - what a short TNT's path is found by if it needs no return address
 * @from: of the path
 *
 * Return: the hash.
 */
static inline u64 kipt_path_hash(u32 from)
{
	return from * 0x9e3779b97f4a7c15ULL;
}

/**
 * kipt_path_hash_ip() - what other paths are found by
 * @from: of the path
 * @ip: the packet's address, or the first return address that is needed
 *
 * Return: the hash.
 */
static inline u64 kipt_path_hash_ip(u32 from, u64 ip)
{
	return (from ^ ip * 0xc2b2ae3d27d4eb4fULL) * 0x9e3779b97f4a7c15ULL;
}

/**
 * kipt_paths_first() - where to begin to look
 * @paths: the paths, @max not 0
 * @hash: of what is looked for
 *
 * Return: the place.
 */
static inline struct kipt_path_slot *kipt_paths_first(const struct kipt_paths *paths,
						      u64 hash)
{
	return &paths->slots[(u32)(hash >> 32) & (paths->size - 1)];
}

/**
 * kipt_paths_next() - where to look next
 * @paths: the paths
 * @slot: the place before
 *
 * Return: the place.
 */
static inline struct kipt_path_slot *kipt_paths_next(const struct kipt_paths *paths,
						     struct kipt_path_slot *slot)
{
	return slot + 1 == paths->slots + paths->size ? paths->slots : slot + 1;
}

/**
 * kipt_path_slot() - which hint is for a short TNT
 * @byte: the packet
 *
 * Return: less than KIPT_PATH_NEXT.
 */
static inline u32 kipt_path_slot(u32 byte)
{
	return (byte >> 1 ^ byte >> 3 ^ byte >> 5) % KIPT_PATH_NEXT;
}

/**
 * kipt_path_slot_ip() - which hint is for an IP packet
 * @ip: its address
 *
 * Return: less than KIPT_PATH_NEXT.
 */
static inline u32 kipt_path_slot_ip(u64 ip)
{
	return (u32)(ip ^ ip >> 3 ^ ip >> 6) % KIPT_PATH_NEXT;
}

/**
 * kipt_path_more() - an effect of kind KIPT_STACK_MORE
 * @paths: the paths
 * @effect: of the path
 *
 * Return: it.
 */
static inline const struct kipt_stack_effect *
kipt_path_more(const struct kipt_paths *paths, u32 effect)
{
	return (const void *)&paths->words[effect & KIPT_STACK_ARGUMENT];
}

#endif /* KIPT_DECODE_PATH_H */
