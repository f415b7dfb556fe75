/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The state of one flow. Nothing outside kmod/decode includes this but tests.
 */
#ifndef KIPT_DECODE_FLOW_STATE_H
#define KIPT_DECODE_FLOW_STATE_H

#include "../code/blocks.h"
#include "../packet/clock.h"
#include "counts.h"
#include "../flow.h"
#include "../packet/last_ip.h"
#include "../packet/psb.h"
#include "../code/return_stack.h"
#include "../packet/tnt.h"

#define KIPT_FLOW_BUFFER	256
#define KIPT_FLOW_HELD		8
#define KIPT_FLOW_HISTORY	32
#define KIPT_FLOW_STEPS		65536
/* Blocks of a slice at most: steps are compared modulo 2^32. */
#define KIPT_FLOW_SLICE_MAX	(1U << 30)

/* What the next FUP belongs to; KIPT_CLAIM_NONE: to the TIP after it. */
enum kipt_claim {
	KIPT_CLAIM_NONE = 0,
	KIPT_CLAIM_HELD,	/* the records in @held */
	KIPT_CLAIM_PTW,		/* as HELD, and a PTWRITE was executed there */
	KIPT_CLAIM_TSX,		/* as HELD, and MODE.TSX takes effect */
};

/* What is known of the flow. After ON are those where the next address says where execution is. */
enum kipt_tracing {
	KIPT_TRACING_OFF = 0,	/* the CPU does not trace, or nothing is known of it */
	KIPT_TRACING_ON,	/* it does, and where it executes is known */
	KIPT_TRACING_LOST,	/* in a gap: it does, the next address says where */
	KIPT_TRACING_OVERFLOW,	/* OVF was seen, and nothing yet that says what it does */
};

/**
 * struct kipt_place - where execution is
 * @ip: next instruction
 * @space: address space of low addresses
 * @high_space: address space of high ones: 0, which is the kernel's, or a guest's
 * @cr3: last CR3
 * @nr: it belongs to VMX non-root operation
 * @mode: enum kipt_exec_kind
 * @insns: instructions since the last record that counts them
 * @pip_pending: @pip_cr3 and @pip_nr take effect at the next MOV CR3, or address
 * @pip_cr3: CR3 of the last PIP
 * @pip_nr: NR of the last PIP
 *
 * All that walking code without packets changes, but the return stack: a walk on trial
 * puts it back.
 */
struct kipt_place {
	u64 ip;
	u64 space;
	u64 high_space;
	u64 cr3;
	bool nr;
	u8 mode;
	bool pip_pending;
	bool pip_nr;
	u64 pip_cr3;
	u64 insns;
};

/**
 * struct kipt_trail - a block that was walked, or a node that was passed
 * @ip: the block
 * @len: its bytes
 * @node: a link to the node, its kind replaced by 0, or by KIPT_TRAIL_TWO and an outcome: two
 *	nodes were passed, the second is where that outcome leads; 0: it is a block
 */
struct kipt_trail {
	u64 ip;
	u32 len;
	u32 node;
};

/* In kipt_trail.node of two nodes. */
#define KIPT_TRAIL_TWO		2U

/**
 * struct kipt_run - what a run has before it
 * @psb: offset of the PSB of the current segment
 * @next: of the PSB after it, or the trace's size
 * @after: of the one after that
 * @to: no segment is begun from here on
 * @inside: the segment was begun
 */
struct kipt_run {
	u64 psb;
	u64 next;
	u64 after;
	u64 to;
	bool inside;
};

/**
 * struct kipt_count_emission - how far the emission of counts is
 * @on: they are being emitted: nothing is counted until that ends
 * @edges: blocks are done
 * @at: number of the next block or edge
 * @spaced: a SPACE record said @kernel and @space
 * @kernel: the edge emitted last is all in the kernel
 * @space: its address space
 */
struct kipt_count_emission {
	bool on;
	bool edges;
	bool spaced;
	bool kernel;
	u32 at;
	u64 space;
};

