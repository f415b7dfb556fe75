// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prefixes, opcode, ModRM, displacement and immediate, by the tables of insn_tables.c. Code
 * bytes are untrusted; every read is checked. Pure, any context.
 */
#include "insn_form.h"

#define REX2_0F	0x80

static enum kipt_status take(struct kipt_insn_form *d, u32 count)
{
	if (d->pos + count > KIPT_INSN_MAX_LEN)
		return KIPT_BAD_INSN;
	if (d->pos + count > d->len)
		return KIPT_TRUNCATED;
	d->pos += count;
	return KIPT_OK;
}

static enum kipt_status take_byte(struct kipt_insn_form *d, u8 *byte)
{
	enum kipt_status status = take(d, 1);

	if (status == KIPT_OK)
		*byte = d->bytes[d->pos - 1];
	return status;
}

static u32 address_size(const struct kipt_insn_form *d)
{
	if (kipt_insn_is64(d))
		return d->addr_toggled ? 4 : 8;
	if (d->mode == KIPT_EXEC_16)
		return d->addr_toggled ? 4 : 2;
	return d->addr_toggled ? 2 : 4;
}

/* Legacy prefixes and REX; @byte is the first byte that is neither. A REX
 * that a legacy prefix follows has no effect.
 */
static enum kipt_status read_prefixes(struct kipt_insn_form *d, u8 *byte)
{
	enum kipt_status status;

	for (;;) {
		status = take_byte(d, byte);
		if (status != KIPT_OK)
			return status;
		if (kipt_insn_is64(d) && (*byte & 0xf0) == 0x40) {
			d->rex = *byte;
			continue;
		}
		if (kipt_one_byte_map[*byte] != SHAPE_PREFIX)
			return KIPT_OK;
		d->rex = 0;
		if (*byte == 0x66)
			d->op16 = true;
		else if (*byte == 0x67)
			d->addr_toggled = true;
		else if (*byte == 0xf2 || *byte == 0xf3)
			d->rep = *byte;
	}
}

/* VEX, EVEX and XOP outside 64-bit code need bits 7:6 of the next byte set,
 * which would make LES, LDS and BOUND name a register. XOP needs a map number
 * that POP's ModRM cannot have.
 */
static bool starts_vector(const struct kipt_insn_form *d, u8 byte)
{
	u8 next;

	if (byte != 0xc4 && byte != 0xc5 && byte != 0x62 && byte != 0x8f)
		return false;
	if (d->pos >= d->len)
		return byte == 0x8f ? false : kipt_insn_is64(d);
	next = d->bytes[d->pos];
	if (byte == 0x8f)
		return (next & 0x1f) >= MAP_XOP8 &&
		       (kipt_insn_is64(d) || next >= 0xc0);
	return kipt_insn_is64(d) || next >= 0xc0;
}

static enum kipt_status read_vector(struct kipt_insn_form *d, u8 byte)
{
	u32 payload = byte == 0xc5 ? 1 : byte == 0x62 ? 3 : 2;
	enum kipt_status status = take(d, payload);
	const u8 *p;

	if (status != KIPT_OK)
		return status;
	p = d->bytes + d->pos - payload;
	d->vector = true;
	if (byte == 0xc5)
		d->map = MAP_0F;
	else if (byte == 0x62)
		d->map = p[0] & 7;
	else
		d->map = p[0] & 0x1f;
	if (byte == 0x62 && d->map == MAP_LEGACY4) {
		d->op16 = (p[1] & 3) == 1;
		d->rex = p[1] & 0x80 ? REX_W : 0;
	}
	return take_byte(d, &d->opcode);
}

static u8 shape_vector_0f(u8 opcode)
{
	u8 shape = kipt_two_byte_map[opcode];

	if (opcode == 0x77)
		return SHAPE_NONE;
	if (shape == (SHAPE_MODRM | SHAPE_IB))
		return shape;
	return SHAPE_MODRM;
}

/* EVEX map 4: legacy instructions with new registers (Intel APX). */
static u8 shape_legacy4(u8 opcode)
{
	switch (opcode) {
	case 0x24: case 0x2c: case 0x6b: case 0x80: case 0x83:
	case 0xc0: case 0xc1:
		return SHAPE_MODRM | SHAPE_IB;
	case 0x69: case 0x81: case 0xc7:
		return SHAPE_MODRM | SHAPE_IZ;
	case 0xf6: case 0xf7:
		return SHAPE_MODRM | SHAPE_GROUP3;
	default:
		return SHAPE_MODRM;
	}
}

static enum kipt_status find_shape_vector(struct kipt_insn_form *d)
{
	switch (d->map) {
	case MAP_0F:
		d->shape = shape_vector_0f(d->opcode);
		return KIPT_OK;
	case MAP_0F3A:
	case MAP_XOP8:
		d->shape = SHAPE_MODRM | SHAPE_IB;
		return KIPT_OK;
	case MAP_LEGACY4:
		d->shape = shape_legacy4(d->opcode);
		return KIPT_OK;
	case MAP_7:
	case MAP_XOPA:
		d->shape = SHAPE_MODRM | SHAPE_IZ;
		d->op16 = false;
		d->rex = 0;
		return KIPT_OK;
	case MAP_0F38:
	case 5:
	case 6:
	case MAP_XOP9:
		d->shape = SHAPE_MODRM;
		return KIPT_OK;
	default:
		return KIPT_BAD_INSN;
	}
}

