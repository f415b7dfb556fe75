// SPDX-License-Identifier: GPL-2.0-only
/*
 * Formats of the packets whose opcode has two bytes, from the manual's packet tables (Intel
 * SDM Vol. 3C, "Trace Packets and Data Types"). Any context.
 */
#include "packet.h"
#include "packet_ext.h"

/* Second byte; KIPT_EXT_OVF is another. */
#define EXT_CBR		0x03
#define EXT_PTW		0x12
#define EXT_CFE		0x13
#define EXT_PWRE	0x22
#define EXT_PSBEND	0x23
#define EXT_BEP		0x33
#define EXT_PIP		0x43
#define EXT_EVD		0x53
#define EXT_EXSTOP	0x62
#define EXT_BBP		0x63
#define EXT_TMA		0x73
#define EXT_PSB		0x82
#define EXT_TRACESTOP	0x83
#define EXT_PWRX	0xa2
#define EXT_TNT		0xa3
#define EXT_BEP_IP	0xb3
#define EXT_MWAIT	0xc2
#define EXT_MNT		0xc3
#define EXT_VMCS	0xc8
#define EXT_EXSTOP_IP	0xe2
#define EXT3_MNT	0x88

static enum kipt_status read_tnt64(const u8 *b, u64 left, struct kipt_packet *p)
{
	u64 value;
	u32 stop;

	if (left < 8)
		return KIPT_TRUNCATED;
	value = kipt_load_le(b + 2, 6);
	if (value < 2)
		return KIPT_BAD_PACKET;
	stop = 63 - (u32)__builtin_clzll(value);
	p->type = KIPT_PACKET_TNT;
	p->len = 8;
	p->size = (u8)stop;
	p->flags = KIPT_PF_LONG;
	p->value = value & ((1ULL << stop) - 1);
	return KIPT_OK;
}

static enum kipt_status read_psb(const u8 *b, u64 left, struct kipt_packet *p)
{
	u32 have = left < 16 ? (u32)left : 16;
	u32 i;

	for (i = 2; i < have; i++) {
		if (b[i] != (i & 1 ? EXT_PSB : KIPT_OPCODE_EXT))
			return KIPT_BAD_PACKET;
	}
	if (left < 16)
		return KIPT_TRUNCATED;
	p->type = KIPT_PACKET_PSB;
	p->len = 16;
	return KIPT_OK;
}

static enum kipt_status read_ptw(const u8 *b, u64 left, struct kipt_packet *p)
{
	u32 size = b[1] >> 5 & 3;

	if (size > 1)
		return KIPT_BAD_PACKET;
	p->size = size ? 8 : 4;
	if (left < 2U + p->size)
		return KIPT_TRUNCATED;
	p->type = KIPT_PACKET_PTW;
	p->len = (u8)(2 + p->size);
	p->flags = b[1] & 0x80 ? KIPT_PF_IP : 0;
	p->value = kipt_load_le(b + 2, p->size);
	return KIPT_OK;
}

/* SKZ84: with TSC offsetting in VMX operation the payload is garbage and one
 * byte too long; reserved bits that are not 0 give it away. Where that byte is
 * missing it is no TMA at all: all that the format asks for is there.
 */
static enum kipt_status read_tma(const u8 *b, u64 left, struct kipt_packet *p)
{
	if (left < 7)
		return KIPT_TRUNCATED;
	p->type = KIPT_PACKET_TMA;
	p->len = 7;
	if (b[4] || b[6] & 0xfe) {
		if (left < 8)
			return KIPT_BAD_PACKET;
		p->len = 8;
		p->flags = KIPT_PF_BROKEN;
		return KIPT_OK;
	}
	p->value = kipt_load_le(b + 2, 2);
	p->aux = (u32)kipt_load_le(b + 5, 2) & 0x1ff;
	return KIPT_OK;
}

static enum kipt_status read_pip(const u8 *b, u64 left, struct kipt_packet *p)
{
	u64 value;

	if (left < 8)
		return KIPT_TRUNCATED;
	value = kipt_load_le(b + 2, 6);
	p->type = KIPT_PACKET_PIP;
	p->len = 8;
	p->flags = value & 1 ? KIPT_PF_NR : 0;
	p->value = value >> 1 << 5;
	return KIPT_OK;
}

static enum kipt_status read_vmcs(const u8 *b, u64 left, struct kipt_packet *p)
{
	u64 value;

	if (left < 7)
		return KIPT_TRUNCATED;
	value = kipt_load_le(b + 2, 5);
	p->type = KIPT_PACKET_VMCS;
	p->len = 7;
	p->value = value == 0xffffffffffULL ? ~0ULL : value << 12;
	return KIPT_OK;
}

static enum kipt_status read_mwait(const u8 *b, u64 left, struct kipt_packet *p)
{
	if (left < 10)
		return KIPT_TRUNCATED;
	p->type = KIPT_PACKET_MWAIT;
	p->len = 10;
	p->aux = b[2];
	p->value = b[6] & 3;
	return KIPT_OK;
}