/**
 * struct kipt_flow_state - what is known of the CPU that wrote the trace
 * @tracing: enum kipt_tracing
 * @doubtful: the last IP may be damaged: an address that is built on it is not
 *	believed; never with KIPT_TRACING_ON
 * @tsx: inside a transaction
 * @mode_known: MODE.Exec was seen since the PSB
 * @mode_if: IF of the last MODE.Exec
 * @mode_lost: an overflow hid the mode; above 4 GiB it is 64-bit all the same
 * @nr_lost: an overflow hid whether a guest runs, so whose code a kernel address is of
 * @calls_lost: kind of the gap in which CALLs may be whose RETs are still to come; 0 if
 *	the stack of return addresses has each that a RET can be compressed for
 * @power_known: @power_ip is valid
 * @power_ip: where the CPU was last put to sleep
 *
 * flow.c, flow_event.c, flow_side.c, flow_psb.c and flow_ovf.c write it, by packets.
 */
struct kipt_flow_state {
	u8 tracing;
	bool doubtful;
	bool tsx;
	bool mode_known;
	bool mode_if;
	bool mode_lost;
	bool nr_lost;
	bool power_known;
	u8 calls_lost;
	u64 power_ip;
};

/**
 * struct kipt_flow_pending - what packets said that has no effect yet
 * @event: a FUP is waiting for its TIP; if tracing is on, the place is its address
 * @abort: that FUP is of a transaction's abort
 * @deferred: a TIP came after outcomes younger than it in this segment, so
 *	an address says nothing about the outcomes before it
 * @mode_pending: @mode_value takes effect at the next address
 * @mode_value: MODE.Exec bits
 * @tsx_value: MODE.TSX bits that wait for their FUP
 * @claim: enum kipt_claim
 * @share: the records in @held take the next FUP's address, but not the FUP
 * @held_count: records in @held
 * @block_type: of the BBP the next BIPs belong to
 * @held: records that wait for an address
 *
 * flow.c, flow_event.c, flow_side.c and flow_psb.c write it. The graph is not followed while
 * anything is pending.
 */
struct kipt_flow_pending {
	bool event;
	bool abort;
	bool deferred;
	bool mode_pending;
	u8 mode_value;
	u8 tsx_value;
	u8 claim;
	bool share;
	u8 held_count;
	u8 block_type;
	struct kipt_record held[KIPT_FLOW_HELD];
};

/**
 * struct kipt_walk_bound - ends walks for one packet
 * @steps: blocks walked since the last outcome that was used
 * @before: blocks walked before it
 * @mark: an address on the way, renewed at every power of two of @steps: a
 *	walk that comes by it again goes round for ever
 */
struct kipt_walk_bound {
	u32 steps;
	u32 before;
	u64 mark;
};

/**
 * struct kipt_flow_walk - following the code
 * @trial: records and calls are not to be made
 * @tnt: outcomes not used
 * @stack: return addresses
 * @history_count: blocks walked
 * @history: the last of them
 * @steps: blocks walked, modulo 2^32
 * @pause_at: value of @steps at which a slice of blocks is over
 * @paused: kipt_walk_tnt() has paused, and outcomes are left in @tnt
 * @bound: its bound, valid while @paused
 * @graph: nodes are followed (graph.h)
 * @forgot: code was forgotten since the last run, and nodes of it may be there
 * @mode: mode that the links of return addresses are for
 * @space: address space that they are for, if they lead to low addresses
 * @high_space: the same of high ones
 *
 * flow_walk.c and flow_branch.c write it; so does graph_run.c, for what it follows.
 */
struct kipt_flow_walk {
	bool trial;
	struct kipt_tnt tnt;
	struct kipt_return_stack stack;
	u32 history_count;
	struct kipt_trail history[KIPT_FLOW_HISTORY];
	u32 steps;
	u32 pause_at;
	bool paused;
	struct kipt_walk_bound bound;
	bool graph;
	bool forgot;
	u8 mode;
	u64 space;
	u64 high_space;
};

/**
 * struct kipt_flow_input - the trace, and how far it is used
 * @previous: type of the last packet that is not timing; KIPT_PACKET_PSBEND: that of PSB+
 * @last_ip: IP compression
 * @psb: the PSB+ read last; its @offset is @size if none was
 * @cursor: the next packet; its end is that of the segment
 * @data: the trace
 * @size: its bytes
 * @offset: of the current packet
 * @run: what is to be decoded
 * @stopped: the sink said stop
 * @asked: a pause was asked for
 * @halt_at: the run pauses or stops at the first boundary between packets from here on
 * @until: the offset of which kipt_flow_until() says so; 0: none
 *
 * flow.c writes it; graph_run.c moves @cursor and @last_ip.
 */