static enum kipt_status find_shape(struct kipt_insn_form *d)
{
	if (d->vector)
		return find_shape_vector(d);
	switch (d->map) {
	case MAP_ONE_BYTE:
		d->shape = kipt_one_byte_map[d->opcode];
		break;
	case MAP_0F:
		d->shape = kipt_two_byte_map[d->opcode];
		break;
	case MAP_0F38:
		d->shape = SHAPE_MODRM;
		break;
	default:
		d->shape = SHAPE_MODRM | SHAPE_IB;
		break;
	}
	if (d->rex2 && d->map == MAP_ONE_BYTE && d->opcode == 0xa1) {
		d->shape = SHAPE_IV;
		d->rex |= REX_W;
	}
	if (d->shape == SHAPE_BAD || d->shape == SHAPE_PREFIX)
		return KIPT_BAD_INSN;
	if (d->shape & SHAPE_NOT64 && kipt_insn_is64(d))
		return KIPT_BAD_INSN;
	return KIPT_OK;
}

static enum kipt_status read_escape(struct kipt_insn_form *d)
{
	enum kipt_status status = take_byte(d, &d->opcode);

	d->map = MAP_0F;
	if (status != KIPT_OK)
		return status;
	if (d->opcode != 0x38 && d->opcode != 0x3a)
		return KIPT_OK;
	d->map = d->opcode == 0x38 ? MAP_0F38 : MAP_0F3A;
	return take_byte(d, &d->opcode);
}

/* REX2: one byte that chooses the map and extends registers (Intel APX). */
static enum kipt_status read_rex2(struct kipt_insn_form *d)
{
	enum kipt_status status;
	u8 payload;

	status = take_byte(d, &payload);
	if (status != KIPT_OK)
		return status;
	d->rex2 = true;
	d->rex = payload & 0x0f;
	d->map = payload & REX2_0F ? MAP_0F : MAP_ONE_BYTE;
	return take_byte(d, &d->opcode);
}

static enum kipt_status read_opcode(struct kipt_insn_form *d)
{
	enum kipt_status status;
	u8 byte = 0;

	status = read_prefixes(d, &byte);
	if (status != KIPT_OK)
		return status;
	if (starts_vector(d, byte))
		return read_vector(d, byte);
	if (byte == 0x0f)
		return read_escape(d);
	if (byte == 0xd5 && kipt_insn_is64(d))
		return read_rex2(d);
	d->map = MAP_ONE_BYTE;
	d->opcode = byte;
	return KIPT_OK;
}

/* MOV to and from control and debug registers always names registers,
 * whatever the mod bits say.
 */
static bool ignores_mod(const struct kipt_insn_form *d)
{
	return !d->vector && d->map == MAP_0F &&
	       (d->opcode & 0xf8) == 0x20;
}

static u32 displacement16(u8 modrm)
{
	switch (modrm >> 6) {
	case 0:
		return (modrm & 7) == 6 ? 2 : 0;
	case 1:
		return 1;
	default:
		return 2;
	}
}

static enum kipt_status read_modrm(struct kipt_insn_form *d)
{
	enum kipt_status status;
	u32 mod, base;
	u8 sib;

	status = take_byte(d, &d->modrm);
	if (status != KIPT_OK)
		return status;
	mod = d->modrm >> 6;
	base = d->modrm & 7;
	if (mod == 3 || ignores_mod(d))
		return KIPT_OK;
	if (address_size(d) == 2)
		return take(d, displacement16(d->modrm));
	if (base == 4) {
		status = take_byte(d, &sib);
		if (status != KIPT_OK)
			return status;
		base = sib & 7;
	}
	if (mod == 0)
		return take(d, base == 5 ? 4 : 0);
	return take(d, mod == 1 ? 1 : 4);
}

static u32 imm_z(const struct kipt_insn_form *d)
{
	return kipt_insn_operand_size(d) == 2 ? 2 : 4;
}

static u32 imm_size(const struct kipt_insn_form *d)
{
	switch (d->shape & SHAPE_MASK) {
	case SHAPE_IB:
	case SHAPE_REL8:
		return 1;
	case SHAPE_IW:
		return 2;
	case SHAPE_IW_IB:
		return 3;
	case SHAPE_IZ:
		return imm_z(d);
	case SHAPE_IV:
		return kipt_insn_operand_size(d);
	case SHAPE_OFFSET:
		return address_size(d);
	case SHAPE_FAR:
		return imm_z(d) + 2;
	case SHAPE_RELZ:
		return kipt_insn_is64(d) ? 4 : imm_z(d);
	case SHAPE_GROUP3:
		if ((d->modrm >> 3 & 7) > 1)
			return 0;
		return d->opcode & 1 ? imm_z(d) : 1;
	case SHAPE_EXTRQ:
		return d->rep == 0xf2 || (!d->rep && d->op16) ? 2 : 0;
	default:
		return 0;
	}
}

static enum kipt_status read_imm(struct kipt_insn_form *d)
{
	enum kipt_status status;
	u32 size = imm_size(d);
	u32 i;

	status = take(d, size);
	if (status != KIPT_OK)
		return status;
	for (i = 0; i < size; i++)
		d->imm |= (u64)d->bytes[d->pos - size + i] << (8 * i);
	d->imm_size = size;
	return KIPT_OK;
}

enum kipt_status kipt_insn_form_read(struct kipt_insn_form *d)
{
	enum kipt_status status = read_opcode(d);

	if (status == KIPT_OK)
		status = find_shape(d);
	if (status == KIPT_OK && d->shape & SHAPE_MODRM)
		status = read_modrm(d);
	return status == KIPT_OK ? read_imm(d) : status;
}
