/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The block cache: for an address, where straight-line code ends and how.
 * Owns the memory it was given and reads code through the caller's callback;
 * whether cached code is still right is for the caller to say
 * (kipt_blocks_forget()). Runs where the callback may.
 */
#ifndef KIPT_DECODE_BLOCKS_H
#define KIPT_DECODE_BLOCKS_H

#include "flow.h"
#include "insn.h"

/* No instruction starts further than this behind the start of its block. */
#define KIPT_BLOCK_SPAN		64

/**
 * struct kipt_block - straight-line code
 * @ip: its first instruction
 * @space: address space
 * @target: direct branches: where to; RET: mask of the return address
 * @starts: bit n set: an instruction starts at @ip + n
 * @len: bytes up to the end of the last instruction
 * @last: offset of the last instruction
 * @insns: number of instructions, 1..64
 * @class: of the last instruction; KIPT_INSN_OTHER: the span was used up
 * @mode: enum kipt_mode_kind; 0: the slot is empty
 * @reserved: fills the line
 *
 * 64 bytes, one cache line.
 */
struct kipt_block {
	u64 ip;
	u64 space;
	u64 target;
	u64 starts;
	u8 len;
	u8 last;
	u8 insns;
	u8 class;
	u8 mode;
	u8 reserved[27];
};

/**
 * struct kipt_blocks - the cache: sets of two, youngest first
 * @table: the caller's memory
 * @count: slots, a power of two >= 2
 * @shift: 64 - log2(@count)
 */
struct kipt_blocks {
	struct kipt_block *table;
	u32 count;
	u32 shift;
};

/**
 * kipt_blocks_init() - an empty cache
 * @blocks: the cache
 * @table: memory of @count blocks, 64-byte aligned, the caller's
 * @count: a power of two >= 2
 */
void kipt_blocks_init(struct kipt_blocks *blocks, struct kipt_block *table,
		      u32 count);

/**
 * kipt_blocks_fill() - read code and cache the block; slow half of find
 * @blocks: the cache
 * @code: where code comes from
 * @space: address space
 * @ip: address
 * @mode: enum kipt_mode_kind
 * @block: the block, valid until the next find or fill; only on success
 *
 * Return:
 * KIPT_OK: found.
 * KIPT_NO_CODE: there are no bytes for a whole instruction.
 * KIPT_BAD_INSN: the bytes are none.
 */
enum kipt_status kipt_blocks_fill(struct kipt_blocks *blocks,
				  const struct kipt_code *code, u64 space,
				  u64 ip, u32 mode,
				  const struct kipt_block **block);

/**
 * kipt_blocks_forget() - drop the blocks that touch a range
 * @blocks: the cache
 * @space: address space
 * @begin: first address
 * @end: last address + 1
 */
void kipt_blocks_forget(struct kipt_blocks *blocks, u64 space, u64 begin,
			u64 end);

/**
 * kipt_block_index() - how many instructions stand before an address
 * @block: the block
 * @ip: address
 *
 * Return: the number; -1 if no instruction of the block starts at @ip.
 */
s32 kipt_block_index(const struct kipt_block *block, u64 ip);

/**
 * kipt_blocks_slot() - the set an address belongs to
 * @blocks: the cache
 * @space: address space
 * @ip: address
 *
 * Return: the first of its two slots.
 */
static inline struct kipt_block *kipt_blocks_slot(const struct kipt_blocks *blocks,
						  u64 space, u64 ip)
{
	u64 hash = (ip ^ space << 48 ^ space >> 5) * 0x9e3779b97f4a7c15ULL;

	return blocks->table + (hash >> blocks->shift & ~1ULL);
}

static inline bool kipt_block_is(const struct kipt_block *block, u64 space,
				 u64 ip, u32 mode)
{
	return block->ip == ip && block->space == space && block->mode == mode;
}

/**
 * kipt_blocks_find() - the block at an address
 * @blocks: the cache
 * @code: where code comes from if it is not cached
 * @space: address space
 * @ip: address
 * @mode: enum kipt_mode_kind
 * @block: as for kipt_blocks_fill()
 *
 * Return: as kipt_blocks_fill().
 */
static inline enum kipt_status
kipt_blocks_find(struct kipt_blocks *blocks, const struct kipt_code *code,
		 u64 space, u64 ip, u32 mode, const struct kipt_block **block)
{
	struct kipt_block *slot = kipt_blocks_slot(blocks, space, ip);

	if (likely(kipt_block_is(slot, space, ip, mode))) {
		*block = slot;
		return KIPT_OK;
	}
	if (likely(kipt_block_is(slot + 1, space, ip, mode))) {
		*block = slot + 1;
		return KIPT_OK;
	}
	return kipt_blocks_fill(blocks, code, space, ip, mode, block);
}

#endif /* KIPT_DECODE_BLOCKS_H */