struct kipt_flow_input {
	u8 previous;
	u64 last_ip;
	struct kipt_psb psb;
	struct kipt_cursor cursor;
	const u8 *data;
	u64 size;
	u64 offset;
	struct kipt_run run;
	bool stopped;
	bool asked;
	const u8 *halt_at;
	u64 until;
};

/**
 * struct kipt_flow_output - what is emitted
 * @wanted: bit n: BRANCH records of kind n are made
 * @sums: see kipt_flow_sums(); graph_step.h and flow_walk.c write it
 * @packs: what the graph follows becomes NODE, LINK and WALK records
 * @lost: the sink said stop, or records were dropped: nodes are to be defined anew
 * @walks: the WALK records so far say where the flow is
 * @slow: number of the node that kipt_pack_slow() defined last; 0xffffffff: none since @walks
 * @nr_packed: bytes in @packed
 * @packed: of the WALK record that is being filled; eight bytes may be copied for one
 * @counting: how far the emission of counts is
 * @sink: caller's
 * @count: records in @records
 * @records: not yet given to the sink
 *
 * emit.c, pack.c, flow_count.c and flow_counts.c write it.
 */
struct kipt_flow_output {
	u32 wanted;
	struct kipt_flow_sums sums;
	bool packs;
	bool lost;
	bool walks;
	u32 slow;
	u32 nr_packed;
	u8 packed[KIPT_RECORD_WALK_MAX + 8];
	struct kipt_count_emission counting;
	struct kipt_sink sink;
	u32 count;
	struct kipt_record records[KIPT_FLOW_BUFFER];
};

/**
 * struct kipt_flow - one CPU's decode
 * @at: where execution is; @at.ip is valid with KIPT_TRACING_ON
 * @state: what is known of the CPU that wrote the trace
 * @pending: what packets said that has no effect yet
 * @walk: following the code
 * @input: the trace, and how far it is used
 * @output: what is emitted
 * @clock: time
 * @blocks: block cache
 * @counts: edges
 * @pairs: those from node to node that no node counts
 * @code: caller's
 * @config: caller's, with defaults filled in
 */
struct kipt_flow {
	struct kipt_place at;
	struct kipt_flow_state state;
	struct kipt_flow_pending pending;
	struct kipt_flow_walk walk;
	struct kipt_flow_input input;
	struct kipt_flow_output output;
	struct kipt_clock clock;
	struct kipt_blocks blocks;
	struct kipt_counts counts;
	struct kipt_pairs pairs;
	struct kipt_code code;
	struct kipt_flow_config config;
};

/**
 * kipt_flow_is_on() - is it known where execution is
 * @flow: the flow
 *
 * Return: true if the flow is followed.
 */
static inline bool kipt_flow_is_on(const struct kipt_flow *flow)
{
	return flow->state.tracing == KIPT_TRACING_ON;
}

/**
 * kipt_space_at() - the address space that an address is in now
 * @flow: the flow
 * @ip: address
 *
 * Return: its name, as struct kipt_code has it.
 */
static inline u64 kipt_space_at(const struct kipt_flow *flow, u64 ip)
{
	return ip >> 63 ? flow->at.high_space : flow->at.space;
}

/**
 * kipt_number_at() - the number of an address in the current space
 * @flow: the flow
 * @ip: address
 *
 * Return: as kipt_blocks_number().
 */
static inline u32 kipt_number_at(struct kipt_flow *flow, u64 ip)
{
	return kipt_blocks_number(&flow->blocks, kipt_space_at(flow, ip), ip, flow->at.mode);
}

/**
 * kipt_flow_nothing_pending() - has all that packets said taken effect
 * @flow: the flow
 *
 * Return: true if what a TNT or TIP does next depends on nothing but its own bytes, the code,
 * the return stack and whether tracing is on.
 */
static inline bool kipt_flow_nothing_pending(const struct kipt_flow *flow)
{
	const struct kipt_flow_pending *pending = &flow->pending;
	const struct kipt_flow_state *state = &flow->state;

	return !flow->walk.tnt.count && !flow->input.cursor.block &&
	       !pending->held_count && pending->claim == KIPT_CLAIM_NONE &&
	       state->tracing <= KIPT_TRACING_ON && !(state->doubtful | state->tsx |
		 state->mode_lost | state->nr_lost |
		 pending->event | pending->abort | pending->share |
		 pending->mode_pending | flow->at.pip_pending);
}

#endif /* KIPT_DECODE_FLOW_STATE_H */
