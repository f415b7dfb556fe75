/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What an instruction means for tracing: how it moves the instruction
 * pointer, or which of the few others it is that the test CPU handles itself.
 * Pure function on bytes; shares nothing with kmod/decode. Any thread.
 */
#ifndef TESTCPU_BRANCH_CLASS_H
#define TESTCPU_BRANCH_CLASS_H

#include <stdbool.h>
#include <stdint.h>

#include "insn_shape.h"

/**
 * enum branch_class - classes, near branches first
 *
 * BRANCH_INT holds INT n, INT3, INT1 and INTO: events, not transfers of their
 * own. Those from INSN_CPUID on do not branch.
 */
enum branch_class {
	BRANCH_NONE,
	BRANCH_COND,
	BRANCH_JUMP,
	BRANCH_CALL,
	BRANCH_JUMP_IND,
	BRANCH_CALL_IND,
	BRANCH_RET,
	BRANCH_SYSCALL,
	BRANCH_SYSRET,
	BRANCH_IRET,
	BRANCH_FAR,
	BRANCH_INT,
	INSN_MOV_CR3,
	INSN_CPUID,
	INSN_RDMSR,
	INSN_WRMSR,
	INSN_RDTSC,
	INSN_RDTSCP,
	INSN_PTWRITE,
	INSN_HLT,
	INSN_MONITOR,
	INSN_MWAIT,
	INSN_LGDT,
	INSN_LIDT,
	INSN_LLDT,
	INSN_IF,
};

/**
 * struct branch_info - one classified instruction
 * @class: enum branch_class
 * @no_push: direct call with displacement 0
 * @ret_width: operand size of a near RET in bits
 * @target: of a direct branch
 */
struct branch_info {
	uint8_t class;
	bool no_push;
	uint8_t ret_width;
	uint64_t target;
};

/**
 * branch_classify - classify an instruction
 * @bytes: the instruction
 * @len: its length
 * @mode: code size
 * @ip: its address, for the target
 */
struct branch_info branch_classify(const uint8_t *bytes, unsigned int len,
				   enum insn_mode mode, uint64_t ip);

/** branch_is_far - a transfer that may change CPL or code size */
static inline bool branch_is_far(uint8_t class)
{
	return class >= BRANCH_SYSCALL && class <= BRANCH_FAR;
}

#endif /* TESTCPU_BRANCH_CLASS_H */
