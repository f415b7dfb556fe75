// SPDX-License-Identifier: GPL-2.0-only
/*
 * The encodings, from the instruction set reference. Operands that do not
 * matter to control flow are random. User space.
 */
#include "code.h"

#include <stdlib.h>

#define M64	(1U << KIPT_EXEC_64)
#define M32	(1U << KIPT_EXEC_32)
#define M16	(1U << KIPT_EXEC_16)
#define ALL	(M64 | M32 | M16)

/**
 * struct form - one encoding
 * @kind: enum insn_kind
 * @modes: bit n: it exists in mode n
 * @len: bytes
 * @noise: how many of the last bytes are random operands
 * @operand: as struct insn.operand
 * @byte: the bytes, displacements and operands 0
 */
struct form {
	u8 kind;
	u8 modes;
	u8 len;
	u8 noise;
	u8 operand;
	u8 byte[CODE_MAX];
};

static const struct form forms[] = {
	{ INSN_PLAIN, ALL, 1, 0, 0, { 0x90 } },
	{ INSN_PLAIN, ALL, 2, 0, 0, { 0x89, 0xd8 } },
	{ INSN_PLAIN, ALL, 2, 1, 0, { 0x24 } },
	{ INSN_PLAIN, ALL, 3, 1, 0, { 0x83, 0xc0 } },
	{ INSN_PLAIN, M64 | M32, 5, 4, 0, { 0xb8 } },
	{ INSN_PLAIN, M16, 3, 2, 0, { 0xb8 } },
	{ INSN_PLAIN, M16, 6, 4, 0, { 0x66, 0xb8 } },
	{ INSN_PLAIN, M64, 10, 8, 0, { 0x48, 0xb8 } },
	{ INSN_PLAIN, M64, 3, 0, 0, { 0x48, 0x89, 0xe5 } },
	{ INSN_PLAIN, M64, 4, 1, 0, { 0x48, 0x8b, 0x45 } },
	{ INSN_PLAIN, M64, 5, 1, 0, { 0x48, 0x8b, 0x44, 0x24 } },
	{ INSN_PLAIN, M64, 7, 4, 0, { 0x48, 0x8d, 0x05 } },
	{ INSN_PLAIN, M64 | M32, 6, 4, 0, { 0x81, 0xc3 } },
	{ INSN_PLAIN, M64 | M32, 7, 4, 0, { 0x8b, 0x04, 0x85 } },
	{ INSN_PLAIN, M64 | M32, 10, 8, 0, { 0xc7, 0x05 } },
	{ INSN_PLAIN, M64 | M32, 6, 3, 0, { 0x66, 0xc7, 0x40 } },
	{ INSN_PLAIN, M16, 4, 2, 0, { 0x8b, 0x86 } },
	{ INSN_PLAIN, M16, 3, 1, 0, { 0x8b, 0x46 } },
	{ INSN_PLAIN, M64 | M32, 4, 0, 0, { 0x0f, 0x1f, 0x40, 0x00 } },
	{ INSN_PLAIN, M64 | M32, 9, 0, 0,
	  { 0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x02, 0x00, 0x00 } },
	{ INSN_PLAIN, ALL, 3, 0, 0, { 0x0f, 0xaf, 0xc3 } },
	{ INSN_PLAIN, ALL, 3, 0, 0, { 0x0f, 0x94, 0xc0 } },
	{ INSN_PLAIN, ALL, 4, 0, 0, { 0x66, 0x0f, 0xef, 0xc0 } },
	{ INSN_PLAIN, ALL, 5, 0, 0, { 0x66, 0x0f, 0x38, 0x00, 0xc1 } },
	{ INSN_PLAIN, ALL, 6, 1, 0, { 0x66, 0x0f, 0x3a, 0x0f, 0xc1 } },
	{ INSN_PLAIN, M64 | M32, 3, 0, 0, { 0xc5, 0xf8, 0x77 } },
	{ INSN_PLAIN, M64, 5, 0, 0, { 0xc4, 0xe2, 0x79, 0x00, 0xc1 } },
	{ INSN_PLAIN, M64, 6, 0, 0, { 0x62, 0xf1, 0x7c, 0x48, 0x28, 0xc1 } },
	{ INSN_PLAIN, ALL, 2, 0, 0, { 0xf3, 0xa4 } },
	{ INSN_PLAIN, ALL, 1, 0, 0, { 0x50 } },
	{ INSN_PLAIN, ALL, 1, 0, 0, { 0xc9 } },
	{ INSN_PLAIN, M32 | M16, 1, 0, 0, { 0x40 } },
	{ INSN_PLAIN, M32 | M16, 1, 0, 0, { 0x60 } },
	{ INSN_PLAIN, ALL, 4, 3, 0, { 0xc8 } },
	{ INSN_PLAIN, M64 | M32, 4, 0, 0, { 0xf3, 0x0f, 0x1e, 0xfa } },
	{ INSN_PLAIN, M64, 4, 0, 0, { 0x64, 0x48, 0x8b, 0x00 } },
	{ INSN_PLAIN, ALL, 2, 0, 0, { 0xf6, 0xd8 } },
	{ INSN_PLAIN, ALL, 3, 1, 0, { 0xf6, 0xc1 } },
	{ INSN_PLAIN, ALL, 2, 0, 0, { 0x0f, 0xa2 } },

	{ INSN_COND, ALL, 2, 1, 1, { 0x74 } },
	{ INSN_COND, ALL, 2, 1, 1, { 0x7f } },
	{ INSN_COND, ALL, 2, 1, 1, { 0xe2 } },
	{ INSN_COND, ALL, 2, 1, 1, { 0xe0 } },
	{ INSN_COND, ALL, 2, 1, 1, { 0xe3 } },
	{ INSN_COND, ALL, 3, 1, 1, { 0x67, 0xe3 } },
	{ INSN_COND, ALL, 3, 1, 1, { 0x3e, 0x75 } },
	{ INSN_COND, ALL, 3, 1, 1, { 0x2e, 0x72 } },
	{ INSN_COND, M64 | M32, 3, 1, 1, { 0xf2, 0x71 } },
	{ INSN_COND, M64 | M32, 6, 4, 4, { 0x0f, 0x84 } },
	{ INSN_COND, M64 | M32, 6, 4, 4, { 0x0f, 0x8f } },
	{ INSN_COND, M64 | M32, 7, 4, 4, { 0x2e, 0x0f, 0x82 } },
	{ INSN_COND, M16, 4, 2, 2, { 0x0f, 0x85 } },
	{ INSN_JUMP, ALL, 2, 1, 1, { 0xeb } },
	{ INSN_JUMP, M64 | M32, 5, 4, 4, { 0xe9 } },
	{ INSN_JUMP, M64 | M32, 6, 4, 4, { 0xf2, 0xe9 } },
	{ INSN_JUMP, M16, 3, 2, 2, { 0xe9 } },
	{ INSN_CALL, M64 | M32, 5, 4, 4, { 0xe8 } },
	{ INSN_CALL, M64 | M32, 6, 4, 4, { 0xf2, 0xe8 } },
	{ INSN_CALL, M16, 3, 2, 2, { 0xe8 } },
	{ INSN_JUMP_IND, ALL, 2, 0, 0, { 0xff, 0xe0 } },
	{ INSN_JUMP_IND, ALL, 3, 0, 0, { 0x3e, 0xff, 0xe2 } },
	{ INSN_JUMP_IND, M64, 3, 0, 0, { 0x41, 0xff, 0xe3 } },
	{ INSN_JUMP_IND, M64 | M32, 6, 4, 0, { 0xff, 0x25 } },
	{ INSN_JUMP_IND, M64 | M32, 7, 4, 0, { 0xff, 0x24, 0xc5 } },
	{ INSN_JUMP_IND, M16, 4, 2, 0, { 0xff, 0x26 } },
	{ INSN_JUMP_IND, ALL, 3, 1, 0, { 0xff, 0x67 } },
	{ INSN_CALL_IND, ALL, 2, 0, 0, { 0xff, 0xd0 } },
	{ INSN_CALL_IND, M64, 3, 0, 0, { 0x41, 0xff, 0xd3 } },
	{ INSN_CALL_IND, M64 | M32, 6, 4, 0, { 0xff, 0x15 } },
	{ INSN_CALL_IND, M64 | M32, 7, 4, 0, { 0xff, 0x14, 0xc5 } },
	{ INSN_CALL_IND, ALL, 3, 1, 0, { 0xff, 0x57 } },
	{ INSN_RET, ALL, 1, 0, 0, { 0xc3 } },
	{ INSN_RET, ALL, 2, 0, 0, { 0xf3, 0xc3 } },
	{ INSN_RET, ALL, 2, 0, 0, { 0xf2, 0xc3 } },
	{ INSN_RET, ALL, 3, 2, 0, { 0xc2 } },
	{ INSN_SYSCALL, M64, 2, 0, 0, { 0x0f, 0x05 } },
	{ INSN_SYSCALL, ALL, 2, 0, 0, { 0x0f, 0x34 } },
	{ INSN_SYSRET, M64, 3, 0, 0, { 0x48, 0x0f, 0x07 } },
	{ INSN_SYSRET, M64, 2, 0, 0, { 0x0f, 0x07 } },
	{ INSN_SYSRET, M64, 3, 0, 0, { 0x48, 0x0f, 0x35 } },
	{ INSN_IRET, M64, 2, 0, 0, { 0x48, 0xcf } },
	{ INSN_IRET, ALL, 1, 0, 0, { 0xcf } },
	{ INSN_FAR, M64 | M32, 6, 4, 0, { 0xff, 0x2d } },
	{ INSN_FAR, M64 | M32, 6, 4, 0, { 0xff, 0x1d } },
	{ INSN_FAR, ALL, 1, 0, 0, { 0xcb } },
	{ INSN_FAR, ALL, 3, 2, 0, { 0xca } },
	{ INSN_FAR, M32, 7, 6, 0, { 0xea } },
	{ INSN_FAR, M32, 7, 6, 0, { 0x9a } },
	{ INSN_FAR, M16, 5, 4, 0, { 0xea } },
	{ INSN_VMENTRY, M64, 3, 0, 0, { 0x0f, 0x01, 0xc3 } },
	{ INSN_VMENTRY, M64, 3, 0, 0, { 0x0f, 0x01, 0xc2 } },
	{ INSN_INT, ALL, 1, 0, 0, { 0xcc } },
	{ INSN_INT, ALL, 2, 1, 0, { 0xcd } },
	{ INSN_MOV_CR3, M64, 3, 0, 0, { 0x0f, 0x22, 0xd8 } },
	{ INSN_MOV_CR3, M64, 3, 0, 0, { 0x0f, 0x22, 0xdf } },
	{ INSN_MOV_CR3, M64, 4, 0, 0, { 0x41, 0x0f, 0x22, 0xd8 } },
	{ INSN_PTWRITE, ALL, 4, 0, 4, { 0xf3, 0x0f, 0xae, 0xe0 } },
	{ INSN_PTWRITE, ALL, 5, 1, 4, { 0xf3, 0x0f, 0xae, 0x60 } },
	{ INSN_PTWRITE, M64, 5, 0, 8, { 0xf3, 0x48, 0x0f, 0xae, 0xe3 } },
	{ INSN_XBEGIN, M64 | M32, 6, 4, 4, { 0xc7, 0xf8 } },
	{ INSN_XBEGIN, M16, 4, 2, 2, { 0xc7, 0xf8 } },
	{ INSN_XEND, ALL, 3, 0, 0, { 0x0f, 0x01, 0xd5 } },
	{ INSN_XABORT, ALL, 3, 1, 0, { 0xc6, 0xf8 } },
	{ INSN_WRMSR, ALL, 2, 0, 0, { 0x0f, 0x30 } },
	{ INSN_MWAIT, ALL, 3, 0, 0, { 0x0f, 0x01, 0xc9 } },
};

