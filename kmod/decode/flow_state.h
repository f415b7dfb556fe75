/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the flow_*.c files share: the state of one flow and the functions one
 * of them offers the others. Nothing outside kmod/decode includes this.
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

/* emit.c: records and the buffer they wait in. */

/**
 * kipt_emit() - make a record, after a TIME record if time has moved
 * @flow: the flow
 * @record: copied
 */
void kipt_emit(struct kipt_flow *flow, const struct kipt_record *record);

/**
 * kipt_emit_flush() - give the sink what is buffered
 * @flow: the flow; @stopped is set if the sink says so
 */
void kipt_emit_flush(struct kipt_flow *flow);

/**
 * kipt_emit_count() - the instruction count of a record, and start anew
 * @flow: the flow
 *
 * Return: for kipt_record.aux, saturated.
 */
u32 kipt_emit_count(struct kipt_flow *flow);

/**
 * kipt_emit_insns() - account the first instructions of a block as executed
 * @flow: the flow
 * @block: at flow->at.ip
 * @insns: how many of it
 */
void kipt_emit_insns(struct kipt_flow *flow, const struct kipt_block *block,
		     u32 insns);

/**
 * kipt_emit_gap() - say that something is missing
 * @flow: the flow
 * @kind: enum kipt_gap_kind
 * @status: enum kipt_status
 * @offset: where in the trace
 */
void kipt_emit_gap(struct kipt_flow *flow, u8 kind, enum kipt_status status,
		   u64 offset);

/**
 * kipt_emit_paths() - the PATHS record being filled, if any, is complete
 * @flow: the flow
 */
void kipt_emit_paths(struct kipt_flow *flow);

/**
 * kipt_emit_path() - a path was taken
 * @flow: packs
 * @number: of the path
 */
void kipt_emit_path(struct kipt_flow *flow, u32 number);

/**
 * kipt_emit_untold() - the records since @flow->mark are no path's
 * @flow: numbers that belong before them are put there
 */
void kipt_emit_untold(struct kipt_flow *flow);

/**
 * kipt_emit_give() - give the sink what is complete; numbers wait on
 * @flow: its buffer is empty afterwards
 */
void kipt_emit_give(struct kipt_flow *flow);

/**
 * kipt_emit_raw() - a record that belongs to no place in the flow
 * @flow: the flow
 * @record: copied; no TIME record comes before it
 */
void kipt_emit_raw(struct kipt_flow *flow, const struct kipt_record *record);

/**
 * kipt_emit_room() - room for records in the buffer
 * @flow: the flow
 * @n: how many, at most KIPT_FLOW_BUFFER
 *
 * A TIME record comes first if time has moved.
 *
 * Return: where they are to be put; @flow->count already includes them.
 */
struct kipt_record *kipt_emit_room(struct kipt_flow *flow, u32 n);

/* flow_count.c: edge counts, and what is dropped when memory is full. */

/**
 * kipt_count_edge() - control went along an edge that is no direct branch's
 * @flow: counts, does not record
 * @from: the branch, or where an event came
 * @to: where control went
 * @kind: enum kipt_branch_kind
 */
void kipt_count_edge(struct kipt_flow *flow, u64 from, u64 to, u8 kind);

/**
 * kipt_count_add() - control went along an edge many times
 * @flow: counts
 * @space: address space of the end that is not the kernel's, if one is
 * @from: the branch
 * @to: where control went
 * @kind: enum kipt_branch_kind
 * @count: how often
 */
void kipt_count_add(struct kipt_flow *flow, u64 space, u64 from, u64 to, u8 kind,
		    u64 count);

/**
 * kipt_count_give() - give the sink what was counted
 * @flow: counts start again from 0
 *
 * Return: false if a pause was asked for: it is to be called again, for the
 * rest, before anything is counted.
 */
bool kipt_count_give(struct kipt_flow *flow);

/**
 * kipt_flow_renew() - drop all that is cached
 * @flow: the flow; no block is in use
 *
 * Return: as kipt_count_give(); nothing was dropped then.
 */
