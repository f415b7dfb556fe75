// SPDX-License-Identifier: GPL-2.0-only
/*
 * Going once more the way a path goes: to count its edges, or to say which blocks it
 * went by. Any context; counts may go to the sink.
 */
#include "flow_state.h"

#define REPLAY_PUSHES	64

/**
 * struct replay - a path that is gone once more
 * @flow: the flow
 * @path: the path
 * @number: block at hand
 * @tnt: outcomes not used yet
 * @guards: return addresses it takes from the stack
 * @pushed: of @pushes
 * @pushes: those it put there
 */
struct replay {
	struct kipt_flow *flow;
	struct kipt_path path;
	u32 number;
	struct kipt_tnt tnt;
	const u64 *guards;
	u32 pushed;
	u64 pushes[REPLAY_PUSHES];
};

enum step {
	STEP_ON,	/* control went on behind the block */
	STEP_TAKEN,	/* its direct branch was taken */
	STEP_EDGE,	/* another branch was taken */
	STEP_OFF,	/* tracing ended */
};

static void replay_init(struct replay *replay, struct kipt_flow *flow,
			const struct kipt_path *path)
{
	const struct kipt_stack_effect *more;
	u8 byte = (u8)path->from;

	replay->flow = flow;
	replay->path = *path;
	replay->number = path->from >> 8;
	replay->tnt.count = 0;
	replay->pushed = 0;
	replay->guards = NULL;
	if (!(byte & 1)) {
		replay->tnt.bits = byte >> 1;
		replay->tnt.count = 30 - (u32)__builtin_clz(byte);
	}
	if (path->effect >> KIPT_STACK_SHIFT == KIPT_STACK_RET)
		replay->guards = &flow->blocks.ips[path->effect & KIPT_STACK_ARGUMENT];
	if (path->effect >> KIPT_STACK_SHIFT == KIPT_STACK_MORE) {
		more = kipt_path_more(&flow->paths, path->effect);
		replay->guards = more->ips + more->pushes;
	}
}

static u64 pop(struct replay *replay)
{
	return replay->pushed ? replay->pushes[--replay->pushed % REPLAY_PUSHES] :
				*replay->guards++;
}

/* What happens at the end of @block, and where that leads. */
static enum step next(struct replay *replay, const struct kipt_block *block, u64 *to)
{
	const struct kipt_flow *flow = replay->flow;
	bool outcomes = !(replay->path.from & 1);
	u8 kind = (u8)replay->path.from;

	*to = block->target;
	if ((kind == KIPT_PATH_PGD || kind == KIPT_PATH_PGD_NO_IP) &&
	    kipt_walk_disables(flow, block, kind == KIPT_PATH_PGD,
			       flow->blocks.ips[replay->path.effect & KIPT_STACK_ARGUMENT],
			       false))
		return STEP_OFF;
	switch (block->class) {
	case KIPT_INSN_COND:
		if (kipt_tnt_take(&replay->tnt))
			return STEP_TAKEN;
		break;
	case KIPT_INSN_CALL:
		if (*to != kipt_block_behind(block))
			replay->pushes[replay->pushed++ % REPLAY_PUSHES] = kipt_block_behind(block);
		return STEP_TAKEN;
	case KIPT_INSN_JUMP:
		return STEP_TAKEN;
	case KIPT_INSN_RET:
		if (outcomes) {
			kipt_tnt_take(&replay->tnt);
			*to = pop(replay) & block->target;
			return STEP_EDGE;
		}
		fallthrough;
	default:
		*to = flow->blocks.ips[replay->path.to];
		if (kipt_walk_needs_packet(block->class))
			return STEP_EDGE;
	}
	*to = kipt_block_behind(block);
	return STEP_ON;
}

/* The block at hand, and what happens at its end; @number becomes that of the next, 0 behind
 * the last.
 */