static enum kipt_status read_pwre(const u8 *b, u64 left, struct kipt_packet *p)
{
	if (left < 4)
		return KIPT_TRUNCATED;
	p->type = KIPT_PACKET_PWRE;
	p->len = 4;
	p->flags = b[2] & 0x80 ? KIPT_PF_HW : 0;
	p->aux = b[3];
	return KIPT_OK;
}

static enum kipt_status read_pwrx(const u8 *b, u64 left, struct kipt_packet *p)
{
	if (left < 7)
		return KIPT_TRUNCATED;
	p->type = KIPT_PACKET_PWRX;
	p->len = 7;
	p->aux = b[2];
	p->value = b[3] & 0xf;
	return KIPT_OK;
}

static enum kipt_status read_cfe(const u8 *b, u64 left, struct kipt_packet *p)
{
	if (left < 4)
		return KIPT_TRUNCATED;
	p->type = KIPT_PACKET_CFE;
	p->len = 4;
	p->flags = b[2] & 0x80 ? KIPT_PF_IP : 0;
	p->value = b[2] & 0x1f;
	p->aux = b[3];
	return KIPT_OK;
}

static enum kipt_status read_evd(const u8 *b, u64 left, struct kipt_packet *p)
{
	if (left < 11)
		return KIPT_TRUNCATED;
	p->type = KIPT_PACKET_EVD;
	p->len = 11;
	p->aux = b[2] & 0x3f;
	p->value = kipt_load_le(b + 3, 8);
	return KIPT_OK;
}

static enum kipt_status read_mnt(const u8 *b, u64 left, struct kipt_packet *p)
{
	if (left < 3)
		return KIPT_TRUNCATED;
	if (b[2] != EXT3_MNT)
		return KIPT_BAD_OPCODE;
	if (left < 11)
		return KIPT_TRUNCATED;
	p->type = KIPT_PACKET_MNT;
	p->len = 11;
	p->value = kipt_load_le(b + 3, 8);
	return KIPT_OK;
}

static enum kipt_status read_cbr(const u8 *b, u64 left, struct kipt_packet *p)
{
	if (left < 4)
		return KIPT_TRUNCATED;
	p->type = KIPT_PACKET_CBR;
	p->len = 4;
	p->value = b[2];
	return KIPT_OK;
}

static enum kipt_status read_bbp(const u8 *b, u64 left, struct kipt_packet *p)
{
	if (left < 3)
		return KIPT_TRUNCATED;
	p->type = KIPT_PACKET_BBP;
	p->len = 3;
	p->size = b[2] & 0x80 ? 4 : 8;
	p->aux = b[2] & 0x1f;
	return KIPT_OK;
}

static enum kipt_status read_short(u8 type, u8 flags, struct kipt_packet *p)
{
	p->type = type;
	p->len = 2;
	p->flags = flags;
	return KIPT_OK;
}

enum kipt_status kipt_packet_read_ext(const u8 *b, u64 left, struct kipt_packet *p)
{
	if (left < 2)
		return KIPT_TRUNCATED;
	if ((b[1] & 0x1f) == EXT_PTW)
		return read_ptw(b, left, p);
	switch (b[1]) {
	case EXT_CBR:
		return read_cbr(b, left, p);
	case EXT_CFE:
		return read_cfe(b, left, p);
	case EXT_PWRE:
		return read_pwre(b, left, p);
	case EXT_PSBEND:
		return read_short(KIPT_PACKET_PSBEND, 0, p);
	case EXT_BEP:
		return read_short(KIPT_PACKET_BEP, 0, p);
	case EXT_BEP_IP:
		return read_short(KIPT_PACKET_BEP, KIPT_PF_IP, p);
	case EXT_PIP:
		return read_pip(b, left, p);
	case EXT_EVD:
		return read_evd(b, left, p);
	case EXT_EXSTOP:
		return read_short(KIPT_PACKET_EXSTOP, 0, p);
	case EXT_EXSTOP_IP:
		return read_short(KIPT_PACKET_EXSTOP, KIPT_PF_IP, p);
	case EXT_BBP:
		return read_bbp(b, left, p);
	case EXT_TMA:
		return read_tma(b, left, p);
	case EXT_PSB:
		return read_psb(b, left, p);
	case EXT_TRACESTOP:
		return read_short(KIPT_PACKET_TRACESTOP, 0, p);
	case EXT_PWRX:
		return read_pwrx(b, left, p);
	case EXT_TNT:
		return read_tnt64(b, left, p);
	case EXT_MWAIT:
		return read_mwait(b, left, p);
	case EXT_MNT:
		return read_mnt(b, left, p);
	case EXT_VMCS:
		return read_vmcs(b, left, p);
	case KIPT_EXT_OVF:
		return read_short(KIPT_PACKET_OVF, 0, p);
	default:
		return KIPT_BAD_OPCODE;
	}
}