bool kipt_flow_renew(struct kipt_flow *flow);

/* path_run.c, path_learn.c: what was there before. */

/* No address of code: of the block that stands for "tracing is off". */
#define KIPT_OFF_IP		(1ULL << 63)

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

/*
 * KIPT_FLOW_PROVE: paths are taken one by one, and what each does is held against the
 * slow path at once (selftests/decode/path_prove.c).
 */
#ifdef KIPT_FLOW_PROVE
#define KIPT_PROVES	true
#else
#define KIPT_PROVES	false
#endif

/**
 * kipt_prove_begin() - a path may be taken next
 * @flow: kipt_path_may_run() is true
 */
void kipt_prove_begin(struct kipt_flow *flow);

/**
 * kipt_prove_end() - hold what was taken since then, if something was, against the slow
 * path; ends the program if they differ
 * @flow: unchanged
 */
void kipt_prove_end(struct kipt_flow *flow);

/* path_replay.c: what paths went by. */

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
 */
void kipt_path_replay(struct kipt_flow *flow, const struct kipt_path *path,
		      void (*visit)(void *ctx, const struct kipt_step *step), void *ctx);

/**
 * kipt_path_fold() - give what paths counted to blocks and edges
 * @flow: counts; no path counts anything afterwards. Edges there is no room for go to
 *	the sink.
 */
void kipt_path_fold(struct kipt_flow *flow);

/**
 * kipt_path_settle_trail() - name blocks in the trail instead of paths
 * @flow: its paths may be dropped afterwards
 */
void kipt_path_settle_trail(struct kipt_flow *flow);

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

/**
 * kipt_trail_read() - the last blocks walked
 * @flow: the flow
 * @trail: KIPT_FLOW_HISTORY of them, the youngest first
 *
 * Return: how many there are.
 */
u32 kipt_trail_read(struct kipt_flow *flow, struct kipt_trail *trail);

/* flow_walk.c: following code. */

/**
 * kipt_branch_kind() - enum kipt_branch_kind of an instruction class
 * @class: enum kipt_insn_class
 *
 * Return: the kind, 0 if it is no branch.
 */
u8 kipt_branch_kind(u8 class);

/**
 * kipt_walk_needs_packet() - does an instruction wait for a packet
 * @class: enum kipt_insn_class
 *
 * Return: true if where control goes behind it is only known from one.
 */
bool kipt_walk_needs_packet(u8 class);

/**
 * kipt_walk_disables() - does a TIP.PGD belong to the end of a block
 * @flow: the flow
 * @block: the block
 * @has_ip: the packet says where control went
 * @target: there
 * @pending: a PIP waits for a MOV CR3
 *
 * Return: true if so (Intel SDM Vol. 3C, "TIP.PGD Packet").
 */
bool kipt_walk_disables(const struct kipt_flow *flow, const struct kipt_block *block,
			bool has_ip, u64 target, bool pending);

/**
 * kipt_walk_forget() - no CALL and no block was seen before
 * @flow: the flow
 */
void kipt_walk_forget(struct kipt_flow *flow);

/**
 * kipt_walk_find() - the block at the place
 * @flow: the flow
 * @block: valid until the next find
 *
 * Return: as kipt_blocks_find().
 */
enum kipt_status kipt_walk_find(struct kipt_flow *flow,
				const struct kipt_block **block);

/**
 * kipt_walk_tnt() - follow the flow while outcomes are left
 * @flow: enabled; on success either no outcome is left, or the next one needs
 *	a TIP first
 *
 * Return: KIPT_OK, or why the flow and the outcomes contradict each other.
 */
enum kipt_status kipt_walk_tnt(struct kipt_flow *flow);

/**
 * kipt_walk_tip() - follow the flow to the branch a TIP belongs to
 * @flow: enabled; on success at @target
 * @target: where the branch went
 *
 * Return: KIPT_OK, or why the flow and the TIP contradict each other.
 */
