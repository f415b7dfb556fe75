// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compares the theorem of kmod/decode/graph/graph.h with the slow path: a build with
 * KIPT_FLOW_PROVE follows the graph packet by packet and calls this. It keeps what the
 * graph did to the flow and the records it made, puts the flow back, lets the slow path
 * use the same packet, from code that it reads anew, and compares both: where it leads,
 * the return stack, the records, or with counts the sum over the counted edges without
 * their address spaces, and the blocks of the trail. Packed records are not compared: the
 * programs do that, of the whole stream. PADs and timing packets are not compared, and no
 * packet is used together with others: same_test and the fuzzer do that. A difference is
 * printed and ends the program. At its end the program adds to the file that KIPT_PROVE_LOG
 * names how many packets of each kind were compared, and how many nodes passed. User space.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../kmod/decode/out/emit.h"
#include "../../kmod/decode/flow_step.h"
#include "../../kmod/decode/flow/flow_walk.h"
#include "../../kmod/decode/flow/flow_settle.h"
#include "../../kmod/decode/graph/graph.h"
#include "../../kmod/decode/graph/graph_fold.h"

#define OUTPUTS		4
#define PACKETS		4
#define MODES		4

static const char *const output_names[OUTPUTS] = { "counts", "calls", "branches", "packed" };
static const char *const packet_names[PACKETS] = {
	"graph.TNT", "graph.long-TNT", "graph.TNT-in-part", "graph.TIP",
};
static const char *const mode_names[MODES] = { "-", "64-bit", "32-bit", "16-bit" };

static unsigned long proved[OUTPUTS][PACKETS][MODES];

/* By enum kipt_node_kind; two conditional branches in one step count at 0. */
#define KINDS		KIPT_NODE_SLOW

static const char *const kind_names[KINDS] = {
	[0] = "two",
	[KIPT_NODE_ON] = "on",
	[KIPT_NODE_JUMP] = "jump",
	[KIPT_NODE_CALL] = "call",
	[KIPT_NODE_COND] = "cond",
	[KIPT_NODE_RET] = "ret",
	[KIPT_NODE_TARGET] = "target",
};

static unsigned long passed[KINDS][MODES];

/* A packet has up to 47 outcomes, each after KIPT_NODE_REACH blocks. */
#define RECORDS	4096U

struct list {
	u32 count;
	struct kipt_record at[RECORDS];
};

/* A kipt_sink.emit: @ctx is a struct list. */
static bool collect(void *ctx, const struct kipt_record *records, u32 n)
{
	struct list *list = ctx;

	if (n > RECORDS - list->count) {
		fputs("a packet made too many records\n", stderr);
		abort();
	}
	memcpy(&list->at[list->count], records, n * sizeof(*records));
	list->count += n;
	return true;
}

/* Drops the records that the flow has not given yet; the next ones go to @list. */
static void collect_from(struct kipt_flow *flow, struct list *list)
{
	list->count = 0;
	flow->output.count = 0;
	flow->output.sink = (struct kipt_sink){ .emit = collect, .ctx = list };
}

static _Thread_local struct kipt_flow before, fast;
static _Thread_local struct list quick, slow;
static _Thread_local u64 counted;

/* Tests that count how often code is read set KIPT_PROVE_CACHED: the slow path then uses what the
 * graph has read.
 */
static bool cached;

static __attribute__((constructor)) void find_cached(void)
{
	cached = getenv("KIPT_PROVE_CACHED");
}

static __attribute__((destructor)) void write_log(void)
{
	const char *name = getenv("KIPT_PROVE_LOG");
	FILE *file = name ? fopen(name, "a") : NULL;
	u32 output, packet, mode, kind;

	if (!file)
		return;
	for (output = 0; output < OUTPUTS; output++) {
		for (packet = 0; packet < PACKETS; packet++) {
			for (mode = 1; mode < MODES; mode++)
				fprintf(file, "%s %s %s %lu\n", output_names[output],
					packet_names[packet], mode_names[mode],
					proved[output][packet][mode]);
		}
	}
	for (kind = 0; kind < KINDS; kind++) {
		for (mode = 1; mode < MODES; mode++)
			fprintf(file, "node %s %s %lu\n", kind_names[kind], mode_names[mode],
				passed[kind][mode]);
	}
	fclose(file);
}

