/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * x86 bytes: one instruction of a wanted kind, in one of several encodings.
 * Knows lengths because it wrote the bytes; the decoder's tables are not asked.
 * User space.
 */
#ifndef KIPT_SELFTESTS_RANDOM_CODE_H
#define KIPT_SELFTESTS_RANDOM_CODE_H

#include "program.h"

#define CODE_MAX	15

/**
 * struct code - the bytes of one instruction
 * @byte: the bytes
 * @len: how many
 * @operand: as struct insn.operand; a displacement is the last bytes
 */
struct code {
	u8 byte[CODE_MAX];
	u8 len;
	u8 operand;
};

/**
 * code_make() - an instruction
 * @code: filled; displacements are 0
 * @rng: random numbers
 * @kind: enum insn_kind
 * @mode: enum kipt_exec_kind
 */
void code_make(struct code *code, struct rng *rng, u32 kind, u32 mode);

#endif /* KIPT_SELFTESTS_RANDOM_CODE_H */
