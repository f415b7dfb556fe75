/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A CPU that runs a random program: it decides where branches go and what
 * happens in between, has the encoder write the packets that this makes, and
 * the truth the records. The rules are the manual's (Intel SDM Vol. 3C,
 * "Packet Generation Scenarios"). walk.c steps; walk_rules.c configures;
 * walk_far.c changes privilege, address space and what is traced; walk_side.c
 * has all packets that are not about branches. User space.
 */
#ifndef KIPT_SELFTESTS_RANDOM_WALK_H
#define KIPT_SELFTESTS_RANDOM_WALK_H

#include "encode.h"
#include "program.h"
#include "truth.h"

#define WALK_FRAMES	32
#define WALK_RETURNS	512
#define WALK_RANGES	2

/* What a walk may do; each is something a peer may not know. */
#define WALK_RET_MISMATCH	(1U << 0)	/* RET not to its CALL */
#define WALK_DEFER		(1U << 1)	/* deferred TIPs */
#define WALK_EVENT_TRACE	(1U << 2)	/* CFE, EVD */
#define WALK_BLOCKS		(1U << 3)	/* BBP, BIP, BEP */
#define WALK_VMX		(1U << 4)	/* VM entry and exit */
#define WALK_OVERFLOW		(1U << 5)
#define WALK_OVERFLOW_PSB	(1U << 6)	/* OVF, PSB+, FUP */
#define WALK_TSX		(1U << 7)
#define WALK_POWER		(1U << 8)
#define WALK_TRACESTOP		(1U << 9)
#define WALK_CUT_FRONT		(1U << 10)	/* bytes before the first PSB */
#define WALK_CR3_FILTER		(1U << 11)
#define WALK_PTWRITE		(1U << 12)
#define WALK_OFF_SIDE		(1U << 13)	/* side packets while off */
#define WALK_CYC		(1U << 14)
#define WALK_MNT		(1U << 15)
#define WALK_PGD_OUTCOME	(1U << 16)	/* TIP.PGD for an outcome */
#define WALK_PGD_CR3		(1U << 17)	/* TIP.PGD at or after MOV CR3 */
#define WALK_LOST_CR3		(1U << 18)	/* OVF right after a PIP */
#define WALK_CBR_INSIDE		(1U << 19)	/* CBR after a MODE.Exec */
#define WALK_SHORT_AT_PSB	(1U << 20)	/* short IP after a PSB */
#define WALK_FAR		(1U << 21)	/* far CALL, JMP, RET */
#define WALK_TSC_INSIDE		(1U << 22)	/* TSC inside an event */
#define WALK_TRIG		(1U << 23)
#define WALK_CLAIM_TIME		(1U << 24)	/* time before EXSTOP's FUP */
#define WALK_PTW_BARE		(1U << 25)	/* PTW without a FUP */
#define WALK_PTW_AGAIN		(1U << 26)	/* PTW twice, no TNT between */
#define WALK_VMCS		(1U << 27)	/* VMCS in PSB+ */
#define WALK_DEEP		(1U << 28)	/* more CALLs than the CPU keeps */
#define WALK_IF			(1U << 29)	/* MODE.Exec has EFLAGS.IF */
#define WALK_BITS		30
#define WALK_ALL		((1U << WALK_BITS) - 1)

/**
 * struct walk_rules - how the CPU is configured, and how eventful its life is
 * @may: WALK_* bits
 * @os: RTIT_CTL.OS
 * @user: RTIT_CTL.User
 * @disretc: RTIT_CTL.DisRETC
 * @ptwrite: RTIT_CTL.PTWEn
 * @fup_on_ptw: RTIT_CTL.FUPonPTW
 * @tsc: RTIT_CTL.TSCEn
 * @mtc: RTIT_CTL.MTCEn
 * @mtc_freq: RTIT_CTL.MTCFreq
 * @interrupts: RTIT_CTL.EventEn: MODE.Exec has EFLAGS.IF
 * @vmcs: in VMX operation, and that is not concealed
 * @cr3_filter: RTIT_CTL.CR3Filter, matching address space 0
 * @nr_ranges: filter ranges
 * @stop: the last range is a TraceStop range
 * @ranges: first and last address of each
 * @steps: instructions to run, about
 * @psb: PSB+, of 1000 instructions
 * @event: interrupts and faults, of 1000 instructions
 * @overflow: OVF, of 1000 instructions
 * @side: timing and other packets, of 1000 instructions
 * @stray: RETs and IRETs that go elsewhere, of 1000
 */
struct walk_rules {
	u32 may;
	bool os;
	bool user;
	bool disretc;
	bool ptwrite;
	bool fup_on_ptw;
	bool tsc;
	bool mtc;
	u8 mtc_freq;
	bool interrupts;
	bool vmcs;
	bool cr3_filter;
	u8 nr_ranges;
	bool stop;
	struct {
		u64 begin;
		u64 last;
	} ranges[WALK_RANGES];
	u32 steps;
	u32 psb;
	u32 event;
	u32 overflow;
	u32 side;
	u32 stray;
};