static __attribute__((noreturn, format(printf, 1, 2))) void fail(const char *format, ...)
{
	va_list arguments;

	fprintf(stderr, "graph from %#llx, packet %#x at byte %llu: ",
		(unsigned long long)before.at.ip, *before.input.cursor.pos,
		(unsigned long long)(before.input.cursor.pos - before.input.data));
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	fputs("\n", stderr);
	abort();
}

#define SAME(member) do { \
	if (fast.member != flow->member) \
		fail(#member " is %#llx, not %#llx", \
		     (unsigned long long)fast.member, (unsigned long long)flow->member); \
} while (0)

static u64 edge_hash(u64 from, u64 to, u32 kind)
{
	u64 hash = (from + kind) * KIPT_INDEX_FACTOR;

	return (hash ^ hash >> 29 ^ to) * 0xc2b2ae3d27d4eb4fULL | 1;
}

/* Sum over all edges that are counted. */
static u64 sum_counts(struct kipt_flow *flow)
{
	const struct kipt_block *block;
	const struct kipt_edge *edge;
	u64 sum = 0;
	u32 i;

	kipt_graph_fold(flow);
	for (i = KIPT_BLOCK_NONE + 1; i < flow->blocks.index.count; i++) {
		block = &flow->blocks.table[i];
		if (block->taken)
			sum += block->taken * edge_hash(kipt_block_last_insn(block), block->target,
							kipt_branch_kind(block->class));
	}
	for (i = 1; i < flow->counts.index.count; i++) {
		edge = &flow->counts.edges[i];
		sum += edge->count * edge_hash(edge->from, edge->to, edge->kind);
	}
	return sum;
}

void kipt_prove_graph_begin(struct kipt_flow *flow)
{
	kipt_emit_give(flow);
	if (flow->counts.max)
		counted = sum_counts(flow);
	before = *flow;
	collect_from(flow, &quick);
	/* The slow path goes on amid a packet, to its end. */
	flow->config.step_slice = 0;
}

/* An address, by its link if it has one, which stays. */
static u64 return_at(const struct kipt_flow *flow, u32 below)
{
	const struct kipt_return_stack *stack = &flow->walk.stack;
	u32 at = (stack->top - 1 - below) % KIPT_RETURN_STACK_SIZE;
	u32 link = stack->link[at];

	return link ? flow->blocks.table[link >> KIPT_LINK_SHIFT].ip : stack->ip[at];
}

static void compare_stacks(const struct kipt_flow *flow)
{
	u32 i;

	SAME(walk.stack.depth);
	for (i = 0; i < flow->walk.stack.depth; i++) {
		if (return_at(&fast, i) != return_at(flow, i))
			fail("return address %u is %#llx, not %#llx", i,
			     (unsigned long long)return_at(&fast, i),
			     (unsigned long long)return_at(flow, i));
	}
}

static void compare_trails(struct kipt_flow *flow)
{
	struct kipt_trail one[KIPT_FLOW_HISTORY], other[KIPT_FLOW_HISTORY];
	u32 n = kipt_trail_read(&fast, one), i;

	if (kipt_trail_read(flow, other) != n)
		fail("the trail has %u blocks", n);
	for (i = 0; i < n; i++) {
		if (one[i].ip != other[i].ip || one[i].len != other[i].len)
			fail("block %u of the trail is %#llx, not %#llx", i,
			     (unsigned long long)one[i].ip, (unsigned long long)other[i].ip);
	}
}

static void compare_flows(struct kipt_flow *flow, bool counts)
{
	SAME(input.cursor.pos);
	SAME(input.last_ip);
	if (kipt_flow_is_on(flow))
		SAME(at.ip);
	SAME(at.space);
	SAME(at.mode);
	SAME(at.pip_pending);
	SAME(state.tracing);
	SAME(at.cr3);
	SAME(at.nr);
	SAME(state.doubtful);
	SAME(state.tsx);
	SAME(pending.event);
	SAME(pending.abort);
	SAME(pending.claim);
	SAME(pending.mode_pending);
	SAME(pending.share);
	SAME(pending.deferred);
	SAME(pending.held_count);
	SAME(walk.tnt.count);
	if (!counts && !flow->output.packs)
		SAME(at.insns);
	compare_stacks(flow);
}

/* The row of @proved. */
static u32 output_of(const struct kipt_flow *flow)
{
	if (flow->counts.max)
		return 0;
	if (flow->output.packs)
		return 3;
	return flow->output.wanted >> KIPT_BRANCH_COND & 1 ? 2 : 1;
}

