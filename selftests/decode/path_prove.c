// SPDX-License-Identifier: GPL-2.0-only
/*
 * The theorem of kmod/decode/path.h, held against the slow path: a build with
 * KIPT_FLOW_PROVE takes paths one by one and asks here. What the path did to the
 * flow is kept, the flow is put back, the slow path uses the same packet, and both
 * are compared: where it leads, the return stack, the branches, and the blocks of the
 * trail. A difference is printed and ends the
 * program. How many paths of each kind were held against it is added to the file
 * KIPT_PROVE_LOG names, at the end. User space.
 */
#include "../../kmod/decode/emit.h"
#include "../../kmod/decode/flow_step.h"
#include "../../kmod/decode/flow_walk.h"
#include "../../kmod/decode/path_flow.h"
#include "prove.h"

#define PACKETS		5
#define EFFECTS		6

static const char *const packet_names[PACKETS] = {
	"TNT", "TIP", "TIP.PGE", "TIP.PGD", "TIP.PGD-without-IP",
};

static const char *const effect_names[EFFECTS] = {
	"same", "push", "ret", "drop", "clear", "more",
};

static unsigned long proved[PACKETS][EFFECTS];

/**
 * struct trail - the last blocks walked
 * @count: how many there are
 * @at: they, the youngest first
 */
struct trail {
	u32 count;
	struct kipt_trail at[KIPT_FLOW_HISTORY];
};

static _Thread_local struct kipt_flow before;

static __attribute__((destructor)) void write_log(void)
{
	const char *name = getenv("KIPT_PROVE_LOG");
	FILE *file = name ? fopen(name, "a") : NULL;
	u32 packet, effect;

	if (!file)
		return;
	for (packet = 0; packet < PACKETS; packet++) {
		for (effect = 0; effect < EFFECTS; effect++)
			fprintf(file, "paths %s %s %lu\n", packet_names[packet],
				effect_names[effect], proved[packet][effect]);
	}
	fclose(file);
}

static __attribute__((noreturn, format(printf, 2, 3)))
void fail(const struct kipt_path *path, const char *format, ...)
{
	va_list arguments;

	fprintf(stderr, "path %#x from block %u to %u, shape %#x, at byte %llu: ",
		path->from & 0xff, path->from >> 8, path->to, path->shape,
		(unsigned long long)(before.input.cursor.pos - before.input.data));
	va_start(arguments, format);
	prove_differs(format, arguments);
}

static u32 packet_of(const struct kipt_path *path)
{
	switch ((u8)path->from) {
	case KIPT_PATH_TIP:
		return 1;
	case KIPT_PATH_PGE:
		return 2;
	case KIPT_PATH_PGD:
		return 3;
	case KIPT_PATH_PGD_NO_IP:
		return 4;
	default:
		return 0;
	}
}

/* Index of effect_names. */
static u32 effect_of(const struct kipt_path *path)
{
	u32 guards = path->shape & (KIPT_SHAPE_GUARD | KIPT_SHAPE_GUARDS);

	if (path->shape & KIPT_SHAPE_CLEARS)
		return 4;
	if (path->shape & (KIPT_SHAPE_MORE | KIPT_SHAPE_GUARDS | KIPT_SHAPE_PUSHES) ||
	    (guards && path->shape & KIPT_SHAPE_PUSH))
		return 5;
	if (guards)
		return 2;
	if (path->shape & KIPT_SHAPE_PUSH)
		return 1;
	return path->net ? 3 : 0;
}

/* Is the packet there one that paths are for, and not PADs or time? */
static bool is_for_paths(u8 byte)
{
	u8 opcode = byte & KIPT_PATH_OPCODE;

	return kipt_tnt_is_short(byte) || opcode == KIPT_PATH_TIP ||
	       opcode == KIPT_PATH_PGE || opcode == KIPT_PATH_PGD;
}

static void read_trail(struct kipt_flow *flow, struct trail *trail)
{
	memset(trail, 0, sizeof(*trail));
	trail->count = kipt_trail_read(flow, trail->at);
}

/* The slow path uses the packet; all that it tells goes to @list. */
static void step_slowly(struct kipt_flow *flow, const struct kipt_path *path,
			struct prove_list *list)
{
	u32 blocks = flow->blocks.count;
	enum kipt_status status;

	prove_collect_from(flow, list);
	flow->output.defining = false;
	/* The packet of a path is used as a whole. */
	flow->config.step_slice = 0;
	status = kipt_flow_step(flow);
	kipt_emit_give(flow);
	if (status != KIPT_OK)
		fail(path, "the slow path says status %d", status);
	if (flow->blocks.count != blocks)
		fail(path, "the slow path walks blocks that the path never saw");
}

static void compare_stacks(const struct kipt_path *path,
			   const struct kipt_return_stack *fast,
			   const struct kipt_return_stack *slow)
{
	u32 i;

	if (fast->depth != slow->depth)
		fail(path, "%u return addresses, the slow path has %u", fast->depth,
		     slow->depth);
	for (i = 0; i < fast->depth; i++) {
		if (*kipt_return_stack_at(fast, i) != *kipt_return_stack_at(slow, i))
			fail(path, "return address %u is %#llx, not %#llx", i,
			     (unsigned long long)*kipt_return_stack_at(fast, i),
			     (unsigned long long)*kipt_return_stack_at(slow, i));
	}
}

