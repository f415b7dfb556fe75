/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Format of the ground truth that the test CPU writes: one file per vCPU,
 * truth.<vcpu>, a struct truth_header and then struct truth_entry until the
 * end of the file. It is made from what executed, never from packets. All
 * values little endian. Shares nothing with the decoder's record format.
 */
#ifndef KIPT_TRUTH_H
#define KIPT_TRUTH_H

#include <stdint.h>

#define TRUTH_MAGIC	0x485455525450494bULL	/* "KIPTRUTH" */
#define TRUTH_VERSION	1

/**
 * struct truth_header - start of a truth file
 * @magic: TRUTH_MAGIC
 * @version: TRUTH_VERSION
 * @entry_size: sizeof(struct truth_entry)
 * @vcpu: number of the vCPU
 * @mode: enum truth_mode
 */
struct truth_header {
	uint64_t magic;
	uint32_t version;
	uint32_t entry_size;
	uint32_t vcpu;
	uint32_t mode;
};

/**
 * struct truth_entry - one transfer, or one mark
 * @kind: enum truth_kind
 * @flags: TRUTH_F_*
 * @clock_high: of branch kinds, with truth-clock=on: bits 47:32 of the TSC
 *	after it, else 0
 * @aux: depends on @kind; of branch kinds bits 31:0 of that TSC, or 0
 * @from: address of the branch, or of the instruction an event hit
 * @to: where execution went
 */
struct truth_entry {
	uint8_t  kind;
	uint8_t  flags;
	uint16_t clock_high;
	uint32_t aux;
	uint64_t from;
	uint64_t to;
};

/**
 * enum truth_mode - how much is written
 * @TRUTH_FULL: every entry
 * @TRUTH_HASH: only a TRUTH_SUM at each clearing of TraceEn
 */
enum truth_mode {
	TRUTH_FULL = 1,
	TRUTH_HASH,
};

/*
 * Branch kinds are logged while PacketEn is 1 before and after. Not-taken
 * conditional branches are not logged.
 *
 * TRUTH_ENABLE: PacketEn became 1; @to is where tracing starts.
 * TRUTH_DISABLE: PacketEn became 0; @from as for a branch (the branch or the
 *	instruction that the event or WRMSR hit), @to where execution went;
 *	@aux is the enum truth_kind of what did it (TRUTH_MARK_OFF: WRMSR).
 * TRUTH_MARK_ON / OFF: TraceEn was set / cleared (WRMSR), whatever PacketEn.
 *	@from: the TSC; @to: IA32_RTIT_CTL.
 * TRUTH_SUM: @from: running hash, @to: count of branch entries, since the
 *	last TRUTH_MARK_ON.
 * TRUTH_OVERFLOW: packets were dropped on purpose from @from ...
 *	TRUTH_RESUME: ... to @to
 * TRUTH_PTWRITE: @from: the instruction; @to: operand; @aux: 4 or 8
 * TRUTH_IDLE: HLT or MWAIT at @from; @aux: hints (MWAIT) or 0xffffffff (HLT);
 *	of an MWAIT that an event ended before it slept, which makes no MWAIT
 *	packet, ones but for bits 7:4, those of its C-state inverted
 * TRUTH_WAKE: @aux: PWRX wake reason that was reported; @to: next address
 */
enum truth_kind {
	TRUTH_COND = 1,
	TRUTH_JUMP,
	TRUTH_CALL,
	TRUTH_JUMP_IND,
	TRUTH_CALL_IND,
	TRUTH_RET,
	TRUTH_SYSCALL,
	TRUTH_SYSRET,
	TRUTH_IRET,
	TRUTH_FAR,
	TRUTH_INTERRUPT,
	TRUTH_EXCEPTION,

	TRUTH_ENABLE = 32,
	TRUTH_DISABLE,
	TRUTH_MARK_ON,
	TRUTH_MARK_OFF,
	TRUTH_SUM,
	TRUTH_OVERFLOW,
	TRUTH_RESUME,
	TRUTH_PTWRITE,
	TRUTH_IDLE,
	TRUTH_WAKE,
	TRUTH_CR3,
};

/*
 * The running hash over branch entries (kinds below TRUTH_ENABLE), in order:
 * start 1469598103934665603, for each of from, to:
 * h = (h ^ v) * 1099511628211 mod 2^64.
 */
#define TRUTH_HASH_START	1469598103934665603ULL
#define TRUTH_HASH_PRIME	1099511628211ULL

#endif /* KIPT_TRUTH_H */
