/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The state of one flow. Nothing outside kmod/decode includes this but tests.
 */
#ifndef KIPT_DECODE_FLOW_STATE_H
#define KIPT_DECODE_FLOW_STATE_H

#include "blocks.h"
#include "clock.h"
#include "counts.h"
#include "flow.h"
#include "last_ip.h"
#include "path.h"
#include "psb.h"
#include "return_stack.h"
#include "tnt.h"

#define KIPT_FLOW_BUFFER	256
#define KIPT_FLOW_HELD		8
#define KIPT_FLOW_HISTORY	32
#define KIPT_FLOW_STEPS		65536

/* What the next FUP belongs to; KIPT_CLAIM_NONE: to the TIP behind it. */
enum kipt_claim {
	KIPT_CLAIM_NONE = 0,
	KIPT_CLAIM_HELD,	/* the records in @held */
	KIPT_CLAIM_PTW,		/* as HELD, and a PTWRITE was executed there */
	KIPT_CLAIM_TSX,		/* as HELD, and MODE.TSX takes effect */
};

/**
 * struct kipt_place - where execution is
 * @ip: next instruction
 * @space: address space of low addresses
 * @cr3: last CR3
 * @nr: it belongs to VMX non-root operation
 * @mode: enum kipt_exec_kind
 * @insns: instructions since the last record that counts them
 * @pip_pending: @pip_cr3 and @pip_nr take effect at the next MOV CR3, or at
 *	the next address the trace gives
 * @pip_cr3: CR3 of the last PIP
 * @pip_nr: NR of the last PIP
 *
 * All that walking code without packets changes, but the return stack: a walk
 * on trial puts it back.
 */
struct kipt_place {
	u64 ip;
	u64 space;
	u64 cr3;
	bool nr;
	u8 mode;
	bool pip_pending;
	bool pip_nr;
	u64 pip_cr3;
	u64 insns;
};

/**
 * struct kipt_trail - a block that was walked, or a path that was taken
 * @ip: the block
 * @len: its bytes
 * @path: number of the path; 0: it is a block
 */
struct kipt_trail {
	u64 ip;
	u32 len;
	u32 path;
};

/**
 * struct kipt_run - what a run has before it
 * @psb: offset of the PSB of the segment at hand
 * @next: of the PSB behind it, or the trace's size
 * @after: of the one behind that
 * @to: no segment is begun here or behind
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
 * struct kipt_telling - how far the telling of counts is
 * @on: they are being told: nothing is counted until that ends
 * @edges: blocks are done
 * @at: number of the next block or edge
 * @spaced: @kernel and @space were told
 * @kernel: the edge told last is all in the kernel
 * @space: its address space
 */
struct kipt_telling {
	bool on;
	bool edges;
	bool spaced;
	bool kernel;
	u32 at;
	u64 space;
};

