/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Control flow from packets and code: the core's outermost interface. One
 * struct kipt_flow decodes one CPU's trace, or one PSB-bounded chunk of it,
 * with memory the caller gave. Runs in any context the caller's callbacks
 * allow; never allocates, sleeps or locks by itself.
 *
 * Address spaces: an address with bit 63 set belongs to the kernel, which all
 * address spaces share: its space is 0 whatever CR3 is. All others belong to
 * the space that kipt_code.space() names for the last CR3, or 0 before one; so
 * do all of a guest, which has a kernel of its own.
 */
#ifndef KIPT_DECODE_FLOW_H
#define KIPT_DECODE_FLOW_H

#include "port.h"
#include "status.h"

/**
 * struct kipt_code - where code bytes come from; the caller's callbacks
 * @read: copy up to @len bytes of code at @ip of address space @space to
 *	@buf; returns how many were copied (0: there is none). May be called
 *	for any canonical address, also for one the program never had, and for code
 *	up to 64 blocks ahead of the flow.
 * @space: the caller's name of the address space CR3 value @cr3 (low bits as
 *	in PIP) means, of a guest if @nr; equal names share cached blocks. 0 is the
 *	space before any CR3 was seen. May be NULL: everything is space 0.
 * @changed: true if code in [@ip, @ip + @len) was patched while it was
 *	traced; asked only where there is no code, or trace and code contradict
 *	each other. May be NULL.
 * @based: true if 32 and 16-bit code of address space @space may lie in code
 *	segments that do not begin at 0, and the trace has offsets in
 *	them (CPUs without LIP): such code cannot be found, and is not looked
 *	for. May be NULL: false
 * @ctx: first argument of all
 */
struct kipt_code {
	u32 (*read)(void *ctx, u64 space, u64 ip, u8 *buf, u32 len);
	u64 (*space)(void *ctx, u64 cr3, bool nr);
	bool (*changed)(void *ctx, u64 space, u64 ip, u32 len);
	bool (*based)(void *ctx, u64 space);
	void *ctx;
};

/**
 * struct kipt_sink - where records go
 * @emit: takes @n >= 1 records, in order; false ends the decode with
 *	KIPT_STOPPED. The records are the core's: copy what is to be kept. May
 *	call kipt_flow_pause().
 * @ctx: its first argument
 */
struct kipt_sink {
	bool (*emit)(void *ctx, const struct kipt_record *records, u32 n);
	void *ctx;
};

/* struct kipt_flow_config.output: which records are made. GAP, SYNC, ENABLE,
 * DISABLE, CONTEXT, PTWRITE, POWER and EVENT records are always made. PACKED
 * packs those that BRANCHES or CALLS ask for, all branches if neither does;
 * COUNTS goes without any of these three: EDGE records are all that is emitted of
 * the flow then: there are no ENABLE and DISABLE records, and @aux of SYNC
 * records is 0. INSNS goes without nodes and what is made of them: branches
 * are not packed then. With CODE the @kind of INSN records is enum kipt_exec_kind,
 * and @value the address space that their code was read from.
 */
#define KIPT_FLOW_BRANCHES	(1U << 0)	/* every taken branch */
#define KIPT_FLOW_CALLS	(1U << 1)	/* calls, returns, far, events */
#define KIPT_FLOW_INSNS	(1U << 2)	/* INSN records too */
#define KIPT_FLOW_TIME	(1U << 3)	/* TIME and CBR records */
#define KIPT_FLOW_PACKED	(1U << 4)	/* as BRANCHES, packed: NODE, LINK, WALK */
#define KIPT_FLOW_COUNTS (1U << 5)	/* EDGE records, by kipt_flow_counts() */
#define KIPT_FLOW_NO_MEMO (1U << 6)	/* walk every block, remember nothing else */
#define KIPT_FLOW_CODE	(1U << 7)	/* INSN records say what code it was */
#define KIPT_FLOW_NO_COND (1U << 8)	/* with BRANCHES: see kipt_flow_sums() */

/* What kipt_code.space() may call all of a guest, if kipt_code.read() has none of it. */
#define KIPT_SPACE_GUEST	(~1ULL)

/* Every address space, as an argument of kipt_flow_forget(). */
#define KIPT_FLOW_SPACES	(~0ULL)

#define KIPT_FLOW_MEMORY	(64ULL << 20)
#define KIPT_FLOW_MEMORY_MIN	(16ULL << 10)
#define KIPT_FLOW_MEMORY_MAX	(4ULL << 30)

