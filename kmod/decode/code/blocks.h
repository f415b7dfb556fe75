/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The block cache: for an address, where straight-line code ends and how.
 * Owns the memory it was given and reads code through the caller's callback;
 * whether cached code is still right is for the caller to say
 * (kipt_block_forget()). Blocks have numbers, which stay until the cache is
 * emptied. Runs where the callback may.
 */
#ifndef KIPT_DECODE_BLOCKS_H
#define KIPT_DECODE_BLOCKS_H

#include "../flow.h"
#include "../index.h"
#include "insn.h"

/* No instruction starts further than this after the start of its block. */
#define KIPT_BLOCK_SPAN		64
/* The number of a block that is not cached: there is no room. */
#define KIPT_BLOCK_NONE		0U

/* Blocks a node has at most. */
#define KIPT_NODE_BLOCKS	16U
/* Blocks, at most, from a node to the one that uses a packet. */
#define KIPT_NODE_REACH	64U
/* The least config.step_limit: that many blocks are never walked for one packet. */
#define KIPT_NODE_STEPS	4096U

/* A link is the number of a block and the kind of its node (graph.h): what is done there is
 * known before it is loaded. 0 is none.
 */
#define KIPT_LINK_SHIFT		5
#define KIPT_LINK_KIND		31U

/**
 * struct kipt_node - what is followed from the start of a block on (graph.h)
 * @next: links past it, and to the target of its branch; 0: not made yet. After a CALL
 *	that is where its RET leads. Of a branch to the address of a packet the second is
 *	the number of the pair that was counted last
 * @count: how often it led past it, and to the target; only where counts are emitted, else
 *	the memory is that of @insns and @branch
 * @insns: its instructions
 * @branch: from @ip to the address of its branch
 * @ip: its address ^ kipt_mode_mark() of its mode
 * @space: address space
 */
struct kipt_node {
	u32 next[2];
	union {
		u32 count[2];
		struct {
			u32 insns;
			s32 branch;
		};
	};
	u64 ip;
	u64 space;
};

/**
 * struct kipt_double - where two outcomes lead from a node on
 * @next: links, by the two, the first in the upper bit; 0: not known
 * @count: where counts are emitted, how often
 * @insns: where calls are emitted, the instructions of the two nodes (KIPT_DOUBLE_INSNS()), and
 *	those after the last branch that was taken, 0 if none was (KIPT_DOUBLE_SINCE())
 *
 * Two conditional branches in a row are passed in one step.
 */
struct kipt_double {
	u32 next[4];
	union {
		u32 count[4];
		u32 insns[4];
	};
};

/* kipt_double.insns, and its parts, 16 bits each: a node has at most KIPT_NODE_BLOCKS *
 * KIPT_BLOCK_SPAN instructions.
 */
#define KIPT_DOUBLE(insns, since)	((insns) << 16 | (since))
#define KIPT_DOUBLE_INSNS(both)		((both) >> 16)
#define KIPT_DOUBLE_SINCE(both)		((both) & 0xffff)

/**
 * enum kipt_patched - is code patched: that of a block, or where it leads before a packet is used
 * @KIPT_PATCHED_NEVER: not yet
 * @KIPT_PATCHED_NOW: it was forgotten, and links still lead to what it was
 * @KIPT_PATCHED: no node goes on into the block and no link keeps its kind, so that forgetting
 *	what is patched again changes nothing but that block
 */
enum kipt_patched {
	KIPT_PATCHED_NEVER,
	KIPT_PATCHED_NOW,
	KIPT_PATCHED,
};

/* What distinguishes addresses of other modes than 64-bit: no canonical address has these bits
 * set and the highest clear, or the other way round.
 */
static inline u64 kipt_mode_mark(u32 mode)
{
	return mode == KIPT_EXEC_64 ? 0 : (u64)mode << 60;
}

/* kipt_node.ip of an address that is not canonical: no node is found by it. */
#define KIPT_NODE_NO_IP		(1ULL << 62)

/**
 * struct kipt_block - straight-line code
 * @ip: its first instruction
 * @space: address space
 * @target: direct branches: where to; RET: what the IP it pops is cut to
 * @starts: bit n set: an instruction starts at @ip + n
 * @taken: how often its direct branch was taken, if that is counted
 * @len: bytes up to the end of the last instruction
 * @last: offset of the last instruction
 * @insns: number of instructions, 1..64; 0: the code was not read yet
 * @class: of the last instruction; KIPT_INSN_OTHER: the span was used up
 * @mode: enum kipt_exec_kind
 * @pushes: it ends in a direct CALL whose return address is kept
 * @kind: enum kipt_node_kind: what the block does by itself; graph.h has a table of kinds
 * @reach: blocks from here to the one that uses a packet; 0: this one does. Not known if
 *	it is KIPT_PATCHED
 * @node: enum kipt_node_kind: that of the node which starts with this block, if it is built
 * @patched: enum kipt_patched
 * @reserved: fills
 * @on: number of the next block of a node
 * @end: number of the last block of the node that starts here
 *
 * 64 bytes, one cache line.
 */
