// SPDX-License-Identifier: GPL-2.0-only
/*
 * Going once more the way a path goes, to say which blocks it went by. Any context.
 */
#include "flow_walk.h"
#include "graph.h"
#include "path_flow.h"

#define REPLAY_PUSHES	64

/**
 * struct replay - a path that is gone once more
 * @flow: the flow
 * @path: the path
 * @number: block at hand
 * @tnt: outcomes not used yet
 * @guards: return addresses it takes from the stack
 * @nr_guards: how many of them are left
 * @pushed: of @pushes
 * @pushes: those it put there
 */
struct replay {
	struct kipt_flow *flow;
	struct kipt_path path;
	u32 number;
	struct kipt_tnt tnt;
	const u64 *guards;
	u32 nr_guards;
	u32 pushed;
	u64 pushes[REPLAY_PUSHES];
};

static void replay_init(struct replay *replay, struct kipt_flow *flow,
			const struct kipt_path *path)
{
	u8 byte = (u8)path->from;

	replay->flow = flow;
	replay->path = *path;
	replay->number = path->from >> 8;
	replay->tnt.bits = 0;
	replay->tnt.count = 0;
	replay->pushed = 0;
	replay->guards = kipt_path_guards(&flow->paths, path, &replay->nr_guards);
	if (!(byte & 1)) {
		replay->tnt.bits = byte >> 1;
		replay->tnt.count = kipt_tnt_outcomes(byte);
	}
}

static u64 pop(struct replay *replay)
{
	if (replay->pushed)
		return replay->pushes[--replay->pushed % REPLAY_PUSHES];
	if (!replay->nr_guards)
		return 0;
	replay->nr_guards--;
	return *replay->guards++;
}

/* What happens at the end of @block, and where that leads. */
static enum kipt_step_kind next(struct replay *replay, const struct kipt_block *block,
				u64 *to)
{
	const struct kipt_flow *flow = replay->flow;
	bool outcomes = !(replay->path.from & 1);
	u8 kind = (u8)replay->path.from;

	*to = block->target;
	if ((kind == KIPT_PATH_PGD || kind == KIPT_PATH_PGD_NO_IP) &&
	    kipt_walk_disables(flow, block, kind == KIPT_PATH_PGD,
			       replay->path.ips[1], false))
		return KIPT_STEP_OFF;
	switch (block->class) {
	case KIPT_INSN_COND:
		if (kipt_tnt_take(&replay->tnt))
			return KIPT_STEP_TAKEN;
		break;
	case KIPT_INSN_CALL:
		if (block->pushes)
			replay->pushes[replay->pushed++ % REPLAY_PUSHES] = kipt_block_behind(block);
		return KIPT_STEP_TAKEN;
	case KIPT_INSN_JUMP:
		return KIPT_STEP_TAKEN;
	case KIPT_INSN_RET:
		if (outcomes) {
			kipt_tnt_take(&replay->tnt);
			*to = kipt_block_return(block, pop(replay));
			return KIPT_STEP_EDGE;
		}
		fallthrough;
	default:
		*to = flow->blocks.ips[replay->path.to];
		if (kipt_walk_needs_packet(block->class))
			return KIPT_STEP_EDGE;
	}
	*to = kipt_block_behind(block);
	return KIPT_STEP_ON;
}

/* The block at hand, and how control leaves it; @number becomes that of the next, 0 behind
 * the last.
 */
static struct kipt_step step(struct replay *replay)
{
	struct kipt_flow *flow = replay->flow;
	struct kipt_step step = { .block = &flow->blocks.table[replay->number] };
	const struct kipt_block *block = step.block;
	bool outcomes = !(replay->path.from & 1);
	u64 space;

