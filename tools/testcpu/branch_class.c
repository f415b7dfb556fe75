// SPDX-License-Identifier: GPL-2.0-only
/*
 * Instruction classes (Intel SDM Vol. 3C, "Change of Flow Instruction (COFI)
 * Tracing"; Vol. 2 for the opcodes). Owns the opcode tables of the test CPU.
 * Pure functions.
 */
#include "branch_class.h"

static uint8_t modrm_of(const struct insn_shape *s, const uint8_t *bytes)
{
	return s->tail < s->len ? bytes[s->tail] : 0;
}

static unsigned int reg_field(const struct insn_shape *s, const uint8_t *bytes)
{
	return modrm_of(s, bytes) >> 3 & 7;
}

static bool is_memory(const struct insn_shape *s, const uint8_t *bytes)
{
	return modrm_of(s, bytes) >> 6 != 3;
}

/*
 * Operand size of a near branch: 64 in 64-bit mode whatever the prefix says,
 * else what mode and 66H make it.
 */
static uint8_t near_width(const struct insn_shape *s)
{
	if (s->mode == INSN_MODE_64)
		return 64;
	return (s->mode == INSN_MODE_32) != s->operand ? 32 : 16;
}

/* Displacement at the end of the instruction, and what follows from it. */
static void set_target(struct branch_info *info, const struct insn_shape *s,
		       const uint8_t *bytes, uint64_t ip, unsigned int size)
{
	uint8_t width = near_width(s);
	uint32_t raw = 0;
	int64_t disp;

	for (unsigned int i = 0; i < size; i++)
		raw |= (uint32_t)bytes[s->len - size + i] << (8 * i);
	disp = size == 1 ? (int8_t)raw : size == 2 ? (int16_t)raw :
	       (int32_t)raw;
	info->no_push = disp == 0;
	info->target = ip + s->len + (uint64_t)disp;
	if (width < 64)
		info->target &= (1ULL << width) - 1;
}

static unsigned int wide_displacement(const struct insn_shape *s)
{
	return near_width(s) == 16 ? 2 : 4;
}

/* 0F 01: a group whose register forms are instructions of their own. */
static uint8_t class_0f01(const struct insn_shape *s, const uint8_t *bytes)
{
	uint8_t modrm = modrm_of(s, bytes);

	if (is_memory(s, bytes)) {
		if (reg_field(s, bytes) == 2)
			return INSN_LGDT;
		return reg_field(s, bytes) == 3 ? INSN_LIDT : BRANCH_NONE;
	}
	switch (modrm) {
	case 0xc1: case 0xc2: case 0xc3:
		return BRANCH_FAR;
	case 0xc8:
		return INSN_MONITOR;
	case 0xc9:
		return INSN_MWAIT;
	case 0xca:
		return s->rep || s->repne ? BRANCH_FAR : BRANCH_NONE;
	case 0xec:
		return s->rep ? BRANCH_FAR : BRANCH_NONE;
	case 0xf9:
		return INSN_RDTSCP;
	}
	return BRANCH_NONE;
}

static uint8_t class_0f(const struct insn_shape *s, const uint8_t *bytes)
{
	switch (s->opcode) {
	case 0x00:
		return reg_field(s, bytes) == 2 ? INSN_LLDT : BRANCH_NONE;
	case 0x01:
		return class_0f01(s, bytes);
	case 0x05:
	case 0x34:
		return BRANCH_SYSCALL;
	case 0x07:
	case 0x35:
		return BRANCH_SYSRET;
	case 0x22:
		return reg_field(s, bytes) == 3 && !(s->rex & 4) ?
		       INSN_MOV_CR3 : BRANCH_NONE;
	case 0x30:
		return INSN_WRMSR;
	case 0x31:
		return INSN_RDTSC;
	case 0x32:
		return INSN_RDMSR;
	case 0xa2:
		return INSN_CPUID;
	case 0xaa:
		return BRANCH_FAR;
	case 0xae:
		return s->rep && reg_field(s, bytes) == 4 && !s->lock &&
		       !s->operand ? INSN_PTWRITE : BRANCH_NONE;
	case 0x80 ... 0x8f:
		return BRANCH_COND;
	}
	return BRANCH_NONE;
}

static uint8_t class_ff(const struct insn_shape *s, const uint8_t *bytes)
{
	switch (reg_field(s, bytes)) {
	case 2:
		return BRANCH_CALL_IND;
	case 4:
		return BRANCH_JUMP_IND;
	case 3:
	case 5:
		return is_memory(s, bytes) ? BRANCH_FAR : BRANCH_NONE;
	}
	return BRANCH_NONE;
}

static uint8_t class_one_byte(const struct insn_shape *s, const uint8_t *bytes)
{
	bool legacy = s->mode != INSN_MODE_64;

	switch (s->opcode) {
	case 0x70 ... 0x7f:
	case 0xe0 ... 0xe3:
		return BRANCH_COND;
	case 0xe9:
	case 0xeb:
		return BRANCH_JUMP;
	case 0xe8:
		return BRANCH_CALL;
	case 0xc2:
	case 0xc3:
		return BRANCH_RET;
	case 0xff:
		return class_ff(s, bytes);
	case 0xca:
	case 0xcb:
		return BRANCH_FAR;
	case 0x9a:
	case 0xea:
		return legacy ? BRANCH_FAR : BRANCH_NONE;
	case 0xcc:
	case 0xcd:
	case 0xf1:
		return BRANCH_INT;
	case 0xce:
		return legacy ? BRANCH_INT : BRANCH_NONE;
	case 0xcf:
		return BRANCH_IRET;
	case 0xf4:
		return INSN_HLT;
	case 0x9d:
	case 0xfa:
	case 0xfb:
		return INSN_IF;
	}
	return BRANCH_NONE;
}

struct branch_info branch_classify(const uint8_t *bytes, unsigned int len,
				   enum insn_mode mode, uint64_t ip)
{
	struct branch_info info = { .class = BRANCH_NONE };
	struct insn_shape s;
	unsigned int size;
	bool byte_sized;

	if (!insn_shape_parse(&s, bytes, len, mode) || s.vex)
		return info;
	info.class = s.two_byte ? class_0f(&s, bytes) :
				  class_one_byte(&s, bytes);
	if (info.class == BRANCH_RET)
		info.ret_width = near_width(&s);
	if (info.class < BRANCH_COND || info.class > BRANCH_CALL)
		return info;
	byte_sized = !s.two_byte && s.opcode != 0xe8 && s.opcode != 0xe9;
	size = byte_sized ? 1 : wide_displacement(&s);
	/* Bytes of another code size than the caller said. */
	if (s.tail + size != s.len)
		info.class = BRANCH_NONE;
	else
		set_target(&info, &s, bytes, ip, size);
	return info;
}