/**
 * struct kipt_flow_config - what the trace needs to be read
 * @output: KIPT_FLOW_*
 * @memory: bytes for blocks, nodes and counts together; 0:
 *	KIPT_FLOW_MEMORY. Little is touched as long as little is needed. When
 *	it is full, all of it is dropped (counts are given to the sink first)
 *	and filled anew.
 * @step_limit: blocks walked for one packet before KIPT_LOOP, those of its last
 *	outcome up to the next power of two; 0: 65536. If it is 4096 or more, those that
 *	lead to an outcome count only if they are more than 64
 * @step_slice: blocks walked or classified, and nodes followed, after which a run pauses:
 *	at the latest after what leads to 64 outcomes (up to 64 blocks each, to classify
 *	and to follow, and where code is patched to look whether a packet is used). With
 *	@step_limit it bounds the time of each call. 0: it pauses between packets alone;
 *	2^30 at most
 * @slice: bytes of trace after which a run pauses by itself, and so it does
 *	after a walk of 4096 blocks that used no packet; 0: it does not
 * @tsc_num: CPUID.15H:EBX; 0: unknown
 * @tsc_den: CPUID.15H:EAX; 0: unknown
 * @mtc_freq: RTIT_CTL.MTCFreq of the trace
 * @max_nonturbo_ratio: MSR_PLATFORM_INFO[15:8]; 0: unknown
 * @tsc_near: a TSC less than 2^55 ticks from the trace's: the packets have 56
 *	bits, all TIME records count on from this; 0: unknown, each PSB starts
 *	with upper bits of 0
 * @no_tnt: RTIT_CTL.DisTNT of the trace: where a TIP comes after a branch
 *	whose outcome the trace does not have, there is a gap, and the flow goes on at the
 *	TIP
 * @no_retc: RTIT_CTL.DisRETC of the trace: with @no_tnt a RET has a TIP. Without, a
 *	RET may have been compressed and has none
 * @seed: a secret number, so that no program can choose addresses that make looking
 *	for them slow; 0: none. Records are the same whatever it is
 * @apart: address of code that the slow path walks each time. The branches that lead there
 *	after a packet was used, and those from there up to the next one, have records of their
 *	own, also with PACKED. 0: none
 * @filter_count: entries of @filter, 0..4; 0: no address range, or unknown
 * @filter: the ranges (RTIT_ADDRn_A, _B, both inclusive). Code in those with
 *	@stop (TraceStop) was not traced, nor, if there are any without,
 *	was code outside of them. Only needed for CPUs with erratum SKL014,
 *	which leave out where a direct branch went that ended tracing
 */
struct kipt_flow_config {
	u32 output;
	u32 step_limit;
	u32 step_slice;
	u64 memory;
	u64 slice;
	u32 tsc_num;
	u32 tsc_den;
	u64 tsc_near;
	u64 seed;
	u64 apart;
	u8 mtc_freq;
	u8 max_nonturbo_ratio;
	bool no_tnt;
	bool no_retc;
	u8 filter_count;
	struct {
		u64 begin;
		u64 last;
		bool stop;
	} filter[4];
};

struct kipt_flow;

/**
 * kipt_flow_memory() - the memory that one flow may use
 * @config: as for kipt_flow_init()
 *
 * Context: any. Return: bytes: those of @config, or as many as there are by default.
 */
static inline u64 kipt_flow_memory(const struct kipt_flow_config *config)
{
	return config->memory ? config->memory : KIPT_FLOW_MEMORY;
}

/**
 * kipt_flow_size() - bytes of arena one flow needs
 * @config: as for kipt_flow_init()
 *
 * Context: any. Return: bytes: config->memory and some KiB.
 */
size_t kipt_flow_size(const struct kipt_flow_config *config);

/**
 * kipt_flow_init() - make a flow in the caller's memory
 * @arena: 64-byte aligned memory, the caller's; holds everything, and may be
 *	dropped at any time the flow is not running
 * @size: its bytes
 * @config: copied
 * @code: copied
 * @sink: copied
 *
 * Context: any. Return: the flow (inside @arena), or NULL if @size is less
 * than kipt_flow_size(), @memory is not 0 and not between KIPT_FLOW_MEMORY_MIN
 * and KIPT_FLOW_MEMORY_MAX, @filter_count is over 4, or @output has COUNTS and
 * PACKED.
 */
struct kipt_flow *kipt_flow_init(void *arena, size_t size,
				 const struct kipt_flow_config *config,
				 const struct kipt_code *code,
				 const struct kipt_sink *sink);

/**
 * kipt_flow_run() - decode a trace, or a chunk of one
 * @flow: the flow; blocks, nodes and counts are kept from run to run, all
 *	other state starts anew. After KIPT_STOPPED, and after a pause that is not
 *	resumed, packed records define all nodes anew
 * @data: the whole trace
 * @size: its bytes
 * @from: where to start; decoding begins at the first PSB at or after it. A
 *	GAP record reports bytes passed over before it.
 * @to: end of the chunk: 0 < @to <= @size. Decoding stops at the first PSB
 *	at or after @to, when execution has been followed up to the address
 *	in that PSB+. With @to == @size it stops at the end of the trace.
 *
 * Decoding [a, b) and then [b, c) makes the same records as [a, c) does, for
 * every b at which a PSB starts; so chunks may be decoded in parallel.
 *
 * Errors in the trace do not end the run: each makes a GAP record with its
 * status and offset. After code that is missing or was changed, decoding goes
 * on at the next address the trace gives, in a TIP, TIP.PGE or FUP; after any
 * other contradiction at the next one that is not compressed, nor built on one
 * that is not believed; after bytes that are no packet at the next PSB. An
 * event between is reported from its FUP on; a TIP.PGD makes a DISABLE record
 * without address.
 *
 * Context: that of the callbacks.
 * Return:
 * KIPT_OK: all was looked at; gaps, if any, are in the records.
 * KIPT_NO_PSB: there is no PSB in [@from, @size); a GAP record says so.
 * KIPT_STOPPED: the sink said stop.
 * KIPT_PAUSED: there is more; kipt_flow_resume() goes on.
 */
