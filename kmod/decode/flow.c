// SPDX-License-Identifier: GPL-2.0-only
/*
 * The decoder's outer loops: a trace is cut at its PSBs into segments, each
 * decoded packet by packet on its own. What packets do is in the other
 * flow_*.c files. Runs where the callbacks may.
 */
#include "out/emit.h"
#include "flow/flow_beside.h"
#include "flow/flow_branch.h"
#include "flow/flow_event.h"
#include "flow/flow_ovf.h"
#include "flow/flow_psb.h"
#include "flow/flow_side.h"
#include "flow_counts.h"
#include "flow_step.h"
#include "flow/flow_walk.h"
#include "graph/graph.h"
#include "graph/graph_fold.h"
#include "graph/pack.h"
#include "packet/sync.h"

#define ARENA_ALIGN	64
/* Of the memory, each of whole cache lines, at most. */
#define PARTS		8

static size_t head_size(void)
{
	return (sizeof(struct kipt_flow) + ARENA_ALIGN - 1) &
	       ~(size_t)(ARENA_ALIGN - 1);
}

size_t kipt_flow_size(const struct kipt_flow_config *config)
{
	return head_size() + kipt_flow_memory(config);
}

/* The kinds of BRANCH records that KIPT_FLOW_CALLS asks for. */
#define CALL_KINDS (1U << KIPT_BRANCH_CALL | 1U << KIPT_BRANCH_CALL_IND | \
		    1U << KIPT_BRANCH_RET | 1U << KIPT_BRANCH_SYSCALL | \
		    1U << KIPT_BRANCH_SYSRET | 1U << KIPT_BRANCH_IRET | \
		    1U << KIPT_BRANCH_FAR | 1U << KIPT_BRANCH_VMENTRY | \
		    1U << KIPT_BRANCH_EVENT | 1U << KIPT_BRANCH_TSX_ABORT | \
		    1U << KIPT_BRANCH_VMEXIT)

static u32 wanted_kinds(u32 output)
{
	if (output & KIPT_FLOW_BRANCHES)
		return output & KIPT_FLOW_NO_COND ? ~(1U << KIPT_BRANCH_COND) : ~0U;
	if (output & KIPT_FLOW_CALLS)
		return CALL_KINDS;
	return output & KIPT_FLOW_PACKED ? ~0U : 0;
}

static u32 power_below(u64 value)
{
	u32 power = 1;

	while (power <= value / 2)
		power *= 2;
	return power;
}

/* Parts are whole cache lines. */
static void *carve(u8 **at, u64 bytes)
{
	void *part = *at;

	*at += (bytes + ARENA_ALIGN - 1) & ~(u64)(ARENA_ALIGN - 1);
	return part;
}

static u32 share_of_blocks(const struct kipt_flow *flow, u64 size)
{
	u64 each = sizeof(struct kipt_block) + 4 * sizeof(u32);

	if (flow->walk.graph)
		each += sizeof(struct kipt_node) + sizeof(struct kipt_double);
	size -= PARTS * ARENA_ALIGN;
	return (u32)((flow->config.output & KIPT_FLOW_COUNTS ? size / 16 * 12 : size) / each);
}

/* An array of @count things of @size bytes, and the index of their numbers. */
static void *carve_table(const struct kipt_flow *flow, u8 **at, struct kipt_index *index,
			 u32 count, size_t size)
{
	void *table = carve(at, (u64)count * size);
	u32 slots = power_below(count) * 4;

	if (count)
		kipt_index_init(index, carve(at, (u64)slots * sizeof(u32)), slots, count,
				flow->config.seed);
	return table;
}

static void share_memory(struct kipt_flow *flow, u8 *memory, u64 size)
{
	u32 blocks = share_of_blocks(flow, size);
	u32 edges = flow->config.output & KIPT_FLOW_COUNTS ?
		    (u32)(size / 16 / sizeof(struct kipt_edge)) : 0;
	u8 *at = memory;

	flow->blocks.table = carve_table(flow, &at, &flow->blocks.index, blocks,
					 sizeof(struct kipt_block));
	flow->counts.max = edges;
	flow->counts.edges = carve_table(flow, &at, &flow->counts.index, edges,
					 sizeof(struct kipt_edge));
	if (!flow->walk.graph)
		return;
	flow->blocks.nodes = carve(&at, (u64)blocks * sizeof(struct kipt_node));
	flow->blocks.doubles = carve(&at, (u64)blocks * sizeof(struct kipt_double));
	flow->pairs.at = carve_table(flow, &at, &flow->pairs.index, edges * 2,
				     sizeof(struct kipt_pair));
}

