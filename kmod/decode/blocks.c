// SPDX-License-Identifier: GPL-2.0-only
/*
 * Filling the block cache: read code, classify instructions until one that
 * is a branch or until the span is used up. When a set is full its elder
 * block goes. Runs where the code callback may.
 */
#include "blocks.h"

_Static_assert(sizeof(struct kipt_block) == 64, "one cache line");

#define FILL_BYTES	(KIPT_BLOCK_SPAN + KIPT_INSN_MAX_LEN)
/* A callback may stop at page ends; a fill touches two pages at most. */
#define FILL_READS	3

void kipt_blocks_init(struct kipt_blocks *blocks, struct kipt_block *table,
		      u32 count)
{
	blocks->table = table;
	blocks->count = count;
	blocks->shift = 64 - (31 - (u32)__builtin_clz(count));
	memset(table, 0, sizeof(*table) * count);
}

static u32 read_code(const struct kipt_code *code, u64 space, u64 ip, u8 *buf)
{
	u32 have = 0, got, i;

	for (i = 0; i < FILL_READS && have < FILL_BYTES; i++) {
		got = code->read(code->ctx, space, ip + have, buf + have,
				 FILL_BYTES - have);
		if (!got)
			break;
		have += got < FILL_BYTES - have ? got : FILL_BYTES - have;
	}
	return have;
}

static void append(struct kipt_block *block, const struct kipt_insn *insn)
{
	block->starts |= 1ULL << block->len;
	block->last = block->len;
	block->len += insn->len;
	block->insns++;
	block->class = insn->class;
	block->target = insn->class == KIPT_INSN_RET ? insn->ip_mask :
						       insn->target;
}

/* A bad instruction behind good ones ends the block before it: the flow may
 * never get there.
 */
static enum kipt_status scan(struct kipt_block *block, const u8 *buf, u32 have)
{
	struct kipt_insn insn;
	enum kipt_status status;

	while (block->len < KIPT_BLOCK_SPAN) {
		status = kipt_insn_decode(&insn, block->mode,
					  block->ip + block->len,
					  buf + block->len, have - block->len);
		if (status != KIPT_OK)
			break;
		append(block, &insn);
		if (insn.class != KIPT_INSN_OTHER)
			break;
	}
	if (block->insns)
		return KIPT_OK;
	return status == KIPT_TRUNCATED ? KIPT_NO_CODE : KIPT_BAD_INSN;
}

enum kipt_status kipt_blocks_fill(struct kipt_blocks *blocks,
				  const struct kipt_code *code, u64 space,
				  u64 ip, u32 mode,
				  const struct kipt_block **block)
{
	struct kipt_block fresh = {
		.ip = ip, .space = space, .mode = (u8)mode
	};
	struct kipt_block *slot;
	u8 buf[FILL_BYTES];
	enum kipt_status status;

	status = scan(&fresh, buf, read_code(code, space, ip, buf));
	if (status != KIPT_OK)
		return status;
	slot = kipt_blocks_slot(blocks, space, ip);
	slot[1] = slot[0];
	slot[0] = fresh;
	*block = slot;
	return KIPT_OK;
}

void kipt_blocks_forget(struct kipt_blocks *blocks, u64 space, u64 begin,
			u64 end)
{
	struct kipt_block *block;
	u32 i;

	for (i = 0; i < blocks->count; i++) {
		block = &blocks->table[i];
		if (block->mode && block->space == space && block->ip < end &&
		    block->ip + block->len > begin)
			block->mode = 0;
	}
}

static u32 count_bits(u64 value)
{
	value -= value >> 1 & 0x5555555555555555ULL;
	value = (value & 0x3333333333333333ULL) +
		(value >> 2 & 0x3333333333333333ULL);
	value = (value + (value >> 4)) & 0x0f0f0f0f0f0f0f0fULL;
	return (u32)(value * 0x0101010101010101ULL >> 56);
}

s32 kipt_block_index(const struct kipt_block *block, u64 ip)
{
	u64 offset = ip - block->ip;

	if (offset >= KIPT_BLOCK_SPAN || !(block->starts >> offset & 1))
		return -1;
	return (s32)count_bits(block->starts & ((1ULL << offset) - 1));
}
