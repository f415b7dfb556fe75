/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * x86 instructions as control flow sees them: how long, what kind of branch,
 * where to. Operands, registers and validity beyond the length are nobody's
 * business here. Pure, any context.
 */
#ifndef KIPT_DECODE_INSN_H
#define KIPT_DECODE_INSN_H

#include "../port.h"
#include "../status.h"

#define KIPT_INSN_MAX_LEN	15

/**
 * enum kipt_insn_class - what an instruction means to a trace
 * @KIPT_INSN_OTHER: control goes on after it, and it makes no packet
 * @KIPT_INSN_COND: Jcc, LOOPcc, JrCXZ
 * @KIPT_INSN_JUMP: direct near JMP
 * @KIPT_INSN_CALL: direct near CALL
 * @KIPT_INSN_JUMP_IND: indirect near JMP; JMPABS too
 * @KIPT_INSN_CALL_IND: indirect near CALL
 * @KIPT_INSN_RET: near RET
 * @KIPT_INSN_SYSCALL: SYSCALL, SYSENTER
 * @KIPT_INSN_SYSRET: SYSRET, SYSEXIT
 * @KIPT_INSN_IRET: IRET, UIRET, ERETS, ERETU
 * @KIPT_INSN_FAR: far JMP, CALL and RET; RSM
 * @KIPT_INSN_VMENTRY: VMLAUNCH, VMRESUME
 * @KIPT_INSN_VMCALL: VMCALL: leaves only in VMX operation
 * @KIPT_INSN_INT: INT n, INT3, INT1: an event follows
 * @KIPT_INSN_INTO: INTO: an event follows, or nothing
 * @KIPT_INSN_MOV_CR3: MOV to CR3
 * @KIPT_INSN_PTWRITE: PTWRITE
 *
 * Classes after @KIPT_INSN_OTHER end a block.
 */
enum kipt_insn_class {
	KIPT_INSN_OTHER = 0,
	KIPT_INSN_COND,
	KIPT_INSN_JUMP,
	KIPT_INSN_CALL,
	KIPT_INSN_JUMP_IND,
	KIPT_INSN_CALL_IND,
	KIPT_INSN_RET,
	KIPT_INSN_SYSCALL,
	KIPT_INSN_SYSRET,
	KIPT_INSN_IRET,
	KIPT_INSN_FAR,
	KIPT_INSN_VMENTRY,
	KIPT_INSN_VMCALL,
	KIPT_INSN_INT,
	KIPT_INSN_INTO,
	KIPT_INSN_MOV_CR3,
	KIPT_INSN_PTWRITE,

	__KIPT_INSN_CLASS_MAX,
	KIPT_INSN_CLASS_MAX = __KIPT_INSN_CLASS_MAX - 1
};

/**
 * struct kipt_insn - one instruction
 * @len: its bytes, 1..15
 * @class: enum kipt_insn_class
 * @ip_mask: what the IP it jumps to is cut to by its operand size
 * @target: where COND, JUMP, CALL and JMPABS go; else 0
 */
struct kipt_insn {
	u8 len;
	u8 class;
	u64 ip_mask;
	u64 target;
};

/**
 * kipt_insn_decode() - classify the instruction at some bytes
 * @insn: written only on success
 * @mode: enum kipt_exec_kind: 64, 32 or 16-bit code
 * @ip: address of the bytes
 * @bytes: code
 * @len: how many bytes may be read; 15 are always enough
 *
 * Context: any.
 * Return:
 * KIPT_OK: @insn is filled.
 * KIPT_TRUNCATED: the bytes end inside the instruction.
 * KIPT_BAD_INSN: there is no such instruction, or it is over 15 bytes long.
 */
enum kipt_status kipt_insn_decode(struct kipt_insn *insn, u32 mode, u64 ip,
				  const u8 *bytes, u32 len);

/**
 * kipt_branch_kind() - enum kipt_branch_kind of an instruction class
 * @class: enum kipt_insn_class
 *
 * Return: the kind, 0 if it is no branch.
 */
u8 kipt_branch_kind(u8 class);

/**
 * kipt_insn_needs_packet() - does an instruction wait for a packet
 * @class: enum kipt_insn_class
 *
 * Return: true if where control goes after it is only known from one.
 */
bool kipt_insn_needs_packet(u8 class);

#endif /* KIPT_DECODE_INSN_H */