static bool config_is_good(const struct kipt_flow_config *config)
{
	u64 memory = kipt_flow_memory(config);

	return memory >= KIPT_FLOW_MEMORY_MIN &&
	       memory <= KIPT_FLOW_MEMORY_MAX && config->filter_count <= 4 &&
	       !(config->output & KIPT_FLOW_COUNTS &&
		 config->output & (KIPT_FLOW_BRANCHES | KIPT_FLOW_CALLS |
				   KIPT_FLOW_PACKED));
}

struct kipt_flow *kipt_flow_init(void *arena, size_t size,
				 const struct kipt_flow_config *config,
				 const struct kipt_code *code,
				 const struct kipt_sink *sink)
{
	struct kipt_flow *flow = arena;

	if (!config_is_good(config) || size < kipt_flow_size(config))
		return NULL;
	memset(flow, 0, sizeof(*flow));
	flow->config = *config;
	if (!flow->config.step_limit)
		flow->config.step_limit = KIPT_FLOW_STEPS;
	if (flow->config.step_slice > KIPT_FLOW_SLICE_MAX)
		flow->config.step_slice = KIPT_FLOW_SLICE_MAX;
	flow->code = *code;
	flow->output.sink = *sink;
	flow->output.wanted = wanted_kinds(config->output);
	kipt_clock_init(&flow->clock, config->tsc_num, config->tsc_den,
			config->mtc_freq, config->max_nonturbo_ratio, config->tsc_near);
	flow->walk.graph = !(config->output & (KIPT_FLOW_NO_MEMO | KIPT_FLOW_INSNS)) &&
			   flow->config.step_limit >= KIPT_NODE_STEPS;
	flow->output.packs = flow->walk.graph && config->output & KIPT_FLOW_PACKED;
	share_memory(flow, (u8 *)arena + head_size(),
		     kipt_flow_memory(config) & ~(u64)(ARENA_ALIGN - 1));
	return flow;
}

/* Packets that may follow an EVD, or drop it. */
#define KEEP_DATA	(KIPT_PACKET_SET(EVD) | KIPT_PACKET_SET(CFE) | KIPT_PACKET_SET(OVF))
/* Packets that may come between one that needs an address and its FUP. */
#define KEEP_HELD	(KEEP_DATA | KIPT_PACKET_SET(FUP) | KIPT_PACKET_SET(MWAIT) | \
			 KIPT_PACKET_SET(PWRE) | KIPT_PACKET_SET(EXSTOP) | \
			 KIPT_PACKET_SET(PWRX) | KIPT_PACKET_SET(MODE_EXEC) | \
			 KIPT_PACKET_SET(PIP) | KIPT_PACKET_SET(VMCS))
/* The FUP that a CFE shares with the event it is of comes right after the CFE, or not at all
 * ("Event Trace").
 */
#define KEEP_SHARED	(KIPT_PACKET_SET(FUP) | KIPT_PACKET_SET(OVF))

static void dispatch(struct kipt_flow *flow, const struct kipt_packet *packet)
{
	switch (packet->type) {
	case KIPT_PACKET_TNT:
		kipt_flow_on_tnt(flow, packet);
		break;
	case KIPT_PACKET_TIP:
	case KIPT_PACKET_TIP_PGE:
	case KIPT_PACKET_TIP_PGD:
	case KIPT_PACKET_MODE_EXEC:
	case KIPT_PACKET_PIP:
		kipt_flow_on_branch(flow, packet);
		break;
	case KIPT_PACKET_FUP:
		kipt_flow_on_fup(flow, packet);
		break;
	case KIPT_PACKET_OVF:
		kipt_flow_on_ovf(flow);
		break;
	case KIPT_PACKET_PSBEND:
		break;
	default:
		kipt_flow_on_side(flow, packet);
		break;
	}
}

