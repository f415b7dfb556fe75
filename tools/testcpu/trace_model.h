/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Packet generation of one logical processor (Intel SDM Vol. 3C, "Packet
 * Generation Scenarios"). Takes what executed, in program order; keeps the
 * enables, writes packets to the output and the transfers to the ground truth.
 * Owns all PT state of the processor; how to see what executes is the
 * caller's business (qemu_glue.c, or a test). One thread per struct pt_cpu,
 * no locks, no allocation.
 */
#ifndef TESTCPU_TRACE_MODEL_H
#define TESTCPU_TRACE_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "caps.h"
#include "msr_model.h"
#include "packet_encode.h"
#include "topa_model.h"
#include "truth_log.h"

#define PT_RET_STACK	64
#define PT_BUFFER	4096
#define PT_DEFERRED	8

/**
 * struct pt_options - freedoms of the architecture, chosen by the user
 * @long_tnt: TNT packets of up to 47 results
 * @deferred_tip: hold TIPs of indirect branches back while the TNT fills
 * @skl014: the erratum of that name: direct jumps and calls that clear FilterEn
 *	or enter a TraceStop range do not say where they went
 * @cyc_wrap: a CYC of its own when the cycle counter reaches 4096
 * @overflow_every: an overflow each so many packets; 0 never
 * @error_after: bytes of output after which it fails; 0 never
 * @overflow_length: packets lost in each
 * @stop_offset: subtracted from OutputOffset after a ToPA STOP; 0 or 1
 * @pmi_skid: bytes before the end of the only region of a table where the
 *	interrupt is raised
 * @psb_period: bytes between PSBs; 0: as PSBFreq says
 * @crystal_num: CPUID.15H:EBX
 * @crystal_den: CPUID.15H:EAX
 * @cbr: core to bus ratio
 * @mtc_stride: boundaries between looks at the clock for MTC; at least 1
 */
struct pt_options {
	bool long_tnt;
	bool deferred_tip;
	bool skl014;
	bool cyc_wrap;
	uint32_t overflow_every;
	uint32_t error_after;
	uint32_t overflow_length;
	uint32_t stop_offset;
	uint32_t pmi_skid;
	uint32_t psb_period;
	uint32_t crystal_num;
	uint32_t crystal_den;
	uint8_t cbr;
	uint32_t mtc_stride;
};

/**
 * struct pt_context - architectural state that tracing depends on
 * @cpl: current privilege level; 0 in real mode
 * @pae: 32-bit PAE paging: CR3 counts from bit 5
 * @nonroot: VMX non-root operation that is not concealed
 * @vmcs: base of the current VMCS, when @in_vmx
 * @in_vmx: VMX operation with PT allowed in it
 * @mode: code size and RFLAGS.IF
 * @cs_base: base of the code segment; 0 in 64-bit mode
 * @cr3: CR3
 */
struct pt_context {
	uint8_t cpl;
	bool pae;
	bool nonroot;
	bool in_vmx;
	struct pt_mode_exec mode;
	uint32_t cs_base;
	uint64_t cr3;
	uint64_t vmcs;
};

/**
 * struct pt_transfer - one change of flow that has happened
 *
 * All addresses are linear.
 *
 * @kind: enum truth_kind of a branch or event, or TRUTH_CR3
 * @from: the instruction; for an event the address that its FUP carries
 * @to: where execution goes on
 * @next: address after the instruction (calls)
 * @taken: conditional branches
 * @no_push: direct call with displacement 0
 * @ret_width: operand size of a near RET in bits
 * @source: the operation has a source FUP (events, INT n, VM exit)
 * @from_base: base of the code segment of @from; that of @to is in the context
 * @cr3_written: CR3 was loaded
 * @concealed: no PIP (VMX conceal controls)
 * @vector: of an event; -1 when unknown
 * @cr2: of a page fault
 */
struct pt_transfer {
	uint8_t kind;
	bool taken;
	bool no_push;
	bool source;
	bool cr3_written;
	bool concealed;
	uint8_t ret_width;
	int16_t vector;
	uint32_t from_base;
	uint64_t from;
	uint64_t to;
	uint64_t next;
	uint64_t cr2;
};

/**
 * enum pt_tsx - changes of the transaction state
 * @PT_TSX_BEGIN: a transaction began
 * @PT_TSX_COMMIT: it was committed
 * @PT_TSX_ABORT: it was aborted; execution goes on at the fallback
 */
enum pt_tsx {
	PT_TSX_BEGIN,
	PT_TSX_COMMIT,
	PT_TSX_ABORT,
};

/**
 * struct pt_cpu - one logical processor
 * @opts: options, shared, constant
 * @tsc: the time stamp counter; called with @tsc_ctx
 * @tsc_ctx: for @tsc
 * @truth: ground truth
 * @msrs: registers
 * @out: output position, valid while TraceEn
 * @ctx: architectural state; the caller updates it before it reports a
 *	transfer that changed it
 * @pmi: a ToPA PMI is to be delivered; the caller clears it
 * @trigger_en: TriggerEn
 * @context_en: ContextEn
 * @filter_en: FilterEn
 * @packet_en: PacketEn
 * @any_filter: a filter range is configured
 * @any_range: a filter or TraceStop range is configured
 * @overflow: packets are being lost
 * @overflow_left: packets still to lose
 * @since_overflow: packets since the last overflow
 * @since_start: bytes of output since tracing was enabled
 * @full_ip: the next IP is not compressed
 * @last_ip: LastIP
 * @in_tx: inside a transaction
 * @mode_sent: a MODE.Exec was sent since the last PSB, and since TraceEn was set
 * @last_mode: its content
 * @tnt_count: results buffered
 * @tnt_bits: they, the youngest in bit 0
 * @tnt_max: results in a full packet
 * @deferred_count: TIPs held back
 * @deferred: their addresses
 * @ret_depth: entries in @ret_stack, at most PT_RET_STACK
 * @ret_top: place of the next push
 * @ret_stack: ring of return addresses
 * @byte_count: bytes since the last PSB
 * @psb_period: bytes after which a PSB is due
 * @cycles: since the last CYC
 * @mtc_last: clock window of the last MTC
 * @mtc_wait: boundaries until the next look at the clock
 * @sleeping: HLT or MWAIT has begun and no wake was reported
 * @sleep_state: C-state nibble of the sleep
 * @len: bytes in @buf
 * @limit: number of bytes in @buf at which they are written out
 * @buf: packets not yet written
 */
struct pt_cpu {
	const struct pt_options *opts;
	uint64_t (*tsc)(void *ctx);
	void *tsc_ctx;
	struct truth_log truth;
	struct pt_msrs msrs;
	struct pt_output out;
	struct pt_context ctx;
	bool pmi;

	bool trigger_en;
	bool context_en;
	bool filter_en;
	bool packet_en;
	bool any_filter;
	bool any_range;

	bool overflow;
	uint32_t overflow_left;
	uint32_t since_overflow;
	uint64_t since_start;

	bool full_ip;
	uint64_t last_ip;
	bool in_tx;
	bool mode_sent;
	struct pt_mode_exec last_mode;

	unsigned int tnt_count;
	uint64_t tnt_bits;
	unsigned int tnt_max;
	unsigned int deferred_count;
	uint64_t deferred[PT_DEFERRED];

	unsigned int ret_depth;
	unsigned int ret_top;
	uint64_t ret_stack[PT_RET_STACK];

	uint32_t byte_count;
	uint32_t psb_period;
	uint64_t cycles;
	uint64_t mtc_last;
	uint32_t mtc_wait;
	bool sleeping;
	uint8_t sleep_state;

	size_t len;
	size_t limit;
	uint8_t buf[PT_BUFFER + 2 * PT_PACKET_MAX];
};

/**
 * pt_cpu_init - a processor after a cold reset
 * @cpu: filled; @tsc and @tsc_ctx are the caller's to set afterwards
 * @caps: CPU model, must outlive @cpu
 * @opts: options, must outlive @cpu
 * @mem: physical memory
 */
void pt_cpu_init(struct pt_cpu *cpu, const struct testcpu_caps *caps,
		 const struct pt_options *opts, const struct pt_memory *mem);

/** pt_cpu_warm_reset - warm reset: tracing stops without a packet */
void pt_cpu_warm_reset(struct pt_cpu *cpu);

/**
 * pt_wrmsr - WRMSR at CPL 0
 * @cpu: with @ctx up to date
 * @msr: address
 * @value: new value
 * @clip: address of the instruction
 * @nlip: address after it
 */
enum pt_msr_result pt_wrmsr(struct pt_cpu *cpu, uint32_t msr, uint64_t value,
			    uint64_t clip, uint64_t nlip);

/** pt_rdmsr - RDMSR at CPL 0 */
enum pt_msr_result pt_rdmsr(struct pt_cpu *cpu, uint32_t msr,
			    uint64_t *value);

/**
 * pt_transfer - a branch, far transfer, event or MOV CR3 has completed
 * @cpu: with @ctx as it is after the transfer
 * @t: what happened
 */
void pt_transfer(struct pt_cpu *cpu, const struct pt_transfer *t);

/** pt_ptwrite - PTWRITE of @size 4 or 8 bytes has completed */
void pt_ptwrite(struct pt_cpu *cpu, uint64_t clip, uint64_t nlip,
		uint64_t value, unsigned int size);

/** pt_hlt - HLT at @clip puts the processor to sleep */
void pt_hlt(struct pt_cpu *cpu, uint64_t clip);

/**
 * struct pt_mwait - an MWAIT that does not fault
 * @hints: EAX
 * @ext: ECX
 * @armed: the monitor is armed, and nothing was stored to its line since
 * @event: an interrupt that ends the sleep is pending
 */
struct pt_mwait {
	uint32_t hints;
	uint32_t ext;
	bool armed;
	bool event;
};

/**
 * pt_mwait - MWAIT
 * @cpu: with @ctx up to date
 * @clip: address of the instruction
 * @nlip: address after it
 * @m: the MWAIT
 *
 * Return: true when the processor sleeps now; pt_wake() ends that.
 */
bool pt_mwait(struct pt_cpu *cpu, uint64_t clip, uint64_t nlip,
	      const struct pt_mwait *m);

/* Wake reasons of PWRX. */
#define PT_WAKE_OTHER		0
#define PT_WAKE_INTERRUPT	1
#define PT_WAKE_STORE		4

/** pt_wake - the sleep ends, before the packets of what ended it */
void pt_wake(struct pt_cpu *cpu, uint8_t reason, uint64_t next);

/** pt_tsx - the transaction state changed at @clip; @to for aborts */
void pt_tsx(struct pt_cpu *cpu, enum pt_tsx change, uint64_t clip,
	    uint64_t to);

/** pt_vmptrld - VMPTRLD succeeded, @ctx.vmcs is the new base */
void pt_vmptrld(struct pt_cpu *cpu);

/** pt_if_change - STI, CLI or POPF changed RFLAGS.IF (Event Trace) */
void pt_if_change(struct pt_cpu *cpu, uint64_t nlip);

/** pt_boundary - the instruction before @next has completed */
void pt_boundary(struct pt_cpu *cpu, uint64_t next);

/** pt_cpu_tracing - TriggerEn */
static inline bool pt_cpu_tracing(const struct pt_cpu *cpu)
{
	return cpu->trigger_en;
}

#endif /* TESTCPU_TRACE_MODEL_H */