enum kipt_status kipt_walk_tip(struct kipt_flow *flow, u64 target);

/**
 * kipt_walk_pgd() - follow the flow to the branch a TIP.PGD belongs to
 * @flow: enabled; on success the DISABLE record is made
 * @has_ip: the packet says where the branch went
 * @target: there
 *
 * Return: KIPT_OK, or why the flow and the TIP.PGD contradict each other.
 */
enum kipt_status kipt_walk_pgd(struct kipt_flow *flow, bool has_ip, u64 target);

/**
 * kipt_walk_to_ip() - follow the flow to an address, without packets
 * @flow: enabled; unchanged on failure
 * @ip: the address
 *
 * Return: KIPT_OK, or why @ip is not reached.
 */
enum kipt_status kipt_walk_to_ip(struct kipt_flow *flow, u64 ip);

/**
 * kipt_walk_to_class() - follow the flow behind an instruction of a class
 * @flow: enabled; unchanged on failure
 * @class: KIPT_INSN_MOV_CR3 or KIPT_INSN_PTWRITE
 * @ip: address of the instruction
 *
 * Return: KIPT_OK, or why there is none before the next packet is needed.
 */
enum kipt_status kipt_walk_to_class(struct kipt_flow *flow, u8 class, u64 *ip);

/* flow.c: the outer loops. */

/**
 * kipt_flow_step() - use the next packet, by the slow path
 * @flow: inside a segment
 *
 * Return: KIPT_OK, KIPT_END at the segment's end, or why the bytes are no packet.
 */
enum kipt_status kipt_flow_step(struct kipt_flow *flow);

/**
 * kipt_flow_on_time() - use a packet that only tells time
 * @flow: the flow
 * @packet: one that kipt_packet_is_time() is true for
 */
void kipt_flow_on_time(struct kipt_flow *flow,
		       const struct kipt_packet *packet);

/* flow_psb.c: where decoding starts. */

/**
 * kipt_psb_start() - start decoding at a PSB
 * @flow: the flow; all its state but the block cache starts anew
 * @offset: of the PSB
 * @end: of the segment
 *
 * Return: false if the PSB+ is no good; a GAP record says so.
 */
bool kipt_psb_start(struct kipt_flow *flow, u64 offset, u64 end);

/**
 * kipt_psb_arrive() - end a segment at the PSB of the next
 * @flow: the flow; all packets before the PSB were used
 * @offset: of that PSB
 * @end: of the segment that starts there
 */
void kipt_psb_arrive(struct kipt_flow *flow, u64 offset, u64 end);

/* flow_branch.c: TNT, TIP, TIP.PGE, TIP.PGD, MODE.Exec, PIP. */

/**
 * kipt_flow_fail() - the trace makes no sense here
 * @flow: the flow; lost afterwards
 * @status: why
 */
void kipt_flow_fail(struct kipt_flow *flow, enum kipt_status status);

/**
 * kipt_flow_enable() - execution is at an address, whatever was before
 * @flow: enabled afterwards
 * @kind: enum kipt_enable_kind
 * @ip: address
 */
void kipt_flow_enable(struct kipt_flow *flow, u8 kind, u64 ip);

/**
 * kipt_flow_take_ip() - decompress a packet's address
 * @flow: its LastIP is set
 * @packet: TIP, TIP.PGE, TIP.PGD or FUP
 *
 * Return: true if the packet has an address that can be believed: it is in
 * @flow->last_ip.
 */
bool kipt_flow_take_ip(struct kipt_flow *flow,
		       const struct kipt_packet *packet);

/**
 * kipt_flow_abort() - MODE.TSX said that a transaction was aborted
 * @flow: its abort was pending
 * @ip: where that was, or NULL if that is not known
 */
void kipt_flow_abort(struct kipt_flow *flow, const u64 *ip);

/**
 * kipt_flow_disable() - tracing is off from here on
 * @flow: the flow
 */
void kipt_flow_disable(struct kipt_flow *flow);