static const struct kipt_block *step(struct replay *replay, enum step *what, u64 *to)
{
	struct kipt_flow *flow = replay->flow;
	const struct kipt_block *block = &flow->blocks.table[replay->number];
	bool outcomes = !(replay->path.from & 1);
	u64 space;

	*what = next(replay, block, to);
	replay->number = 0;
	if (*what == STEP_OFF || (outcomes ? !replay->tnt.count : *what == STEP_EDGE))
		return block;
	space = *to >> 63 ? 0 : block->space;
	if (*what != STEP_EDGE)
		replay->number = block->links[*what == STEP_TAKEN];
	if (!replay->number ||
	    !kipt_block_is(&flow->blocks.table[replay->number], space, *to, block->mode))
		replay->number = kipt_blocks_number(&flow->blocks, space, *to, block->mode);
	return block;
}

static void fold_one(struct kipt_flow *flow, struct kipt_path *path)
{
	const struct kipt_block *block;
	struct replay replay;
	u64 count = path->told, to, space;
	enum step what;
	u32 number;

	path->told = 0;
	if (!count || (u8)path->from == KIPT_PATH_PGE)
		return;
	replay_init(&replay, flow, path);
	do {
		number = replay.number;
		block = step(&replay, &what, &to);
		if (what == STEP_TAKEN)
			flow->blocks.table[number].taken += count;
		if (what != STEP_EDGE)
			continue;
		space = block->ip >> 63 ? flow->blocks.table[path->to].space : block->space;
		kipt_count_add(flow, space, block->ip + block->last, to,
			       kipt_branch_kind(block->class), count);
	} while (replay.number);
}

void kipt_path_fold(struct kipt_flow *flow)
{
	const struct kipt_paths *paths = &flow->paths;
	u32 i;

	for (i = 1; i < paths->count; i++) {
		if (paths->at[i].told)
			fold_one(flow, &paths->at[i]);
	}
}

/* Appends the blocks of a path, the youngest first. Returns false if that is enough, or what
 * is older is of another time.
 */
static bool read_path(struct kipt_flow *flow, u32 at, struct kipt_trail *trail, u32 *count)
{
	const struct kipt_path *path = &flow->paths.at[at];
	const struct kipt_block *blocks[KIPT_FLOW_HISTORY];
	struct replay replay;
	enum step what;
	u32 n = 0, i;
	u64 to;

	if (path->effect >> KIPT_STACK_SHIFT == KIPT_STACK_CLEAR)
		return false;
	/* Tracing was on already (BDM70): nothing was executed. */
	if ((u8)path->from == KIPT_PATH_PGE)
		return true;
	replay_init(&replay, flow, path);
	do {
		blocks[n++ % KIPT_FLOW_HISTORY] = step(&replay, &what, &to);
	} while (replay.number);
	for (i = 0; i < n && i < KIPT_FLOW_HISTORY && *count < KIPT_FLOW_HISTORY; i++) {
		trail[*count].ip = blocks[(n - 1 - i) % KIPT_FLOW_HISTORY]->ip;
		trail[*count].len = blocks[(n - 1 - i) % KIPT_FLOW_HISTORY]->len;
		trail[*count].path = 0;
		++*count;
	}
	return *count < KIPT_FLOW_HISTORY;
}

u32 kipt_trail_read(struct kipt_flow *flow, struct kipt_trail *trail)
{
	u32 end = flow->history_count, count = 0, i;
	const struct kipt_trail *item;

	for (i = 1; i <= end && i <= KIPT_FLOW_HISTORY && count < KIPT_FLOW_HISTORY; i++) {
		item = &flow->history[(end - i) % KIPT_FLOW_HISTORY];
		if (!item->path)
			trail[count++] = *item;
		else if (!read_path(flow, item->path, trail, &count))
			break;
	}
	return count;
}

void kipt_path_settle_trail(struct kipt_flow *flow)
{
	struct kipt_trail trail[KIPT_FLOW_HISTORY];
	u32 count = kipt_trail_read(flow, trail), i;

	for (i = 0; i < count; i++)
		flow->history[i] = trail[count - 1 - i];
	flow->history_count = count;
}
