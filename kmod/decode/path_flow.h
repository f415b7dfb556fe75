/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Paths of a flow: taken (path_run.c), learnt (path_learn.c), gone once more
 * (path_replay.c). Runs where the sink may.
 */
#ifndef KIPT_DECODE_PATH_FLOW_H
#define KIPT_DECODE_PATH_FLOW_H

#include "flow_state.h"
#include "flow_step.h"

/**
 * kipt_path_may_run() - is nothing pending that paths do not know of
 * @flow: the flow
 *
 * Return: true if kipt_path_run() may be called.
 */
bool kipt_path_may_run(const struct kipt_flow *flow);

/**
 * kipt_path_run() - follow the flow by paths as far as they are known
 * @flow: kipt_path_may_run() is true; the cursor is advanced, maybe not at all. The
 *	packet it stops at is for the slow path.
 *
 * Return: false if the run halts here.
 */
bool kipt_path_run(struct kipt_flow *flow);

/**
 * kipt_path_watch() - see whether the next packet can become a path
 * @flow: kipt_path_run() came back from there; the slow path uses the packet next
 *
 * Return: true if kipt_path_learn() is to follow behind the packet.
 */
bool kipt_path_watch(struct kipt_flow *flow);

/**
 * kipt_path_learn() - remember what a packet did
 * @flow: behind the packet that kipt_path_watch() was told of
 */
void kipt_path_learn(struct kipt_flow *flow);

/**
 * kipt_prove_begin() - a path may be taken next (selftests/decode/path_prove.c)
 * @flow: kipt_path_may_run() is true
 */
void kipt_prove_begin(struct kipt_flow *flow);

/**
 * kipt_prove_end() - hold what was taken since then, if something was, against the slow
 * path; ends the program if they differ
 * @flow: unchanged
 */
void kipt_prove_end(struct kipt_flow *flow);

/* How control left a block. */
enum kipt_step_kind {
	KIPT_STEP_ON,		/* it went on behind the block */
	KIPT_STEP_TAKEN,	/* the direct branch was taken */
	KIPT_STEP_EDGE,		/* another branch was taken */
	KIPT_STEP_OFF,		/* tracing ended */
};

/**
 * struct kipt_step - a block that a path goes by
 * @block: the block
 * @kind: how control left it
 * @to: where it went; of KIPT_STEP_OFF nothing
 */
struct kipt_step {
	struct kipt_block *block;
	enum kipt_step_kind kind;
	u64 to;
};

/**
 * kipt_path_replay() - go once more the way a path goes
 * @flow: has the path's blocks
 * @path: the path
 * @visit: told of each block, the oldest first
 * @ctx: of @visit
 *
 * Return: false if it has not ended after KIPT_PATH_STEPS blocks: the walk that the path
 * was learnt by went another way.
 */
bool kipt_path_replay(struct kipt_flow *flow, const struct kipt_path *path,
		      void (*visit)(void *ctx, const struct kipt_step *step), void *ctx);

/**
 * kipt_path_settle_trail() - name blocks in the trail instead of paths
 * @flow: its paths may be dropped afterwards
 */
void kipt_path_settle_trail(struct kipt_flow *flow);

/**
 * kipt_trail_read() - the last blocks walked
 * @flow: the flow
 * @trail: KIPT_FLOW_HISTORY of them, the youngest first
 *
 * Return: how many there are.
 */
u32 kipt_trail_read(struct kipt_flow *flow, struct kipt_trail *trail);

#endif /* KIPT_DECODE_PATH_FLOW_H */
