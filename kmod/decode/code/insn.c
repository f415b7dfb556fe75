// SPDX-License-Identifier: GPL-2.0-only
/*
 * The instruction classifier: the class and the direct target, from the form. Pure, any
 * context.
 */
#include "insn_form.h"

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

static u8 class_one_byte(const struct kipt_insn_form *d)
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

static u8 class_0f01(const struct kipt_insn_form *d)
{
	switch (d->modrm) {
	case 0xc1:
		return KIPT_INSN_VMCALL;
	case 0xc2: case 0xc3:
		return d->rep || d->op16 ? KIPT_INSN_OTHER : KIPT_INSN_VMENTRY;
	case 0xca:
		return d->rep ? KIPT_INSN_IRET : KIPT_INSN_OTHER;
	case 0xec:
		return d->rep == 0xf3 && kipt_insn_is64(d) ? KIPT_INSN_IRET :
						   KIPT_INSN_OTHER;
	default:
		return KIPT_INSN_OTHER;
	}
}

static u8 class_0f(const struct kipt_insn_form *d)
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

static u8 find_class(const struct kipt_insn_form *d)
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
static u64 find_ip_mask(const struct kipt_insn_form *d)
{
	if (kipt_insn_is64(d))
		return ~0ULL;
	return kipt_insn_operand_size(d) == 2 ? 0xffffULL : 0xffffffffULL;
}

/* In 16-bit code IP wraps inside a segment that may begin anywhere: the upper bits
 * of the address stay, as if it began at a multiple of 64 KiB.
 */
static u64 find_target(const struct kipt_insn_form *d, u64 ip, u64 mask)
{
	u64 keep = d->mode == KIPT_EXEC_16 ? ip & ~mask : 0;
	u32 shift;

	if (d->shape == SHAPE_IV)
		return d->imm;
	shift = 64 - 8 * d->imm_size;
	return keep | ((ip + d->pos + (u64)((s64)(d->imm << shift) >> shift)) & mask);
}

static bool is_direct(const struct kipt_insn_form *d, u8 class)
{
	return class == KIPT_INSN_COND || class == KIPT_INSN_JUMP || class == KIPT_INSN_CALL ||
	       (class == KIPT_INSN_JUMP_IND && d->rex2 && d->shape == SHAPE_IV);
}

enum kipt_status kipt_insn_decode(struct kipt_insn *insn, u32 mode, u64 ip,
				  const u8 *bytes, u32 len)
{
	struct kipt_insn_form d = { .bytes = bytes, .len = len, .mode = (u8)mode };
	enum kipt_status status;

	status = kipt_insn_form_read(&d);
	if (status != KIPT_OK)
		return status;

	insn->len = (u8)d.pos;
	insn->class = find_class(&d);
	insn->ip_mask = find_ip_mask(&d);
	insn->target = is_direct(&d, insn->class) ?
			       find_target(&d, ip, insn->ip_mask) : 0;
	return KIPT_OK;
}