/**
 * kipt_flow_set_cr3() - the address space changes now
 * @flow: the flow
 * @cr3: CR3
 * @nr: VMX non-root
 */
void kipt_flow_set_cr3(struct kipt_flow *flow, u64 cr3, bool nr);

/**
 * kipt_flow_set_mode() - the execution mode is this from now on
 * @flow: the flow
 * @value: MODE.Exec bits
 * @always: make a record even if nothing changes
 */
void kipt_flow_set_mode(struct kipt_flow *flow, u8 value, bool always);

/**
 * kipt_exec_kind() - what MODE.Exec bits stand for
 * @value: the bits
 *
 * Return: enum kipt_exec_kind.
 */
static inline u8 kipt_exec_kind(u8 value)
{
	return value & KIPT_MODE_EXEC_L ? KIPT_EXEC_64 :
	       value & KIPT_MODE_EXEC_D ? KIPT_EXEC_32 : KIPT_EXEC_16;
}

/**
 * kipt_flow_set_mode_at() - use MODE.Exec bits where a FUP says
 * @flow: the flow
 * @value: MODE.Exec bits
 * @ip: of the FUP
 */
void kipt_flow_set_mode_at(struct kipt_flow *flow, u8 value, u64 ip);

/**
 * kipt_flow_settle() - PIP and MODE.Exec that waited for an address apply
 * @flow: the flow
 */
void kipt_flow_settle(struct kipt_flow *flow);

/**
 * kipt_flow_on_tnt() - use branch outcomes
 * @flow: the flow; its tnt was just filled
 */
void kipt_flow_on_tnt(struct kipt_flow *flow);

/**
 * kipt_flow_on_branch() - use a TIP, TIP.PGE, TIP.PGD, MODE.Exec or PIP packet
 * @flow: the flow
 * @packet: the packet
 */
void kipt_flow_on_branch(struct kipt_flow *flow,
			 const struct kipt_packet *packet);

/* flow_event.c: FUP and what claims it. */

/**
 * kipt_flow_on_fup() - use a FUP
 * @flow: the flow
 * @packet: the FUP
 */
void kipt_flow_on_fup(struct kipt_flow *flow, const struct kipt_packet *packet);

/**
 * kipt_flow_release() - records that waited for an address go without
 * @flow: the flow
 */
void kipt_flow_release(struct kipt_flow *flow);

/**
 * kipt_flow_hold() - keep a record until its address is known
 * @flow: the flow
 * @record: copied
 */
void kipt_flow_hold(struct kipt_flow *flow, const struct kipt_record *record);

/**
 * kipt_flow_end_data() - no event comes for the EVDs before
 * @flow: the flow; if there are some it is lost afterwards
 */
void kipt_flow_end_data(struct kipt_flow *flow);

/**
 * kipt_flow_on_side() - use a packet about something beside the flow
 * @flow: the flow
 * @packet: MODE.TSX, PTW, power, Event Trace, block, VMCS, TraceStop, TRIG
 */
void kipt_flow_on_side(struct kipt_flow *flow,
		       const struct kipt_packet *packet);

/* flow_ovf.c: overflow. */

/**
 * kipt_flow_on_ovf() - packets were lost
 * @flow: the flow
 */
void kipt_flow_on_ovf(struct kipt_flow *flow);

/**
 * kipt_flow_fup_is_stray() - is the FUP behind an OVF one that erratum APL12
 * makes while tracing is off
 * @flow: its cursor is behind the FUP
 *
 * Return: true if the packets to come say that tracing is off.
 */
bool kipt_flow_fup_is_stray(const struct kipt_flow *flow);

/**
 * kipt_flow_ovf_before() - is there an OVF, with nothing but timing packets
 * between it and an offset
 * @data: trace
 * @offset: where a packet starts
 *
 * Return: true if so.
 */
bool kipt_flow_ovf_before(const u8 *data, u64 offset);

#endif /* KIPT_DECODE_FLOW_STATE_H */