/* The graph's records or counts of the packet are those of the slow path. */
static void compare_records(bool counts)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < slow.count; i++) {
		if (slow.at[i].type == KIPT_RECORD_BRANCH)
			sum += edge_hash(slow.at[i].ip, slow.at[i].value, slow.at[i].kind);
	}
	if (counts && sum != counted)
		fail("other edges are counted, %u records", slow.count);
	if (!counts && (quick.count != slow.count ||
			memcmp(quick.at, slow.at, quick.count * sizeof(quick.at[0]))))
		fail("%u records, not the %u of the slow path", quick.count, slow.count);
}

/* Room for no block: each is read when the flow gets there. */
static void read_afresh(struct kipt_flow *flow)
{
	static _Thread_local struct kipt_block block;
	static _Thread_local u32 slot;

	if (cached)
		return;
	kipt_settle_trail(flow);
	kipt_settle_returns(flow);
	flow->blocks = (struct kipt_blocks){ .table = &block };
	kipt_index_init(&flow->blocks.index, &slot, 1, 1, 0);
}

static void step_slowly(struct kipt_flow *flow)
{
	flow->config.step_slice = 0;
	if (kipt_flow_step(flow) != KIPT_OK)
		fail("no packet is there");
	kipt_emit_give(flow);
}

/* Gives the graph's records to the sink for which they were made. */
static void pass_on(struct kipt_flow *flow)
{
	const struct kipt_sink *sink = &flow->output.sink;

	if (quick.count && !flow->input.stopped &&
	    !sink->emit(sink->ctx, quick.at, quick.count)) {
		flow->input.stopped = true;
		flow->input.halt_at = flow->input.data;
		flow->output.lost = flow->output.packs;
	}
}

static u32 packet_of(const u8 *pos, u32 left)
{
	if ((*pos & 0x1f) == 0x0d)
		return 3;
	if (left)
		return 2;
	return kipt_tnt_is_short(*pos) ? 0 : 1;
}

/* No PADs, and no packet that is about time only. */
static bool is_followed(const u8 *pos)
{
	return kipt_tnt_is_short(*pos) || (pos[0] == 2 && pos[1] == 0xa3) ||
	       (*pos & 0x1f) == 0x0d;
}

/* What nodes the graph passed, of those that the trail still has. */
static void count_nodes(void)
{
	u32 n = fast.walk.history_count, i, kind;
	const struct kipt_trail *item;

	/* A gap drops what was before it. */
	if (n >= before.walk.history_count)
		n -= before.walk.history_count;
	for (i = 1; i <= n && i <= KIPT_FLOW_HISTORY; i++) {
		item = &fast.walk.history[(fast.walk.history_count - i) % KIPT_FLOW_HISTORY];
		if (!item->node)
			continue;
		kind = fast.blocks.table[item->node >> KIPT_LINK_SHIFT].node;
		if (!kind || kind >= KINDS)
			fail("a node of kind %u is in the trail", kind);
		if (item->node & KIPT_TRAIL_TWO)
			kind = 0;
		__atomic_add_fetch(&passed[kind][before.at.mode & 3], 1, __ATOMIC_RELAXED);
	}
}

void kipt_prove_graph_end(struct kipt_flow *flow, u32 left)
{
	const u8 *pos = before.input.cursor.pos;
	bool counts = flow->counts.max, full;
	u32 output = output_of(flow);

	/* A TIP that the graph used in part: the slow path goes on from there. */
	if (flow->input.cursor.pos == pos && flow->at.ip != before.at.ip && is_followed(pos))
		step_slowly(flow);
	kipt_emit_give(flow);
	if (counts)
		counted = sum_counts(flow) - counted;
	/* Edges there is no room for go to the sink. */
	full = flow->counts.index.full || flow->pairs.index.full;
	flow->output.sink = before.output.sink;
	flow->config = before.config;
	fast = *flow;
	if (flow->input.cursor.pos != pos && is_followed(pos)) {
		count_nodes();
		*flow = before;
		flow->blocks = fast.blocks;
		flow->pairs = fast.pairs;
		read_afresh(flow);
		collect_from(flow, &slow);
		if (counts) {
			flow->counts.max = 0;
			flow->output.wanted = ~0U;
		}
		step_slowly(flow);
		compare_flows(flow, counts);
		if (!full && !flow->output.packs)
			compare_records(counts);
		compare_trails(flow);
		if (cached)
			fast.blocks = flow->blocks;
		__atomic_add_fetch(&proved[output][packet_of(pos, left)][before.at.mode & 3], 1,
				   __ATOMIC_RELAXED);
	}
	*flow = fast;
	pass_on(flow);
}