struct kipt_block {
	u64 ip;
	u64 space;
	u64 target;
	u64 starts;
	u64 taken;
	u8 len;
	u8 last;
	u8 insns;
	u8 class;
	u8 mode;
	bool pushes;
	u8 kind;
	u8 reach;
	u8 node;
	u8 patched;
	u8 reserved[6];
	u32 on;
	u32 end;
};

/**
 * struct kipt_blocks - the cache
 * @table: blocks by number; number 0 is the one there was no room for
 * @nodes: by number; NULL: there are none
 * @doubles: by number of the node
 * @index: links by address; the kind in each is @node of its block, if that is not
 *	KIPT_PATCHED
 */
struct kipt_blocks {
	struct kipt_block *table;
	struct kipt_node *nodes;
	struct kipt_double *doubles;
	struct kipt_index index;
};

/**
 * kipt_blocks_add() - give an address a number; slow half of number
 * @blocks: the cache
 * @space: address space
 * @ip: address
 * @mode: enum kipt_exec_kind
 *
 * Return: the number, or KIPT_BLOCK_NONE if there is no room.
 */
u32 kipt_blocks_add(struct kipt_blocks *blocks, u64 space, u64 ip, u32 mode);

/**
 * kipt_blocks_fill() - read the code of a block; slow half of find
 * @blocks: the cache
 * @code: where code comes from
 * @number: of the block; KIPT_BLOCK_NONE: any other may be in its place
 * @space: address space
 * @ip: address
 * @mode: enum kipt_exec_kind
 *
 * Return:
 * KIPT_OK: the block of that number is right.
 * KIPT_NO_CODE: there are no bytes for a whole instruction.
 * KIPT_BAD_INSN: the bytes are none.
 */
enum kipt_status kipt_blocks_fill(struct kipt_blocks *blocks,
				  const struct kipt_code *code, u32 number,
				  u64 space, u64 ip, u32 mode);

/**
 * struct kipt_code_range - code, and how far its blocks were looked for
 * @space: address space; KIPT_FLOW_SPACES: any
 * @begin: first address
 * @end: last address + 1
 * @ip: next address to look at, if @by_ip
 * @at: next place in the index, or number
 * @by_ip: blocks are found by their addresses: there are few
 */
struct kipt_code_range {
	u64 space;
	u64 begin;
	u64 end;
	u64 ip;
	u32 at;
	bool by_ip;
};

/* A range of more bytes is not taken for a patch: all of its code may be other code. */
#define KIPT_PATCH_MAX		64U

/**
 * kipt_code_range_of() - a range whose blocks are looked for
 * @blocks: the cache
 * @space: address space; KIPT_FLOW_SPACES: any
 * @begin: first address
 * @end: last address + 1
 *
 * Return: the range.
 */
struct kipt_code_range kipt_code_range_of(const struct kipt_blocks *blocks, u64 space, u64 begin,
					  u64 end);

/**
 * kipt_code_range_next() - the next block that was read and touches a range
 * @range: the range; no block was added since kipt_code_range_of()
 * @blocks: the cache
 *
 * Return: its number; KIPT_BLOCK_NONE: there are no more.
 */
u32 kipt_code_range_next(struct kipt_code_range *range, const struct kipt_blocks *blocks);

/**
 * kipt_block_forget() - have the code of a block read again
 * @block: the block, which was read
 * @patch: some of it is patched, the rest stays
 *
 * Return: true if nodes and links are wrong now (kipt_graph_forget()).
 */
bool kipt_block_forget(struct kipt_block *block, bool patch);

/**
 * kipt_block_is_patched() - does the graph treat a block as code that is patched again and again
 * @block: the block
 *
 * Return: true if it is KIPT_PATCHED.
 */
static inline bool kipt_block_is_patched(const struct kipt_block *block)
{
	return block->patched == KIPT_PATCHED;
}

/**
 * kipt_block_end_ip() - the address after a block
 * @block: the block; addresses of 32 and 16-bit code wrap
 *
 * Return: the address.
 */
static inline u64 kipt_block_end_ip(const struct kipt_block *block)
{
	u64 ip = block->ip + block->len;

	return block->mode == KIPT_EXEC_64 ? ip : (u32)ip;
}

/**
 * kipt_block_last_insn() - the address of a block's last instruction
 * @block: the block
 *
 * Return: the address.
 */
static inline u64 kipt_block_last_insn(const struct kipt_block *block)
{
	return block->ip + block->last;
}

/**
 * kipt_block_return() - where a RET goes
 * @block: ends in it
 * @pushed: the address after the CALL
 *
 * Of 16-bit code addresses have the base of the segment in them, the popped IP has
 * not. CALL and RET have the same base if they are less than 64 KiB apart; if not,
 * the upper bits are those of the RET.
 *
 * Return: the address.
 */
