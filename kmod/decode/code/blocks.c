// SPDX-License-Identifier: GPL-2.0-only
/*
 * Filling the block cache: read code, classify instructions until one that
 * is a branch or until the span is used up. Runs where the code callback may.
 */
#include "blocks.h"
#include "../packet/last_ip.h"

_Static_assert(sizeof(struct kipt_block) == 64, "one cache line");

#define FILL_BYTES	(KIPT_BLOCK_SPAN + KIPT_INSN_MAX_LEN)
/* A callback may stop at page ends; a fill touches two pages at most. */
#define FILL_READS	3

static void enter(struct kipt_blocks *blocks, u32 number)
{
	const struct kipt_block *block = &blocks->table[number];

	kipt_index_put(&blocks->index, kipt_block_key(block->space, block->ip),
		       number << KIPT_LINK_SHIFT |
		       (kipt_block_is_patched(block) ? 0 : block->node));
}

u32 kipt_blocks_add(struct kipt_blocks *blocks, u64 space, u64 ip, u32 mode)
{
	u32 number = kipt_index_new(&blocks->index), i;
	struct kipt_block *block = &blocks->table[number];

	if (number == KIPT_BLOCK_NONE)
		return KIPT_BLOCK_NONE;
	memset(block, 0, sizeof(*block));
	block->space = space;
	block->ip = ip;
	block->mode = (u8)mode;
	if (blocks->nodes)
		blocks->nodes[number] = (struct kipt_node){
			.ip = kipt_ip_is_canonical(ip) ? ip ^ kipt_mode_mark(mode) :
							 KIPT_NODE_NO_IP,
			.space = space,
		};
	for (i = kipt_index_double(&blocks->index) ? KIPT_BLOCK_NONE + 1 : number; i <= number; i++)
		enter(blocks, i);
	return number;
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

/* A direct CALL with displacement 0 only reads the IP: no return address is
 * kept ("Indirect Transfer Compression for Returns (RET)"). With a 16-bit operand
 * size only 16 bits of IP are computed, so that its target may not be the next
 * address; it is the displacement that counts.
 */
static bool is_pushed(const struct kipt_block *block,
		      const struct kipt_insn *insn)
{
	return insn->class == KIPT_INSN_CALL &&
	       (insn->target ^ kipt_block_end_ip(block)) & insn->ip_mask;
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
	block->pushes = is_pushed(block, insn);
}

/* A bad instruction after good ones ends the block before it: the flow may
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
				  const struct kipt_code *code, u32 number,
				  u64 space, u64 ip, u32 mode)
{
	struct kipt_block fresh = {
		.ip = ip, .space = space, .mode = (u8)mode
	};
	u8 buf[FILL_BYTES];
	enum kipt_status status;

	if (mode != KIPT_EXEC_64 && code->based &&
	    code->based(code->ctx, space))
		return KIPT_NO_CODE;
	status = scan(&fresh, buf, read_code(code, space, ip, buf));
	if (status != KIPT_OK)
		return status;
	if (number != KIPT_BLOCK_NONE)
		fresh.patched = blocks->table[number].patched;
	blocks->table[number] = fresh;
	return KIPT_OK;
}

/* The furthest that the start of a block is from code it depends on. */
#define BLOCK_MOST	(KIPT_BLOCK_SPAN + 2 * KIPT_INSN_MAX_LEN)

struct kipt_code_range kipt_code_range_of(const struct kipt_blocks *blocks, u64 space, u64 begin,
					  u64 end)
{
	struct kipt_code_range range = {
		.space = space,
		.begin = begin,
		.end = end,
		.ip = begin > BLOCK_MOST ? begin - BLOCK_MOST : 0,
		.at = KIPT_BLOCK_NONE + 1,
		.by_ip = space != KIPT_FLOW_SPACES && end - begin <= KIPT_PATCH_MAX,
	};

	if (range.by_ip)
		range.at = kipt_index_first(&blocks->index, kipt_block_key(space, range.ip));
	return range;
}

/* The next block at an address of the range, in any mode. */
static u32 next_by_ip(struct kipt_code_range *range, const struct kipt_blocks *blocks)
{
	const struct kipt_index *index = &blocks->index;
	const struct kipt_block *block;
	u32 number;

	while (range->ip < range->end) {
		number = index->slots[range->at] >> KIPT_LINK_SHIFT;
		if (!number) {
			range->ip++;
			range->at = kipt_index_first(index, kipt_block_key(range->space,
									   range->ip));
			continue;
		}
		range->at = kipt_index_next(index, range->at);
		block = &blocks->table[number];
		if (block->ip == range->ip)
			return number;
	}
	return KIPT_BLOCK_NONE;
}

static u32 next_number(struct kipt_code_range *range, const struct kipt_blocks *blocks)
{
	return range->at < blocks->index.count ? range->at++ : KIPT_BLOCK_NONE;
}

u32 kipt_code_range_next(struct kipt_code_range *range, const struct kipt_blocks *blocks)
{
	const struct kipt_block *block;
	u32 number;

	do {
		number = range->by_ip ? next_by_ip(range, blocks) : next_number(range, blocks);
		block = &blocks->table[number];
	} while (number != KIPT_BLOCK_NONE &&
		 !(block->insns && kipt_block_touches(block, range->space, range->begin,
						      range->end)));
	return number;
}

/* The number stays, the code is read again when it is needed. */
bool kipt_block_forget(struct kipt_block *block, bool patch)
{
	block->insns = 0;
	if (block->kind && !kipt_block_is_patched(block)) {
		if (patch)
			block->patched = KIPT_PATCHED_NOW;
		return true;
	}
	block->kind = 0;
	block->node = 0;
	if (patch)
		block->patched = KIPT_PATCHED;
	return false;
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

u32 kipt_node_blocks(const struct kipt_blocks *blocks, u32 number, struct kipt_block **list)
{
	struct kipt_block *table = blocks->table;
	u32 end = table[number].end, n = 0;

	for (; n < KIPT_NODE_BLOCKS; number = table[number].on) {
		list[n++] = &table[number];
		if (number == end)
			break;
	}
	return n;
}