enum kipt_status kipt_flow_run(struct kipt_flow *flow, const u8 *data,
			       u64 size, u64 from, u64 to);

/**
 * kipt_flow_pause() - ask for a pause
 * @flow: the flow; the call comes from one of its callbacks
 *
 * The run, or kipt_flow_counts(), returns KIPT_PAUSED at the next boundary
 * between packets where it can. Up to there the sink may still be given what
 * KIPT_FLOW_PAUSE_BYTES of trace make: with branches seldom more than a
 * thousand records, of which up to 256 wait in the flow until it is resumed.
 * A single packet makes more where the program went through thousands of
 * direct jumps in a row.
 */
void kipt_flow_pause(struct kipt_flow *flow);

/* Without BRANCHES or CALLS, or with PACKED, it is KIPT_FLOW_PAUSE_MOST. */
#define KIPT_FLOW_PAUSE_BYTES	192U
#define KIPT_FLOW_PAUSE_MOST	2048U

/**
 * kipt_flow_until() - have runs pause at a place, where the caller changes what is read
 * @flow: no run of it is under way, but one may be paused
 * @offset: in the trace: a run, or one that goes on, which is before it pauses at the first
 *	boundary between packets at or after it; 0: runs do not pause there any more
 */
void kipt_flow_until(struct kipt_flow *flow, u64 offset);

/**
 * kipt_flow_paused_at() - where a run pauses
 * @flow: the last run of it, or what resumed it, gave KIPT_PAUSED
 *
 * Return: offset of the next packet.
 */
u64 kipt_flow_paused_at(const struct kipt_flow *flow);

/**
 * kipt_flow_resume() - go on with a run that was paused
 * @flow: the last call was kipt_flow_run() or this, and gave KIPT_PAUSED; the
 *	trace is where it was
 *
 * Pauses change nothing: the records are the same, wherever and however often
 * there are some.
 *
 * Context: that of the callbacks. Return: as kipt_flow_run().
 */
enum kipt_status kipt_flow_resume(struct kipt_flow *flow);

/**
 * kipt_flow_time() - make TIME and CBR records from now on, or not
 * @flow: the flow, not paused
 * @on: as KIPT_FLOW_TIME in the output says
 *
 * Context: any.
 */
void kipt_flow_time(struct kipt_flow *flow, bool on);

/**
 * kipt_flow_forget() - code of an address range is to be read again
 * @flow: the flow; if it is paused, then at the place of kipt_flow_until(), where tracing
 *	is off; what the code counted goes to the sink, without pause
 * @space: name of the address space; KIPT_FLOW_SPACES: all there are
 * @begin: first address
 * @end: last address + 1; @begin 0 and @end ~0: all of the space
 *
 * A range of at most 64 bytes is a patch: the first time, the decoder looks through all nodes for
 * those that lead there; from then on, until memory is full, it only looks up the blocks of the
 * range, if @space is not KIPT_FLOW_SPACES.
 *
 * Context: that of the sink; not from a callback of the flow.
 */
void kipt_flow_forget(struct kipt_flow *flow, u64 space, u64 begin, u64 end);

/**
 * kipt_flow_counts() - give the sink the edge counts, and count from 0 again
 * @flow: made with KIPT_FLOW_COUNTS, not paused in a run; it counts over all its
 *	runs, and gives counts away before this only if its memory is full
 *
 * Context: that of the sink.
 * Return: KIPT_OK, KIPT_STOPPED, or KIPT_PAUSED: call it again for the rest.
 */
enum kipt_status kipt_flow_counts(struct kipt_flow *flow);

/**
 * struct kipt_flow_sums - what KIPT_FLOW_NO_COND made no records of
 * @branches: conditional branches that were taken
 * @insns: the sum of what @aux of their records would be; @aux of all other records is the
 *	same as with them
 */
struct kipt_flow_sums {
	u64 branches;
	u64 insns;
};

/**
 * kipt_flow_sums() - what the flow made no records of, in all its runs
 * @flow: the flow
 *
 * User space only: the module has neither this nor KIPT_FLOW_NO_COND.
 *
 * Context: any. Return: the sums; 0 unless it was made with KIPT_FLOW_NO_COND.
 */
struct kipt_flow_sums kipt_flow_sums(const struct kipt_flow *flow);

#endif /* KIPT_DECODE_FLOW_H */