/**
 * struct kipt_flow - one CPU's decode
 * @at: where execution is; @at.ip is valid if @enabled
 * @enabled: tracing is on and the flow is followed
 * @lost: in a gap, tracing is on: where execution is, the next address says;
 *	only if not @enabled
 * @doubtful: @last_ip may be damaged: an address that is built on it is not
 *	believed; only if not @enabled
 * @overflow: OVF was seen, and nothing yet that says where execution is
 * @echo: an OVF came before the PSB+ that @at.ip is from
 * @event: a FUP is waiting for its TIP; if @enabled, @at.ip is its address
 * @abort: that FUP is of a transaction's abort
 * @deferred: a TIP came behind outcomes younger than it in this segment, so
 *	an address says nothing about the outcomes before it
 * @trial: records and calls are not to be made
 * @tsx: inside a transaction
 * @mode_known: MODE.Exec was seen since the PSB
 * @mode_if: IF of the last MODE.Exec
 * @mode_pending: @mode_value takes effect at the next address
 * @mode_value: MODE.Exec bits
 * @tsx_value: MODE.TSX bits that wait for their FUP
 * @claim: enum kipt_claim
 * @share: the records in @held take the next FUP's address, but not the FUP
 * @held_count: records in @held
 * @power_known: @power_ip is valid
 * @previous: type of the last packet that is not timing
 * @block_type: of the BBP the next BIPs belong to
 * @wanted: bit n: BRANCH records of kind n are made
 * @held: records that wait for an address
 * @power_ip: where the CPU was last put to sleep
 * @tnt: outcomes not used
 * @stack: return addresses
 * @clock: time
 * @last_ip: IP compression
 * @psb: the PSB+ read last; its @offset is @size if none was
 * @cursor: the next packet; its end is that of the segment
 * @data: the trace
 * @size: its bytes
 * @offset: of the packet at hand
 * @history_count: blocks walked
 * @history: the last of them
 * @version: of the code walked last
 * @nr_packed: numbers in @packed
 * @packed: PATHS record that is being filled
 * @link: number of the block that may come next
 * @no_link: where @link points to behind an indirect branch
 * @crossings: branches between the kernel's half of the addresses and the other
 * @steps: blocks walked, modulo 2^32
 * @plain: the packet at hand did nothing but what its code and its bytes say
 * @defining: its records may become those of a path: numbers in @packed, which stand
 *	before them, are not told yet
 * @mark: records in @records when the packet began
 * @given: how often records were given to the sink
 * @blocks: block cache
 * @paths: on top of it
 * @counts: edges
 * @telling: of what was counted
 * @run: what is to be decoded
 * @code: caller's
 * @sink: caller's
 * @config: caller's, with defaults filled in
 * @stopped: the sink said stop
 * @asked: a pause was asked for
 * @halt_at: the run pauses or stops at the first boundary between packets that
 *	is here or behind
 * @count: records in @records
 * @records: not yet given to the sink
 */
struct kipt_flow {
	struct kipt_place at;
	bool enabled;
	bool lost;
	bool doubtful;
	bool overflow;
	bool echo;
	bool event;
	bool abort;
	bool deferred;
	bool trial;
	bool tsx;
	bool mode_known;
	bool mode_if;
	bool mode_pending;
	u8 mode_value;
	u8 tsx_value;
	u8 claim;
	bool share;
	u8 held_count;
	bool power_known;
	u8 previous;
	u8 block_type;
	u32 wanted;
	struct kipt_record held[KIPT_FLOW_HELD];
	u64 power_ip;
	struct kipt_tnt tnt;
	struct kipt_return_stack stack;
	struct kipt_clock clock;
	u64 last_ip;
	struct kipt_psb psb;
	struct kipt_cursor cursor;
	const u8 *data;
	u64 size;
	u64 offset;
	u32 history_count;
	struct kipt_trail history[KIPT_FLOW_HISTORY];
	u32 version;
	u32 nr_packed;
	struct kipt_record packed;
	u32 *link;
	u32 no_link;
	u32 crossings;
	u32 steps;
	bool plain;
	bool defining;
	u32 mark;
	u32 given;
	struct kipt_blocks blocks;
	struct kipt_paths paths;
	struct kipt_counts counts;
	struct kipt_telling telling;
	struct kipt_run run;
	struct kipt_code code;
	struct kipt_sink sink;
	struct kipt_flow_config config;
	bool stopped;
	bool asked;
	const u8 *halt_at;
	u32 count;
	struct kipt_record records[KIPT_FLOW_BUFFER];
};

/* No address of code: of the block that stands for "tracing is off". */
#define KIPT_OFF_IP		(1ULL << 63)

/**
 * kipt_number_at() - the number of an address in the space at hand
 * @flow: the flow
 * @ip: address
 *
 * Return: as kipt_blocks_number().
 */
static inline u32 kipt_number_at(struct kipt_flow *flow, u64 ip)
{
	return kipt_blocks_number(&flow->blocks,
				  ip >> 63 ? 0 : flow->at.space, ip,
				  flow->at.mode);
}

#endif /* KIPT_DECODE_FLOW_STATE_H */
