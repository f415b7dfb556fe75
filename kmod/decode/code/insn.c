// SPDX-License-Identifier: GPL-2.0-only
/*
 * The instruction classifier: prefixes, opcode, ModRM, displacement and
 * immediate by the tables of insn_tables.h, then the class from the opcode.
 * Code bytes are untrusted; every read is checked. Any context.
 */
#include "insn.h"
#include "insn_tables.h"

/* Opcode maps; the numbers of 0..3 are those of VEX and EVEX. */
enum map {
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

#define REX_W	0x08
#define REX_R	0x04
#define REX2_0F	0x80

/**
 * struct decode - an instruction half read
 * @bytes: the code
 * @len: bytes that may be read
 * @pos: bytes read
 * @mode: enum kipt_exec_kind
 * @map: enum map
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
struct decode {
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

static bool is64(const struct decode *d)
{
	return d->mode == KIPT_EXEC_64;
}

static enum kipt_status take(struct decode *d, u32 count)
{
	if (d->pos + count > KIPT_INSN_MAX_LEN)
		return KIPT_BAD_INSN;
	if (d->pos + count > d->len)
		return KIPT_TRUNCATED;
	d->pos += count;
	return KIPT_OK;
}

static enum kipt_status take_byte(struct decode *d, u8 *byte)
{
	enum kipt_status status = take(d, 1);

	if (status == KIPT_OK)
		*byte = d->bytes[d->pos - 1];
	return status;
}

/* Operand size in bytes as legacy instructions see it. */
static u32 operand_size(const struct decode *d)
{
	if (is64(d) && d->rex & REX_W)
		return 8;
	if (d->mode == KIPT_EXEC_16)
		return d->op16 ? 4 : 2;
	return d->op16 ? 2 : 4;
}

static u32 address_size(const struct decode *d)
{
	if (is64(d))
		return d->addr_toggled ? 4 : 8;
	if (d->mode == KIPT_EXEC_16)
		return d->addr_toggled ? 4 : 2;
	return d->addr_toggled ? 2 : 4;
}

/* Legacy prefixes and REX; @byte is the first byte that is neither. A REX
 * that a legacy prefix follows has no effect.
 */
static enum kipt_status read_prefixes(struct decode *d, u8 *byte)
{
	enum kipt_status status;