#define SAME(path, fast, slow, member) do { \
	if ((fast)->member != (slow)->member) \
		fail(path, #member " is %#llx, not %#llx", \
		     (unsigned long long)(fast)->member, \
		     (unsigned long long)(slow)->member); \
} while (0)

static void compare_flows(const struct kipt_path *path, const struct kipt_flow *fast,
			  const struct kipt_flow *slow)
{
	if (fast->input.cursor.pos != slow->input.cursor.pos)
		fail(path, "takes %td bytes, not %td",
		     fast->input.cursor.pos - before.input.cursor.pos,
		     slow->input.cursor.pos - before.input.cursor.pos);
	SAME(path, fast, slow, state.enabled);
	if (fast->state.enabled)
		SAME(path, fast, slow, at.ip);
	SAME(path, fast, slow, at.space);
	SAME(path, fast, slow, at.cr3);
	SAME(path, fast, slow, at.nr);
	SAME(path, fast, slow, at.mode);
	SAME(path, fast, slow, at.pip_pending);
	SAME(path, fast, slow, input.last_ip);
	SAME(path, fast, slow, state.lost);
	SAME(path, fast, slow, state.doubtful);
	SAME(path, fast, slow, state.overflow);
	SAME(path, fast, slow, pending.echo);
	SAME(path, fast, slow, pending.event);
	SAME(path, fast, slow, pending.abort);
	SAME(path, fast, slow, pending.deferred);
	SAME(path, fast, slow, state.tsx);
	SAME(path, fast, slow, state.mode_known);
	SAME(path, fast, slow, pending.mode_pending);
	SAME(path, fast, slow, pending.claim);
	SAME(path, fast, slow, pending.share);
	SAME(path, fast, slow, pending.held_count);
	SAME(path, fast, slow, walk.tnt.count);
	SAME(path, fast, slow, walk.version);
	compare_stacks(path, &fast->walk.stack, &slow->walk.stack);
}

static void compare_trails(const struct kipt_path *path, const struct trail *fast,
			   const struct trail *slow)
{
	u32 i;

	if (fast->count != slow->count)
		fail(path, "the trail has %u blocks, not %u", fast->count, slow->count);
	for (i = 0; i < fast->count; i++) {
		if (fast->at[i].ip != slow->at[i].ip || fast->at[i].len != slow->at[i].len)
			fail(path, "block %u of the trail is %#llx, not %#llx", i,
			     (unsigned long long)fast->at[i].ip,
			     (unsigned long long)slow->at[i].ip);
	}
}

static void add_branch(void *ctx, const struct kipt_step *step)
{
	const struct kipt_block *block = step->block;
	const struct kipt_record branch = {
		.type = KIPT_RECORD_BRANCH,
		.kind = kipt_branch_kind(block->class),
		.ip = kipt_block_last_insn(block),
		.value = step->to,
	};

	if (step->kind == KIPT_STEP_TAKEN || step->kind == KIPT_STEP_EDGE)
		prove_collect(ctx, &branch, 1);
}

/* Whatever is told, as if all branches were: where it leads, and by what. */
static void prove_way(struct kipt_flow *flow, const struct kipt_path *path,
		      const struct kipt_flow *fast, const struct trail *fast_trail)
{
	static _Thread_local struct prove_list slow, replayed;
	static _Thread_local struct trail slow_trail;
	u32 i, n = 0;

	*flow = before;
	flow->counts.max = 0;
	flow->output.wanted = ~0U;
	flow->output.packed.type = 0;
	flow->output.nr_packed = 0;
	step_slowly(flow, path, &slow);
	compare_flows(path, fast, flow);
	read_trail(flow, &slow_trail);
	compare_trails(path, fast_trail, &slow_trail);
	replayed.count = 0;
	if (!kipt_path_replay(flow, path, add_branch, &replayed))
		fail(path, "gone once more, it does not end");
	for (i = 0; i < slow.count; i++) {
		if (slow.at[i].type == KIPT_RECORD_GAP)
			fail(path, "the slow path tells of a gap");
		if (slow.at[i].type != KIPT_RECORD_BRANCH)
			continue;
		if (n == replayed.count || replayed.at[n].ip != slow.at[i].ip ||
		    replayed.at[n].value != slow.at[i].value ||
		    replayed.at[n].kind != slow.at[i].kind)
			fail(path, "branch %u is not %#llx to %#llx", n,
			     (unsigned long long)slow.at[i].ip,
			     (unsigned long long)slow.at[i].value);
		n++;
	}
	if (n != replayed.count)
		fail(path, "%u branches, the slow path has %u", replayed.count, n);
}

void kipt_prove_begin(struct kipt_flow *flow)
{
	if (flow->output.count > KIPT_FLOW_BUFFER - KIPT_PATH_RECORDS - 8)
		kipt_emit_give(flow);
	before = *flow;
}

void kipt_prove_end(struct kipt_flow *flow)
{
	static _Thread_local struct kipt_flow fast;
	static _Thread_local struct trail fast_trail;
	const struct kipt_path *path = &flow->paths.at[flow->paths.last];

	if (flow->input.cursor.pos == before.input.cursor.pos ||
	    !is_for_paths(*before.input.cursor.pos))
		return;
	read_trail(flow, &fast_trail);
	fast = *flow;
	prove_way(flow, path, &fast, &fast_trail);
	*flow = fast;
	__atomic_add_fetch(&proved[packet_of(path)][effect_of(path)],
			   1, __ATOMIC_RELAXED);
}
