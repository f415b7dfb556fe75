/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The form of an instruction, before its class: insn_form.c. Only insn.c, insn_form.c and
 * insn_tables.c include this. Pure, any context.
 */
#ifndef KIPT_DECODE_INSN_FORM_H
#define KIPT_DECODE_INSN_FORM_H

#include "insn.h"

/* Opcode maps; the numbers of 0..3 are those of VEX and EVEX. */
enum kipt_insn_map {
	MAP_ONE_BYTE = 0,
	MAP_0F = 1,
	MAP_0F38 = 2,
	MAP_0F3A = 3,
	MAP_LEGACY4 = 4,
	MAP_7 = 7,
	MAP_XOP8 = 8,
	MAP_XOP9 = 9,
	MAP_XOPA = 10,
};

/* What follows an opcode: one of these, and SHAPE_MODRM in addition. */
enum insn_shape {
	SHAPE_NONE,
	SHAPE_IB,		/* 8 bits */
	SHAPE_IW,		/* 16 bits */
	SHAPE_IZ,		/* 16 or 32 bits by operand size */
	SHAPE_IV,		/* 16, 32 or 64 bits by operand size */
	SHAPE_OFFSET,		/* address of the address size */
	SHAPE_FAR,		/* selector and offset of the operand size */
	SHAPE_IW_IB,		/* ENTER */
	SHAPE_REL8,
	SHAPE_RELZ,		/* 16 or 32 bits, always 32 in 64-bit code */
	SHAPE_GROUP3,		/* F6, F7: immediate if reg is 0 or 1 */
	SHAPE_EXTRQ,		/* 0F 78: two bytes after 66 or F2 */
	SHAPE_PREFIX,
	SHAPE_BAD,
	SHAPE_MASK = 0x1f,
	SHAPE_MODRM = 0x20,
	SHAPE_NOT64 = 0x40,	/* undefined in 64-bit code */
};

/* enum insn_shape by opcode, of the one-byte and the 0F map. */
extern const u8 kipt_one_byte_map[256];
extern const u8 kipt_two_byte_map[256];

#define REX_W	0x08
#define REX_R	0x04

/**
 * struct kipt_insn_form - an instruction half read
 * @bytes: the code
 * @len: bytes that may be read
 * @pos: bytes read
 * @mode: enum kipt_exec_kind
 * @map: enum kipt_insn_map
 * @vector: VEX, EVEX or XOP: never a branch
 * @op16: 66 was seen
 * @addr_toggled: 67 was seen
 * @rep: the last of F2 and F3, or 0
 * @rex: REX byte, or the low bits of REX2; 0 if none
 * @rex2: REX2 was seen
 * @opcode: opcode byte
 * @modrm: ModRM byte, if the opcode has one
 * @shape: from the tables
 * @imm: the immediate, displacement of a branch, zero extended
 * @imm_size: its bytes
 */
struct kipt_insn_form {
	const u8 *bytes;
	u32 len;
	u32 pos;
	u8 mode;
	u8 map;
	bool vector;
	bool op16;
	bool addr_toggled;
	u8 rep;
	u8 rex;
	bool rex2;
	u8 opcode;
	u8 modrm;
	u8 shape;
	u64 imm;
	u32 imm_size;
};

static inline bool kipt_insn_is64(const struct kipt_insn_form *d)
{
	return d->mode == KIPT_EXEC_64;
}

/* Operand size in bytes as legacy instructions see it. */
static inline u32 kipt_insn_operand_size(const struct kipt_insn_form *d)
{
	if (kipt_insn_is64(d) && d->rex & REX_W)
		return 8;
	if (d->mode == KIPT_EXEC_16)
		return d->op16 ? 4 : 2;
	return d->op16 ? 2 : 4;
}

/**
 * kipt_insn_form_read() - read prefixes, opcode, ModRM, displacement and immediate
 * @d: has @bytes, @len and @mode; the rest is filled
 *
 * Return: KIPT_OK, KIPT_TRUNCATED or KIPT_BAD_INSN.
 */
enum kipt_status kipt_insn_form_read(struct kipt_insn_form *d);

#endif /* KIPT_DECODE_INSN_FORM_H */