/* While tracing is off no address comes but in a FUP right after. */
static void release_mode(struct kipt_flow *flow)
{
	if (flow->pending.mode_pending && flow->state.tracing != KIPT_TRACING_ON &&
	    flow->state.tracing != KIPT_TRACING_LOST)
		kipt_flow_set_mode(flow, flow->pending.mode_value, false);
}

static void use_packet(struct kipt_flow *flow, const struct kipt_packet *packet)
{
	if (kipt_packet_is_time(packet->type)) {
		kipt_flow_on_time(flow, packet);
		return;
	}
	if (packet->type != KIPT_PACKET_FUP)
		release_mode(flow);
	if (flow->pending.held_count && !KIPT_PACKET_SET_HAS(packet->type, KEEP_DATA))
		kipt_flow_end_data(flow);
	if (flow->pending.held_count &&
	    !KIPT_PACKET_SET_HAS(packet->type, flow->pending.share ? KEEP_SHARED : KEEP_HELD))
		kipt_flow_release(flow);
	dispatch(flow, packet);
	if (packet->type != KIPT_PACKET_PSBEND)
		flow->input.previous = packet->type;
}

/* A packet that its segment's end cuts off is normal at the trace's end. */
static void report_bytes(struct kipt_flow *flow, enum kipt_status status)
{
	bool last = flow->input.cursor.end == flow->input.data + flow->input.size;

	release_mode(flow);
	kipt_flow_release(flow);
	if (status == KIPT_TRUNCATED && last)
		kipt_emit_gap(flow, KIPT_GAP_TRUNCATED, status, flow->input.offset);
	else
		kipt_emit_gap(flow, KIPT_GAP_DECODE, status, flow->input.offset);
	flow->state.tracing = KIPT_TRACING_OFF;
}

/* How the packets of a segment end. */
enum ending {
	IN_ORDER,
	AT_BAD_BYTES,
	HALTED,
};

enum kipt_status kipt_flow_step(struct kipt_flow *flow)
{
	struct kipt_packet packet;
	enum kipt_status status;

	flow->input.offset = (u64)(flow->input.cursor.pos - flow->input.data);
	status = kipt_packet_next(&flow->input.cursor, &packet);
	if (likely(status == KIPT_OK))
		use_packet(flow, &packet);
	return status;
}

/* What is full is dropped; what nodes counted for long is folded. Returns false if the run
 * halts meanwhile.
 */
static bool make_room(struct kipt_flow *flow)
{
	/* Edges may be full afterwards. */
	if (flow->counts.max && flow->counts.bytes >= KIPT_COUNTS_FOLD)
		kipt_graph_fold(flow);
	if (flow->blocks.index.full || flow->counts.index.full || flow->pairs.index.full)
		return kipt_flow_renew(flow);
	return true;
}

static enum ending run_packets(struct kipt_flow *flow)
{
	enum kipt_status status;

	if (unlikely(flow->walk.paused))
		kipt_flow_walk_on(flow);
	while (flow->input.cursor.pos < flow->input.halt_at) {
		if (kipt_flow_nothing_pending(flow) &&
		    (!make_room(flow) || (flow->walk.graph && !kipt_graph_run(flow))))
			continue;
		status = kipt_flow_step(flow);
		if (unlikely(status != KIPT_OK)) {
			if (status == KIPT_END)
				return IN_ORDER;
			report_bytes(flow, status);
			return AT_BAD_BYTES;
		}
	}
	return HALTED;
}

/* Returns false if the run halts in it. */
static bool run_segment(struct kipt_flow *flow)
{
	struct kipt_run *run = &flow->input.run;
	enum ending ending;

	if (!run->inside) {
		run->after = run->next == flow->input.size ? flow->input.size :
			     kipt_sync_next(flow->input.data, flow->input.size,
					    run->next + 16);
		run->inside = kipt_psb_start(flow, run->psb, run->next);
		if (!run->inside)
			return true;
	}
	ending = run_packets(flow);
	if (ending == HALTED)
		return false;
	run->inside = false;
	if (ending == AT_BAD_BYTES)
		return true;
	release_mode(flow);
	if (run->next != flow->input.size)
		kipt_flow_end_data(flow);
	kipt_flow_release(flow);
	if (run->next != flow->input.size)
		kipt_psb_arrive(flow, run->next, run->after);
	return true;
}