#define NR_FORMS	(sizeof(forms) / sizeof(forms[0]))

/* Numbers of the forms of each kind and mode, found once. */
static struct {
	u8 count;
	u8 form[48];
} ways[INSN_MWAIT + 1][KIPT_EXEC_16 + 1];

static void find_ways(void)
{
	u32 i, mode;

	for (i = 0; i < NR_FORMS; i++) {
		for (mode = KIPT_EXEC_64; mode <= KIPT_EXEC_16; mode++) {
			u32 kind = forms[i].kind;

			if (forms[i].modes >> mode & 1)
				ways[kind][mode].form[ways[kind][mode].count++] =
					(u8)i;
		}
	}
}

static const struct form *pick_form(struct rng *rng, u32 kind, u32 mode)
{
	u32 count;

	if (!ways[INSN_PLAIN][KIPT_EXEC_64].count)
		find_ways();
	count = ways[kind][mode].count;
	if (!count) {
		fprintf(stderr, "random: no encoding of kind %u in mode %u\n",
			kind, mode);
		exit(2);
	}
	return &forms[ways[kind][mode].form[rng_below(rng, count)]];
}

void code_make(struct code *code, struct rng *rng, u32 kind, u32 mode)
{
	const struct form *form = pick_form(rng, kind, mode);
	u32 i;

	memcpy(code->byte, form->byte, sizeof(code->byte));
	code->len = form->len;
	code->operand = form->operand;
	if (form->operand && kind != INSN_PTWRITE)
		return;
	for (i = form->len - form->noise; i < form->len; i++)
		code->byte[i] = (u8)rng_next(rng);
}
