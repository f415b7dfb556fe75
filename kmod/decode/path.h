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
 *			opcode, and the second of @ips is its address
 *  the proof		the return addresses that RETs used are on top of the stack
 *			again; of a user address the kernel goes to, the address
 *			space is that of @to
 *  walking gives	the path was learnt by walking: kipt_path_learn(); the code
 *			behind a number is the same until kipt_flow_forget()
 *  the effect		where it leads (@to), what it does to the stack (@net, @low,
 *			@high, @ips), what is told of it (@told)
 */
#ifndef KIPT_DECODE_PATH_H
#define KIPT_DECODE_PATH_H

#include "index.h"
#include "packet.h"
#include "port.h"
#include "return_stack.h"

/* Paths that came behind a path. */
#define KIPT_PATH_NEXT		8U

/**
 * struct kipt_path - a path
 * @from: number of the block << 8 | the packet's first byte: that of a short TNT, or
 *	KIPT_PATH_TIP and its like
 * @to: number of the block it leads to
 * @told: its number in PATH records, and KIPT_PATH_TELLS
 * @net: what is added to the depth of the return stack
 * @low: depth is at least this behind it, whatever it was before
 * @high: and at most this
 * @shape: KIPT_SHAPE_*: what @ips are
 * @next: hints: numbers of paths that came behind it, by their packets
 * @ips: the return addresses that have to be on the stack, the youngest first, then
 *	those that the path leaves there, the youngest first; in the second the
 *	address of an IP packet
 *
 * 64 bytes, one cache line: all that is needed to take it.
 */
struct kipt_path {
	u32 from;
	u32 to;
	u32 told;
	s8 net;
	u8 low;
	u8 high;
	u8 shape;
	u32 next[KIPT_PATH_NEXT];
	u64 ips[2];
};

/* kipt_path.from of packets with an address: odd, as TNTs are even. */
#define KIPT_PATH_TIP		KIPT_OPCODE_TIP
#define KIPT_PATH_PGE		KIPT_OPCODE_TIP_PGE
#define KIPT_PATH_PGD		KIPT_OPCODE_TIP_PGD
#define KIPT_PATH_PGD_NO_IP	0x03U
/* The bits of a packet's first byte that are its opcode. */
#define KIPT_PATH_OPCODE	KIPT_OPCODE_IP_MASK

/* kipt_path.shape: one address, or two, have to be on the stack; ... */
#define KIPT_SHAPE_GUARD	0x01U
#define KIPT_SHAPE_GUARDS	0x02U
/* ... one, or two, are left there. */
#define KIPT_SHAPE_PUSH		0x04U
#define KIPT_SHAPE_PUSHES	0x08U
/* Nothing is known of the stack any more. */
#define KIPT_SHAPE_CLEARS	0x10U
/* An address of user space that the kernel goes to: it is another in each process. */
#define KIPT_SHAPE_SPACE	0x20U
/* There are more: the first of @ips is the word of a struct kipt_path_more. */
#define KIPT_SHAPE_MORE		0x40U
/* What takes more than a look at the path. */
#define KIPT_SHAPE_CARE		(KIPT_SHAPE_SPACE | KIPT_SHAPE_MORE)

/**
 * struct kipt_path_more - addresses of a path that has no room for them
 * @guards: return addresses that have to be on the stack
 * @pushes: return addresses that it leaves there
 * @ips: the guards, the youngest first, then the pushes, the youngest first
 */
struct kipt_path_more {
	u32 guards;
	u32 pushes;
	u64 ips[];
};

/* Records a path may have. */
#define KIPT_PATH_RECORDS	120U
/* Blocks it may go by: they are gone by once more where trace and code contradict each other. */
#define KIPT_PATH_STEPS		256U
/* Paths for one block and packet that a look goes by: they differ in return addresses
 * that are not the youngest, or have the same hash.
 */
#define KIPT_PATHS_ALIKE	16U
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
 * @words: memory for effects
 * @used: of it
 * @room: words there are; word 0 is not used
 * @full: there was no room
 * @factor: odd; as that of an index
 * @numbers: numbers of PATH records given
 * @last: number of the path taken or learnt last
 * @start: @from of the packet that is watched
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
	u64 factor;
	u32 numbers;
	u32 last;
	u32 start;
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
 * @room: 1 or more; 2^31 at most are used
 */
void kipt_paths_init(struct kipt_paths *paths, struct kipt_path *at, u32 max,
		     struct kipt_path_slot *slots, u32 nr_slots, u64 *words, u32 room);

/**
 * kipt_paths_clear() - drop all paths; numbers are given anew
 * @paths: the paths
 */
void kipt_paths_clear(struct kipt_paths *paths);

/**
 * kipt_paths_alike() - are there too many like it
 * @paths: the paths
 * @path: not put yet
 *
 * Return: true if KIPT_PATHS_ALIKE are looked at before it would be found: it is not to
 * be put.
 */
bool kipt_paths_alike(const struct kipt_paths *paths, const struct kipt_path *path);

/**
 * kipt_paths_put() - one more path
 * @paths: the paths; @last is its number, or @full is set if there is no room
 * @path: none that is found by the same
 */
void kipt_paths_put(struct kipt_paths *paths, const struct kipt_path *path);

/**
 * kipt_path_hash() - what a path is found by
 * @paths: where
 * @from: of the path
 * @ip: the address of an IP packet, or the youngest return address that has to be on
 *	the stack; 0 if there is neither
 *
 * Return: the hash.
 */
static inline u64 kipt_path_hash(const struct kipt_paths *paths, u32 from, u64 ip)
{
	return (from ^ ip * paths->factor) * KIPT_INDEX_FACTOR;
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
 * kipt_path_more() - the addresses of a path that has more of them
 * @paths: the paths
 * @path: one with KIPT_SHAPE_MORE
 *
 * Return: them.
 */
static inline const struct kipt_path_more *
kipt_path_more(const struct kipt_paths *paths, const struct kipt_path *path)
{
	return (const void *)&paths->words[path->ips[0]];
}

/**
 * kipt_path_guards() - the return addresses that have to be on the stack
 * @paths: the paths
 * @path: one of them
 * @n: written: how many
 *
 * Return: they, the youngest first.
 */
static inline const u64 *kipt_path_guards(const struct kipt_paths *paths,
					  const struct kipt_path *path, u32 *n)
{
	if (path->shape & KIPT_SHAPE_MORE) {
		*n = kipt_path_more(paths, path)->guards;
		return kipt_path_more(paths, path)->ips;
	}
	*n = (path->shape & KIPT_SHAPE_GUARD) + (path->shape >> 1 & 1);
	return path->ips;
}

#endif /* KIPT_DECODE_PATH_H */