/**
 * struct walk - a CPU
 * @program: what it runs
 * @rng: random numbers
 * @rules: configuration
 * @encode: its trace
 * @truth: what it did
 * @used: WALK_* bits of what happened
 * @at: number of the next instruction
 * @space: its address space
 * @nr: in VMX non-root operation
 * @nr_sent: that of the last PIP
 * @tx_depth: nested transactions
 * @fallback: where the outermost one goes on abort
 * @trace_en: RTIT_CTL.TraceEn
 * @stopped: RTIT_STATUS.Stopped
 * @context_en: RTIT_STATUS.ContextEn
 * @filter_en: RTIT_STATUS.FilterEn
 * @off_space: address space when packets ended: TraceStop, or TraceEn cleared
 * @off_tx: a transaction had begun then
 * @mode_known: a MODE.Exec was sent since the last PSB
 * @mode: the mode it had
 * @sent_if: the EFLAGS.IF it had
 * @if_set: EFLAGS.IF; false if @rules.interrupts is
 * @power_known: the last EXSTOP had an address, @power_ip
 * @power_ip: that address
 * @ptw_ip: address of the PTWRITE that the last packet was about, or 0
 * @frames: interrupted instructions and their address spaces
 * @nr_frames: how many
 * @returns: where open CALLs return to
 * @nr_returns: how many
 * @turns: per instruction, how often it was executed
 * @tsc: time
 * @cyc_tsc: time of the last CYC
 * @mtc_sent: MTC window last sent
 * @cyc_packets: packets that were made when the last CYC was
 */
struct walk {
	const struct program *program;
	struct rng *rng;
	struct walk_rules rules;
	struct encode encode;
	struct truth truth;
	u32 used;
	s32 at;
	u8 space;
	bool nr;
	bool nr_sent;
	u32 tx_depth;
	s32 fallback;
	bool trace_en;
	bool stopped;
	bool context_en;
	bool filter_en;
	u8 off_space;
	bool off_tx;
	bool mode_known;
	u8 mode;
	bool sent_if;
	bool if_set;
	bool power_known;
	u64 power_ip;
	u64 ptw_ip;
	struct {
		s32 at;
		u8 space;
	} frames[WALK_FRAMES];
	u32 nr_frames;
	s32 returns[WALK_RETURNS];
	u32 nr_returns;
	u8 turns[PROGRAM_INSNS];
	u64 tsc;
	u64 cyc_tsc;
	u64 mtc_sent;
	u32 cyc_packets;
};

#define WALK_TSC_NUM	84
#define WALK_TSC_DEN	1
#define WALK_RATIO	0x24

/**
 * walk_run() - run a program
 * @walk: all of it is filled; the trace is in @walk->encode
 * @program: the program
 * @rng: random numbers
 * @rules: configuration
 */
void walk_run(struct walk *walk, const struct program *program,
	      struct rng *rng, const struct walk_rules *rules);

/**
 * walk_rules_make() - a random configuration
 * @rules: filled
 * @rng: random numbers
 * @program: for the filter ranges
 * @may: WALK_* bits that are allowed
 */
void walk_rules_make(struct walk_rules *rules, struct rng *rng,
		     const struct program *program, u32 may);

/* walk.c: for the other walk_*.c files. */

/**
 * walk_insn() - the next instruction
 * @walk: the CPU
 *
 * Return: the instruction.
 */
static inline const struct insn *walk_insn(const struct walk *walk)
{
	return &walk->program->insns[walk->at];
}

/**
 * walk_ip() - address of the next instruction
 * @walk: the CPU
 *
 * Return: the address.
 */
static inline u64 walk_ip(const struct walk *walk)
{
	return walk_insn(walk)->ip;
}

/**
 * walk_region() - region of the next instruction
 * @walk: the CPU
 *
 * Return: the region.
 */
static inline const struct region *walk_region(const struct walk *walk)
{
	return &walk->program->regions[walk_insn(walk)->region];
}

/**
 * walk_trigger() - TriggerEn
 * @walk: the CPU
 *
 * Return: true if packets may be made at all.
 */
static inline bool walk_trigger(const struct walk *walk)
{
	return walk->trace_en && !walk->stopped;
}

/**
 * walk_on() - PacketEn
 * @walk: the CPU
 *
 * Return: true if branches make packets.
 */
static inline bool walk_on(const struct walk *walk)
{
	return walk_trigger(walk) && walk->context_en && walk->filter_en;
}

/**
 * walk_may() - is something allowed in this walk; if so it is now used
 * @walk: the CPU
 * @what: WALK_* bit
 *
 * Return: the answer.
 */
static inline bool walk_may(struct walk *walk, u32 what)
{
	if (!(walk->rules.may & what))
		return false;
	walk->used |= what;
	return true;
}

/**
 * walk_record() - add a record to the truth
 * @walk: the CPU
 * @record: the record; KIPT_RF_TSX is added to branches and instructions
 */
void walk_record(struct walk *walk, struct kipt_record record);

/**
 * walk_record_insn() - the next instruction is executed while packets are on
 * @walk: the CPU
 */
void walk_record_insn(struct walk *walk);

