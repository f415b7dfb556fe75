// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prefixes, opcode and ModRM operand of an x86 instruction (Intel SDM Vol. 2A,
 * "Instruction Format"). Owns the taking apart; the meaning of opcodes is
 * branch_class.c's. Pure functions.
 */
#include "insn_shape.h"

#include <string.h>

/* Takes one legacy prefix; false when @byte is none. */
static bool take_prefix(struct insn_shape *s, uint8_t byte)
{
	switch (byte) {
	case 0x26: case 0x2e: case 0x36: case 0x3e: case 0x64: case 0x65:
		s->segment = byte;
		return true;
	case 0x66:
		s->operand = true;
		return true;
	case 0x67:
		s->address = true;
		return true;
	case 0xf0:
		s->lock = true;
		return true;
	case 0xf2:
		s->repne = true;
		s->rep = false;
		return true;
	case 0xf3:
		s->rep = true;
		s->repne = false;
		return true;
	}
	return false;
}

/*
 * C4, C5, 62 and 8F open VEX, EVEX and XOP; outside 64-bit mode only where
 * they cannot be LES, LDS or BOUND. D5 opens REX2 in 64-bit mode. 8F is POP
 * unless its ModRM.reg is not 0.
 */
static bool opens_vex(enum insn_mode mode, uint8_t byte, uint8_t next)
{
	bool no_legacy = mode == INSN_MODE_64 || (next & 0xc0) == 0xc0;

	if (byte == 0xc4 || byte == 0xc5 || byte == 0x62)
		return no_legacy;
	if (byte == 0x8f)
		return (next & 0x1f) >= 8;
	return byte == 0xd5 && mode == INSN_MODE_64;
}

bool insn_shape_parse(struct insn_shape *shape, const uint8_t *bytes,
		      unsigned int len, enum insn_mode mode)
{
	struct insn_shape s = { .mode = mode, .len = (uint8_t)len };
	unsigned int at = 0;

	while (at < len) {
		if (mode == INSN_MODE_64 && (bytes[at] & 0xf0) == 0x40)
			s.rex = bytes[at];
		else if (take_prefix(&s, bytes[at]))
			s.rex = 0;
		else
			break;
		at++;
	}
	if (at >= len)
		return false;
	if (at + 1 < len && opens_vex(mode, bytes[at], bytes[at + 1])) {
		s.vex = true;
		*shape = s;
		return true;
	}
	if (bytes[at] == 0x0f) {
		s.two_byte = true;
		if (++at >= len)
			return false;
	}
	s.opcode = bytes[at++];
	s.tail = (uint8_t)at;
	*shape = s;
	return true;
}

static bool get_displacement(struct insn_operand *op, const uint8_t *bytes,
			     unsigned int at, unsigned int len,
			     unsigned int size)
{
	uint32_t v = 0;

	if (at + size > len)
		return false;
	for (unsigned int i = 0; i < size; i++)
		v |= (uint32_t)bytes[at + i] << (8 * i);
	op->end = (uint8_t)(at + size);
	op->displacement = 0;
	if (size == 1)
		op->displacement = (int8_t)v;
	if (size == 2)
		op->displacement = (int16_t)v;
	if (size == 4)
		op->displacement = (int32_t)v;
	return true;
}

/* 16-bit addressing: the eight fixed combinations. */
static bool parse_16(struct insn_operand *op, const uint8_t *bytes,
		     unsigned int at, unsigned int len)
{
	static const int8_t base[] = { 3, 3, 5, 5, 6, 7, 5, 3 };
	static const int8_t index[] = { 6, 7, 6, 7, -1, -1, -1, -1 };
	uint8_t modrm = bytes[at];
	unsigned int mod = modrm >> 6;
	unsigned int rm = modrm & 7;

	op->base = base[rm];
	op->index = index[rm];
	if (mod == 0 && rm == 6) {
		op->base = -1;
		mod = 2;
	}
	return get_displacement(op, bytes, at + 1, len, mod);
}

static bool parse_sib(struct insn_operand *op, const struct insn_shape *s,
		      const uint8_t *bytes, unsigned int at)
{
	uint8_t modrm = bytes[at];
	unsigned int mod = modrm >> 6;
	uint8_t sib;

	if (at + 1 >= s->len)
		return false;
	sib = bytes[at + 1];
	op->scale = (uint8_t)(1 << (sib >> 6));
	op->index = (int8_t)((sib >> 3 & 7) | (s->rex & 2) << 2);
	if (op->index == 4)
		op->index = -1;
	op->base = (int8_t)((sib & 7) | (s->rex & 1) << 3);
	if (mod == 0 && (sib & 7) == 5) {
		op->base = -1;
		mod = 2;
	}
	return get_displacement(op, bytes, at + 2, s->len,
				mod == 2 ? 4 : mod);
}

static uint8_t address_width(const struct insn_shape *s)
{
	if (s->mode == INSN_MODE_64)
		return s->address ? 32 : 64;
	return (s->mode == INSN_MODE_32) != s->address ? 32 : 16;
}

/* In 64-bit mode only FS and GS have a base. */
static uint8_t segment_that_counts(const struct insn_shape *s)
{
	if (s->mode == INSN_MODE_64 && s->segment != 0x64 &&
	    s->segment != 0x65)
		return 0;
	return s->segment;
}

bool insn_operand_parse(struct insn_operand *operand,
			const struct insn_shape *shape, const uint8_t *bytes)
{
	unsigned int at = shape->tail;
	unsigned int mod;
	uint8_t modrm;

	if (at >= shape->len)
		return false;
	modrm = bytes[at];
	mod = modrm >> 6;
	*operand = (struct insn_operand) {
		.index = -1,
		.scale = 1,
		.segment = segment_that_counts(shape),
		.width = address_width(shape),
	};
	operand->base = (int8_t)((modrm & 7) | (shape->rex & 1) << 3);
	if (mod == 3) {
		operand->is_register = true;
		operand->end = (uint8_t)(at + 1);
		return true;
	}
	if (operand->width == 16)
		return parse_16(operand, bytes, at, shape->len);
	if ((modrm & 7) == 4)
		return parse_sib(operand, shape, bytes, at);
	if (mod == 0 && (modrm & 7) == 5) {
		operand->base = shape->mode == INSN_MODE_64 ? INSN_RIP : -1;
		mod = 2;
	}
	return get_displacement(operand, bytes, at + 1, shape->len,
				mod == 2 ? 4 : mod);
}

uint64_t insn_operand_address(const struct insn_operand *operand,
			      uint64_t next,
			      uint64_t (*reg)(void *ctx, unsigned int n),
			      void *ctx)
{
	uint64_t ea = (uint64_t)operand->displacement;

	if (operand->base == INSN_RIP)
		ea += next;
	else if (operand->base >= 0)
		ea += reg(ctx, (unsigned int)operand->base);
	if (operand->index >= 0)
		ea += reg(ctx, (unsigned int)operand->index) * operand->scale;
	if (operand->width < 64)
		ea &= (1ULL << operand->width) - 1;
	return ea;
}