static inline u64 kipt_block_return(const struct kipt_block *block, u64 pushed)
{
	u64 mask = block->target;

	if (likely(block->mode != KIPT_EXEC_16))
		return pushed & mask;
	if (pushed - block->ip + 0xffff <= 2 * 0xffff)
		return pushed;
	return (block->ip & ~mask) | (pushed & mask);
}

/**
 * kipt_block_index() - how many instructions are before an address
 * @block: the block
 * @ip: address
 *
 * Return: the number; -1 if no instruction of the block starts at @ip.
 */
s32 kipt_block_index(const struct kipt_block *block, u64 ip);

static inline u64 kipt_block_key(u64 space, u64 ip)
{
	return ip ^ space << 48 ^ space >> 5;
}

static inline bool kipt_block_is(const struct kipt_block *block, u64 space,
				 u64 ip, u32 mode)
{
	return block->ip == ip && block->space == space && block->mode == mode;
}

/* @asked: an address space, or KIPT_FLOW_SPACES. */
static inline bool kipt_space_matches(u64 space, u64 asked)
{
	return space == asked || asked == KIPT_FLOW_SPACES;
}

/**
 * kipt_block_touches() - does a block depend on code in a range
 * @block: the block
 * @space: address space; KIPT_FLOW_SPACES: any
 * @begin: first address
 * @end: last address + 1
 *
 * Return: true if so.
 */
static inline bool kipt_block_touches(const struct kipt_block *block, u64 space,
				      u64 begin, u64 end)
{
	/* It may end where bytes are no instruction, or cannot be read. */
	u32 more = block->class == KIPT_INSN_OTHER ? KIPT_INSN_MAX_LEN : 0;

	return kipt_space_matches(block->space, space) && block->ip < end && block->len &&
	       (begin <= block->ip || begin - block->ip < block->len + more);
}

/**
 * kipt_blocks_look() - the number of an address, if it has one
 * @blocks: the cache
 * @space: address space
 * @ip: address
 * @mode: enum kipt_exec_kind
 *
 * Return: the number, or KIPT_BLOCK_NONE.
 */
static inline u32 kipt_blocks_look(const struct kipt_blocks *blocks, u64 space, u64 ip, u32 mode)
{
	u32 at = kipt_index_first(&blocks->index, kipt_block_key(space, ip));
	u32 number;

	while ((number = blocks->index.slots[at] >> KIPT_LINK_SHIFT) != 0) {
		if (likely(kipt_block_is(&blocks->table[number], space, ip, mode)))
			break;
		at = kipt_index_next(&blocks->index, at);
	}
	return number;
}

/**
 * kipt_blocks_number() - the number of an address, read or not
 * @blocks: the cache
 * @space: address space
 * @ip: address
 * @mode: enum kipt_exec_kind
 *
 * Return: as kipt_blocks_add().
 */
static inline u32 kipt_blocks_number(struct kipt_blocks *blocks, u64 space,
				     u64 ip, u32 mode)
{
	u32 number = kipt_blocks_look(blocks, space, ip, mode);

	return likely(number != KIPT_BLOCK_NONE) ? number :
						   kipt_blocks_add(blocks, space, ip, mode);
}

/**
 * kipt_blocks_find() - the block at an address
 * @blocks: the cache
 * @code: where code comes from if it is not cached
 * @space: address space
 * @ip: address
 * @mode: enum kipt_exec_kind
 * @block: the block, valid until the next find; only on success
 *
 * Return: as kipt_blocks_fill().
 */
static inline enum kipt_status
kipt_blocks_find(struct kipt_blocks *blocks, const struct kipt_code *code,
		 u64 space, u64 ip, u32 mode, const struct kipt_block **block)
{
	u32 number = kipt_blocks_number(blocks, space, ip, mode);

	*block = &blocks->table[number];
	if (likely(number != KIPT_BLOCK_NONE && (*block)->insns))
		return KIPT_OK;
	return kipt_blocks_fill(blocks, code, number, space, ip, mode);
}

/**
 * kipt_node_last() - the last block of a node
 * @blocks: the cache
 * @number: of a node that was built
 *
 * Return: the block.
 */
static inline struct kipt_block *kipt_node_last(const struct kipt_blocks *blocks, u32 number)
{
	return &blocks->table[blocks->table[number].end];
}

/**
 * kipt_node_blocks() - the blocks of a node
 * @blocks: the cache
 * @number: of a node that was built
 * @list: written: at most KIPT_NODE_BLOCKS, in order
 *
 * Return: how many.
 */
u32 kipt_node_blocks(const struct kipt_blocks *blocks, u32 number, struct kipt_block **list);

#endif /* KIPT_DECODE_BLOCKS_H */
