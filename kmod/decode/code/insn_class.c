// SPDX-License-Identifier: GPL-2.0-only
/*
 * What follows from the class of an instruction. Pure, any context.
 */
#include "insn.h"

/* Kinds of BRANCH records by class. */
static const u8 branch_kind[KIPT_INSN_CLASS_MAX + 1] = {
	[KIPT_INSN_COND] = KIPT_BRANCH_COND,
	[KIPT_INSN_JUMP] = KIPT_BRANCH_JUMP,
	[KIPT_INSN_CALL] = KIPT_BRANCH_CALL,
	[KIPT_INSN_JUMP_IND] = KIPT_BRANCH_JUMP_IND,
	[KIPT_INSN_CALL_IND] = KIPT_BRANCH_CALL_IND,
	[KIPT_INSN_RET] = KIPT_BRANCH_RET,
	[KIPT_INSN_SYSCALL] = KIPT_BRANCH_SYSCALL,
	[KIPT_INSN_SYSRET] = KIPT_BRANCH_SYSRET,
	[KIPT_INSN_IRET] = KIPT_BRANCH_IRET,
	[KIPT_INSN_FAR] = KIPT_BRANCH_FAR,
	[KIPT_INSN_VMENTRY] = KIPT_BRANCH_VMENTRY,
	[KIPT_INSN_INT] = KIPT_BRANCH_EVENT,
};

u8 kipt_branch_kind(u8 class)
{
	return branch_kind[class];
}

bool kipt_insn_needs_packet(u8 class)
{
	const u32 without = 1U << KIPT_INSN_OTHER | 1U << KIPT_INSN_JUMP | 1U << KIPT_INSN_CALL |
			    1U << KIPT_INSN_MOV_CR3 | 1U << KIPT_INSN_PTWRITE |
			    1U << KIPT_INSN_INTO | 1U << KIPT_INSN_VMCALL;

	return !(without >> class & 1);
}