/* What is before the run is over if it halts at once. */
static void set_halt(struct kipt_flow *flow, const u8 *pos)
{
	const u8 *until = flow->input.data + flow->input.until;
	u64 slice = flow->config.slice;
	u64 left = (u64)(flow->input.data + flow->input.size - pos);

	kipt_walk_begin_slice(flow);
	flow->input.asked = false;
	flow->input.halt_at = slice && slice < left ? pos + slice :
						flow->input.data + flow->input.size + 1;
	if (until > pos && until < flow->input.halt_at)
		flow->input.halt_at = until;
}

static enum kipt_status run_on(struct kipt_flow *flow)
{
	struct kipt_run *run = &flow->input.run;

	while (run->psb < run->to) {
		if (flow->input.data + run->psb >= flow->input.halt_at && !run->inside)
			break;
		if (!run_segment(flow))
			break;
		run->psb = run->next;
		run->next = run->after;
	}
	if (run->psb < run->to && !flow->input.stopped)
		return KIPT_PAUSED;
	kipt_emit_flush(flow);
	return flow->input.stopped ? KIPT_STOPPED : KIPT_OK;
}

void kipt_flow_time(struct kipt_flow *flow, bool on)
{
	flow->config.output &= ~KIPT_FLOW_TIME;
	if (on)
		flow->config.output |= KIPT_FLOW_TIME;
}

void kipt_flow_pause(struct kipt_flow *flow)
{
	flow->input.asked = true;
	flow->input.halt_at = flow->input.data;
}

/* What was forgotten since the last run, or since the pause. */
static void use_forgotten(struct kipt_flow *flow, bool all)
{
	if (all || flow->walk.forgot)
		kipt_graph_forget(flow, all);
	flow->walk.forgot = false;
}

void kipt_flow_until(struct kipt_flow *flow, u64 offset)
{
	flow->input.until = offset;
}

u64 kipt_flow_paused_at(const struct kipt_flow *flow)
{
	return flow->input.run.inside ? (u64)(flow->input.cursor.pos - flow->input.data) :
					flow->input.run.psb;
}

enum kipt_status kipt_flow_resume(struct kipt_flow *flow)
{
	use_forgotten(flow, false);
	set_halt(flow, flow->input.data + kipt_flow_paused_at(flow));
	return run_on(flow);
}

static void forget_run(struct kipt_flow *flow)
{
	flow->input.psb.offset = flow->input.size;
	flow->input.stopped = false;
	flow->state.tracing = KIPT_TRACING_OFF;
	flow->clock.moved = false;
	flow->walk.trial = false;
	flow->walk.paused = false;
	flow->output.count = 0;
	kipt_pack_drop(flow);
	flow->output.counting = (struct kipt_count_emission){ 0 };
}

enum kipt_status kipt_flow_run(struct kipt_flow *flow, const u8 *data,
			       u64 size, u64 from, u64 to)
{
	u64 psb;

	flow->input.data = data;
	flow->input.size = size;
	/* Whoever reads on may not have the definitions of nodes. */
	flow->output.lost |= flow->output.packs && flow->output.count;
	use_forgotten(flow, flow->output.lost);
	flow->output.lost = false;
	forget_run(flow);
	psb = kipt_sync_next(data, size, from);
	set_halt(flow, data + psb);
	if (psb > from || psb == size)
		kipt_emit_gap(flow, KIPT_GAP_DECODE, KIPT_NO_PSB, from);
	if (psb == size) {
		kipt_emit_flush(flow);
		return flow->input.stopped ? KIPT_STOPPED : KIPT_NO_PSB;
	}
	flow->input.run = (struct kipt_run){
		.psb = psb,
		.next = kipt_sync_next(data, size, psb + 16),
		.to = to,
	};
	return run_on(flow);
}

#if KIPT_SUMS
struct kipt_flow_sums kipt_flow_sums(const struct kipt_flow *flow)
{
	return flow->output.sums;
}
#endif