	for (;;) {
		status = take_byte(d, byte);
		if (status != KIPT_OK)
			return status;
		if (is64(d) && (*byte & 0xf0) == 0x40) {
			d->rex = *byte;
			continue;
		}
		if (one_byte_map[*byte] != SHAPE_PREFIX)
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
static bool starts_vector(const struct decode *d, u8 byte)
{
	u8 next;

	if (byte != 0xc4 && byte != 0xc5 && byte != 0x62 && byte != 0x8f)
		return false;
	if (d->pos >= d->len)
		return byte == 0x8f ? false : is64(d);
	next = d->bytes[d->pos];
	if (byte == 0x8f)
		return (next & 0x1f) >= MAP_XOP8 &&
		       (is64(d) || next >= 0xc0);
	return is64(d) || next >= 0xc0;
}

static enum kipt_status read_vector(struct decode *d, u8 byte)
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
	u8 shape = two_byte_map[opcode];

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

static enum kipt_status find_shape_vector(struct decode *d)
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

static enum kipt_status find_shape(struct decode *d)
{
	if (d->vector)
		return find_shape_vector(d);
	switch (d->map) {
	case MAP_ONE_BYTE:
		d->shape = one_byte_map[d->opcode];
		break;
	case MAP_0F:
		d->shape = two_byte_map[d->opcode];
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
	if (d->shape & SHAPE_NOT64 && is64(d))
		return KIPT_BAD_INSN;
	return KIPT_OK;
}

static enum kipt_status read_escape(struct decode *d)
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
static enum kipt_status read_rex2(struct decode *d)
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

static enum kipt_status read_opcode(struct decode *d)
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
	if (byte == 0xd5 && is64(d))
		return read_rex2(d);
	d->map = MAP_ONE_BYTE;
	d->opcode = byte;
	return KIPT_OK;
}

/* MOV to and from control and debug registers always names registers,
 * whatever the mod bits say.
 */
static bool ignores_mod(const struct decode *d)
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

static enum kipt_status read_modrm(struct decode *d)
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

static u32 imm_z(const struct decode *d)
{
	return operand_size(d) == 2 ? 2 : 4;
}

static u32 imm_size(const struct decode *d)
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
		return operand_size(d);
	case SHAPE_OFFSET:
		return address_size(d);
	case SHAPE_FAR:
		return imm_z(d) + 2;
	case SHAPE_RELZ:
		return is64(d) ? 4 : imm_z(d);
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

static enum kipt_status read_imm(struct decode *d)
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

static u8 class_group5(u8 modrm)
{
	switch (modrm >> 3 & 7) {
	case 2:
		return KIPT_INSN_CALL_IND;
	case 4:
		return KIPT_INSN_JUMP_IND;
	case 3:
	case 5:
		return KIPT_INSN_FAR;
	default:
		return KIPT_INSN_OTHER;
	}
}

static u8 class_one_byte(const struct decode *d)
{
	if ((d->opcode & 0xf0) == 0x70)
		return KIPT_INSN_COND;
	switch (d->opcode) {
	case 0xe0: case 0xe1: case 0xe2: case 0xe3:
		return KIPT_INSN_COND;
	case 0xe8:
		return KIPT_INSN_CALL;
	case 0xe9: case 0xeb:
		return KIPT_INSN_JUMP;
	case 0xc2: case 0xc3:
		return KIPT_INSN_RET;
	case 0x9a: case 0xea: case 0xca: case 0xcb:
		return KIPT_INSN_FAR;
	case 0xcc: case 0xcd: case 0xf1:
		return KIPT_INSN_INT;
	case 0xce:
		return KIPT_INSN_INTO;
	case 0xcf:
		return KIPT_INSN_IRET;
	case 0xa1:
		return d->rex2 ? KIPT_INSN_JUMP_IND : KIPT_INSN_OTHER;
	case 0xff:
		return class_group5(d->modrm);
	default:
		return KIPT_INSN_OTHER;
	}
}

static u8 class_0f01(const struct decode *d)
{
	switch (d->modrm) {
	case 0xc1:
		return KIPT_INSN_VMCALL;
	case 0xc2: case 0xc3:
		return d->rep || d->op16 ? KIPT_INSN_OTHER : KIPT_INSN_VMENTRY;
	case 0xca:
		return d->rep ? KIPT_INSN_IRET : KIPT_INSN_OTHER;
	case 0xec:
		return d->rep == 0xf3 && is64(d) ? KIPT_INSN_IRET :
						   KIPT_INSN_OTHER;
	default:
		return KIPT_INSN_OTHER;
	}
}

static u8 class_0f(const struct decode *d)
{
	if ((d->opcode & 0xf0) == 0x80)
		return KIPT_INSN_COND;
	switch (d->opcode) {
	case 0x01:
		return class_0f01(d);
	case 0x05: case 0x34:
		return KIPT_INSN_SYSCALL;
	case 0x07: case 0x35:
		return KIPT_INSN_SYSRET;
	case 0xaa:
		return KIPT_INSN_FAR;
	case 0x22:
		return (d->modrm >> 3 & 7) == 3 && !(d->rex & REX_R) ?
			       KIPT_INSN_MOV_CR3 : KIPT_INSN_OTHER;
	case 0xae:
		return d->rep == 0xf3 && !d->op16 && (d->modrm >> 3 & 7) == 4 ?
			       KIPT_INSN_PTWRITE : KIPT_INSN_OTHER;
	default:
		return KIPT_INSN_OTHER;
	}
}

static u8 find_class(const struct decode *d)
{
	if (d->vector)
		return KIPT_INSN_OTHER;
	if (d->map == MAP_ONE_BYTE)
		return class_one_byte(d);
	if (d->map == MAP_0F)
		return class_0f(d);
	return KIPT_INSN_OTHER;
}

/* Near branches in 64-bit code ignore 66 (Intel SDM Vol. 2A, "JMP"). */
static u64 find_ip_mask(const struct decode *d)
{
	if (is64(d))
		return ~0ULL;
	return operand_size(d) == 2 ? 0xffffULL : 0xffffffffULL;
}

/* In 16-bit code IP wraps inside a segment that may begin anywhere: the upper bits
 * of the address stay, as if it began at a multiple of 64 KiB.
 */
static u64 find_target(const struct decode *d, u64 ip, u64 mask)
{
	u64 keep = d->mode == KIPT_EXEC_16 ? ip & ~mask : 0;
	u32 shift;

	if (d->shape == SHAPE_IV)
		return d->imm;
	shift = 64 - 8 * d->imm_size;
	return keep | ((ip + d->pos + (u64)((s64)(d->imm << shift) >> shift)) & mask);
}

static bool is_direct(const struct decode *d, u8 class)
{
	return class == KIPT_INSN_COND || class == KIPT_INSN_JUMP ||
	       class == KIPT_INSN_CALL ||
	       (class == KIPT_INSN_JUMP_IND && d->rex2 &&
		d->shape == SHAPE_IV);
}

enum kipt_status kipt_insn_decode(struct kipt_insn *insn, u32 mode, u64 ip,
				  const u8 *bytes, u32 len)
{
	struct decode d = { .bytes = bytes, .len = len, .mode = (u8)mode };
	enum kipt_status status;

	status = read_opcode(&d);
	if (status == KIPT_OK)
		status = find_shape(&d);
	if (status == KIPT_OK && d.shape & SHAPE_MODRM)
		status = read_modrm(&d);
	if (status == KIPT_OK)
		status = read_imm(&d);
	if (status != KIPT_OK)
		return status;

	insn->len = (u8)d.pos;
	insn->class = find_class(&d);
	insn->ip_mask = find_ip_mask(&d);
	insn->target = is_direct(&d, insn->class) ?
			       find_target(&d, ip, insn->ip_mask) : 0;
	return KIPT_OK;
}

static const char *const names[KIPT_INSN_CLASS_MAX + 1] = {
	[KIPT_INSN_OTHER] = "other",
	[KIPT_INSN_COND] = "cond",
	[KIPT_INSN_JUMP] = "jump",
	[KIPT_INSN_CALL] = "call",
	[KIPT_INSN_JUMP_IND] = "jump-ind",
	[KIPT_INSN_CALL_IND] = "call-ind",
	[KIPT_INSN_RET] = "ret",
	[KIPT_INSN_SYSCALL] = "syscall",
	[KIPT_INSN_SYSRET] = "sysret",
	[KIPT_INSN_IRET] = "iret",
	[KIPT_INSN_FAR] = "far",
	[KIPT_INSN_VMENTRY] = "vmentry",
	[KIPT_INSN_VMCALL] = "vmcall",
	[KIPT_INSN_INT] = "int",
	[KIPT_INSN_INTO] = "into",
	[KIPT_INSN_MOV_CR3] = "mov-cr3",
	[KIPT_INSN_PTWRITE] = "ptwrite",
};

const char *kipt_insn_class_name(u32 class)
{
	if (class > KIPT_INSN_CLASS_MAX)
		return "unknown";
	return names[class];
}

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
	switch (class) {
	case KIPT_INSN_OTHER:
	case KIPT_INSN_JUMP:
	case KIPT_INSN_CALL:
	case KIPT_INSN_MOV_CR3:
	case KIPT_INSN_PTWRITE:
	case KIPT_INSN_INTO:
	case KIPT_INSN_VMCALL:
		return false;
	default:
		return true;
	}
}