	step.kind = next(replay, block, &step.to);
	replay->number = 0;
	if (step.kind == KIPT_STEP_OFF ||
	    (outcomes ? !replay->tnt.count : step.kind == KIPT_STEP_EDGE))
		return step;
	space = step.to >> 63 ? 0 : block->space;
	if (step.kind != KIPT_STEP_EDGE)
		replay->number = block->links[step.kind == KIPT_STEP_TAKEN];
	if (!replay->number || !kipt_block_is(&flow->blocks.table[replay->number], space,
					      step.to, block->mode))
		replay->number = kipt_blocks_number(&flow->blocks, space, step.to, block->mode);
	return step;
}

bool kipt_path_replay(struct kipt_flow *flow, const struct kipt_path *path,
		      void (*visit)(void *ctx, const struct kipt_step *step), void *ctx)
{
	struct kipt_step at;
	struct replay replay;
	u32 i;

	/* Nothing was executed. */
	if ((u8)path->from == KIPT_PATH_PGE)
		return true;
	replay_init(&replay, flow, path);
	for (i = 0; i < KIPT_PATH_STEPS; i++) {
		at = step(&replay);
		visit(ctx, &at);
		if (!replay.number)
			return true;
	}
	return false;
}

/**
 * struct last_blocks - the last blocks of a path
 * @count: how many it goes by
 * @at: in a ring
 */
struct last_blocks {
	u32 count;
	const struct kipt_block *at[KIPT_FLOW_HISTORY];
};

static void note_block(void *ctx, const struct kipt_step *step)
{
	struct last_blocks *last = ctx;

	last->at[last->count++ % KIPT_FLOW_HISTORY] = step->block;
}

/* Appends the blocks of a path, the youngest first. Returns false if that is enough, or what
 * is older is of another time.
 */
static bool read_path(struct kipt_flow *flow, u32 number, struct kipt_trail *trail, u32 *count)
{
	const struct kipt_path *path = &flow->paths.at[number];
	struct last_blocks last = { 0 };
	const struct kipt_block *block;
	u32 i;

	if (path->shape & KIPT_SHAPE_CLEARS)
		return false;
	kipt_path_replay(flow, path, note_block, &last);
	for (i = 0; i < last.count && i < KIPT_FLOW_HISTORY && *count < KIPT_FLOW_HISTORY; i++) {
		block = last.at[(last.count - 1 - i) % KIPT_FLOW_HISTORY];
		trail[(*count)++] = (struct kipt_trail){ .ip = block->ip, .len = block->len };
	}
	return *count < KIPT_FLOW_HISTORY;
}

/* Appends the blocks of a node, the youngest first. */
static void read_node(struct kipt_flow *flow, u32 number, struct kipt_trail *trail, u32 *count)
{
	struct kipt_block *blocks[KIPT_NODE_BLOCKS];
	u32 n = kipt_graph_blocks(flow, number, blocks);

	while (n-- && *count < KIPT_FLOW_HISTORY)
		trail[(*count)++] = (struct kipt_trail){
			.ip = blocks[n]->ip, .len = blocks[n]->len
		};
}

static void read_nodes(struct kipt_flow *flow, const struct kipt_trail *item,
		       struct kipt_trail *trail, u32 *count)
{
	const struct kipt_node *node = &flow->blocks.nodes[item->path];

	if (item->len & KIPT_TRAIL_TWO)
		read_node(flow, node->next[item->len & 1] >> KIPT_LINK_SHIFT, trail, count);
	read_node(flow, item->path, trail, count);
}

u32 kipt_trail_read(struct kipt_flow *flow, struct kipt_trail *trail)
{
	u32 end = flow->walk.history_count, count = 0, i;
	const struct kipt_trail *item;

	for (i = 1; i <= end && i <= KIPT_FLOW_HISTORY && count < KIPT_FLOW_HISTORY; i++) {
		item = &flow->walk.history[(end - i) % KIPT_FLOW_HISTORY];
		if (!item->path)
			trail[count++] = *item;
		else if (flow->walk.graph)
			read_nodes(flow, item, trail, &count);
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
		flow->walk.history[i] = trail[count - 1 - i];
	flow->walk.history_count = count;
}