/**
 * walk_prove() - a packet was made that proves the records that wait
 * @walk: the CPU, already where the packet says
 */
void walk_prove(struct walk *walk);

/**
 * walk_pick() - a target for an indirect branch or a far transfer
 * @walk: the CPU
 * @salt: what chooses; the same salts give few different targets
 * @fits: which regions may be gone to
 *
 * Return: number of the instruction, or -1 if no region fits.
 */
s32 walk_pick(struct walk *walk, u64 salt,
	      bool (*fits)(const struct walk *walk,
			   const struct region *region));

/**
 * walk_mode_sent() - does the last MODE.Exec still hold
 * @walk: the CPU
 *
 * Return: false if none was sent since the last PSB, or it has changed.
 */
bool walk_mode_sent(const struct walk *walk);

/**
 * walk_send_mode() - MODE.Exec
 * @walk: the CPU
 */
void walk_send_mode(struct walk *walk);

/**
 * walk_record_mode() - add a MODE record to the truth
 * @walk: the CPU
 * @has_ip: it takes effect at the next instruction
 */
void walk_record_mode(struct walk *walk, bool has_ip);

/**
 * walk_enter() - packets are on from here: MODE.Exec and TIP.PGE
 * @walk: the CPU, at the first instruction
 */
void walk_enter(struct walk *walk);

/**
 * walk_leave() - the branch just recorded turned packets off: TIP.PGD
 * @walk: the CPU, after the branch
 * @from: address of the branch
 * @async: the FUP was made
 * @payload: TIP.PGD has the target
 */
void walk_leave(struct walk *walk, u64 from, bool async, bool payload);

/**
 * walk_filter() - evaluate FilterEn and TraceStop for a branch's target
 * @walk: the CPU, at the target
 *
 * Return: true if a TraceStop range was entered; walk_stop() is due.
 */
bool walk_filter(struct walk *walk);

/**
 * walk_stop() - TraceStop
 * @walk: the CPU; all other packets of the branch are made
 */
void walk_stop(struct walk *walk);

/* walk_far.c */

/**
 * walk_may_fup() - may an event come before the next instruction, with its FUP
 * @walk: the CPU
 *
 * Return: false if a FUP would mean something else: an address that ran since
 * the last packet would be reached too early; one of a VM entry may also be
 * that of erratum SKD022.
 */
bool walk_may_fup(struct walk *walk);

/**
 * walk_context() - evaluate ContextEn
 * @walk: the CPU
 */
void walk_context(struct walk *walk);

/**
 * walk_cr3() - the CR3 that names an address space
 * @space: address space
 *
 * Return: the value, as CONTEXT records have it.
 */
u64 walk_cr3(u8 space);

/**
 * walk_step_far() - execute a far transfer or an instruction of the kernel
 * @walk: the CPU
 */
void walk_step_far(struct walk *walk);

/**
 * walk_interrupt() - an interrupt or fault before the next instruction
 * @walk: the CPU
 */
void walk_interrupt(struct walk *walk);

/**
 * walk_trace_on() - WRMSR sets TraceEn
 * @walk: the CPU
 * @psb: with PSB+
 */
void walk_trace_on(struct walk *walk, bool psb);

/**
 * walk_trace_off() - WRMSR clears TraceEn
 * @walk: the CPU, at the WRMSR
 */
void walk_trace_off(struct walk *walk);

/**
 * walk_elsewhere() - go to any instruction, unseen
 * @walk: the CPU
 * @same: stay in the same mode, privilege and address space
 */
void walk_elsewhere(struct walk *walk, bool same);

/* walk_side.c */

/**
 * walk_psb() - PSB+
 * @walk: the CPU
 * @on: packets are on, so that it has MODE.Exec and FUP
 */
void walk_psb(struct walk *walk, bool on);

/**
 * walk_side() - some packet that is not about branches
 * @walk: the CPU
 */
void walk_side(struct walk *walk);

/* What is going on when a timing packet is sent. */
enum inside {
	INSIDE_NOTHING = 0,
	INSIDE_EVENT,	/* a FUP or TIP is due next */
	INSIDE_MODE,	/* a TIP is, after a MODE.Exec */
};

/**
 * walk_time() - maybe a timing packet
 * @walk: the CPU
 * @inside: which other packets it comes between
 */
void walk_time(struct walk *walk, enum inside inside);

/**
 * walk_overflow() - packets are lost
 * @walk: the CPU
 */
void walk_overflow(struct walk *walk);

/**
 * walk_ptwrite() - execute PTWRITE
 * @walk: the CPU
 */
void walk_ptwrite(struct walk *walk);

/**
 * walk_sleep() - MWAIT, or a change of frequency
 * @walk: the CPU
 * @mwait: at an MWAIT
 */
void walk_sleep(struct walk *walk, bool mwait);

/**
 * walk_transaction() - execute XBEGIN, XEND or XABORT
 * @walk: the CPU
 */
void walk_transaction(struct walk *walk);

/**
 * walk_abort() - the transaction ends at the next instruction
 * @walk: the CPU
 */
void walk_abort(struct walk *walk);

#endif /* KIPT_SELFTESTS_RANDOM_WALK_H */
