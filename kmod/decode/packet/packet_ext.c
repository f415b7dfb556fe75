// SPDX-License-Identifier: GPL-2.0-only
/*
 * Formats of the packets whose opcode has two bytes, from the manual's packet tables (Intel
 * SDM Vol. 3C, "Trace Packets and Data Types"). Any context.
 */
#include "packet.h"
#include "packet_ext.h"

/* Second byte of those that have more of an opcode, and third byte of MNT. */
#define EXT_PSB		0x82
#define EXT_MNT		0xc3
#define EXT3_MNT	0x88

/**
 * struct form - what the second byte says
 * @type: enum kipt_packet_type, or 0: no such packet
 * @len: its bytes; 0: the second byte is reserved
 * @flags: KIPT_PF_*
 * @read: reads the payload of a packet that has all of the above already and is
 *	else 0, or NULL; @len becomes 0 if it breaks the format
 */
struct form {
	u8 type;
	u8 len;
	u8 flags;
	void (*read)(const u8 *b, struct kipt_packet *p);
};

static void read_tnt64(const u8 *b, struct kipt_packet *p)
{
	u64 value = kipt_load_le(b + 2, 6);

	if (value < 2) {
		p->len = 0;
		return;
	}
	p->size = (u8)(63 - __builtin_clzll(value));
	p->value = value & ((1ULL << p->size) - 1);
}

static void read_ptw(const u8 *b, struct kipt_packet *p)
{
	p->size = p->len - 2;
	p->value = kipt_load_le(b + 2, p->size);
}

/* SKZ84: with TSC offsetting in VMX operation the payload is garbage and one
 * byte too long; reserved bits that are not 0 give it away. Where that byte is
 * missing it is no TMA at all: all that the format asks for is there.
 */
static void read_tma(const u8 *b, struct kipt_packet *p)
{
	if (b[4] || b[6] & 0xfe) {
		p->len = 8;
		p->flags = KIPT_PF_BROKEN;
		return;
	}
	p->value = kipt_load_le(b + 2, 2);
	p->aux = (u32)kipt_load_le(b + 5, 2) & 0x1ff;
}

static void read_pip(const u8 *b, struct kipt_packet *p)
{
	u64 value = kipt_load_le(b + 2, 6);

	p->flags = value & 1 ? KIPT_PF_NR : 0;
	p->value = value >> 1 << 5;
}

static void read_vmcs(const u8 *b, struct kipt_packet *p)
{
	u64 value = kipt_load_le(b + 2, 5);

	p->value = value == 0xffffffffffULL ? ~0ULL : value << 12;
}

static void read_mwait(const u8 *b, struct kipt_packet *p)
{
	p->aux = b[2];
	p->value = b[6] & 3;
}

static void read_pwre(const u8 *b, struct kipt_packet *p)
{
	p->flags = b[2] & 0x80 ? KIPT_PF_HW : 0;
	p->aux = b[3];
}

static void read_pwrx(const u8 *b, struct kipt_packet *p)
{
	p->aux = b[2];
	p->value = b[3] & 0xf;
}

static void read_cfe(const u8 *b, struct kipt_packet *p)
{
	p->flags = b[2] & 0x80 ? KIPT_PF_IP : 0;
	p->value = b[2] & 0x1f;
	p->aux = b[3];
}

static void read_evd(const u8 *b, struct kipt_packet *p)
{
	p->aux = b[2] & 0x3f;
	p->value = kipt_load_le(b + 3, 8);
}

static void read_mnt(const u8 *b, struct kipt_packet *p)
{
	p->value = kipt_load_le(b + 3, 8);
}

static void read_cbr(const u8 *b, struct kipt_packet *p)
{
	p->value = b[2];
}

static void read_bbp(const u8 *b, struct kipt_packet *p)
{
	p->size = b[2] & 0x80 ? 4 : 8;
	p->aux = b[2] & 0x1f;
}

static const struct form forms[256] = {
	[0x03] = { KIPT_PACKET_CBR, 4, 0, read_cbr },
	[0x12] = { KIPT_PACKET_PTW, 6, 0, read_ptw },
	[0x13] = { KIPT_PACKET_CFE, 4, 0, read_cfe },
	[0x22] = { KIPT_PACKET_PWRE, 4, 0, read_pwre },
	[0x23] = { KIPT_PACKET_PSBEND, 2, 0, NULL },
	[0x32] = { KIPT_PACKET_PTW, 10, 0, read_ptw },
	[0x33] = { KIPT_PACKET_BEP, 2, 0, NULL },
	[0x43] = { KIPT_PACKET_PIP, 8, 0, read_pip },
	[0x52] = { KIPT_PACKET_PTW, 0, 0, NULL },
	[0x53] = { KIPT_PACKET_EVD, 11, 0, read_evd },
	[0x62] = { KIPT_PACKET_EXSTOP, 2, 0, NULL },
	[0x63] = { KIPT_PACKET_BBP, 3, 0, read_bbp },
	[0x72] = { KIPT_PACKET_PTW, 0, 0, NULL },
	[0x73] = { KIPT_PACKET_TMA, 7, 0, read_tma },
	[EXT_PSB] = { KIPT_PACKET_PSB, 16, 0, NULL },
	[0x83] = { KIPT_PACKET_TRACESTOP, 2, 0, NULL },
	[0x92] = { KIPT_PACKET_PTW, 6, KIPT_PF_IP, read_ptw },
	[0xa2] = { KIPT_PACKET_PWRX, 7, 0, read_pwrx },
	[0xa3] = { KIPT_PACKET_TNT, 8, KIPT_PF_LONG, read_tnt64 },
	[0xb2] = { KIPT_PACKET_PTW, 10, KIPT_PF_IP, read_ptw },
	[0xb3] = { KIPT_PACKET_BEP, 2, KIPT_PF_IP, NULL },
	[0xc2] = { KIPT_PACKET_MWAIT, 10, 0, read_mwait },
	[EXT_MNT] = { KIPT_PACKET_MNT, 11, 0, read_mnt },
	[0xc8] = { KIPT_PACKET_VMCS, 7, 0, read_vmcs },
	[0xd2] = { KIPT_PACKET_PTW, 0, 0, NULL },
	[0xe2] = { KIPT_PACKET_EXSTOP, 2, KIPT_PF_IP, NULL },
	[0xf2] = { KIPT_PACKET_PTW, 0, 0, NULL },
	[KIPT_EXT_OVF] = { KIPT_PACKET_OVF, 2, 0, NULL },
};

/* MNT has one more byte of opcode, and all of a PSB is: what is there of it counts before
 * what is missing.
 */
static enum kipt_status check_opcode(const u8 *b, u64 left)
{
	u32 i;

	if (b[1] == EXT_MNT && left > 2 && b[2] != EXT3_MNT)
		return KIPT_BAD_OPCODE;
	for (i = 2; b[1] == EXT_PSB && i < 16 && i < left; i++)
		if (b[i] != b[i & 1])
			return KIPT_BAD_PACKET;
	return forms[b[1]].type ? KIPT_OK : KIPT_BAD_OPCODE;
}

enum kipt_status kipt_packet_read_ext(const u8 *b, u64 left, struct kipt_packet *p)
{
	const struct form *form;
	enum kipt_status status;

	if (left < 2)
		return KIPT_TRUNCATED;
	status = check_opcode(b, left);
	if (status != KIPT_OK)
		return status;
	form = &forms[b[1]];
	if (left < form->len)
		return KIPT_TRUNCATED;
	p->type = form->type;
	p->len = form->len;
	p->flags = form->flags;
	if (form->read)
		form->read(b, p);
	return p->len && p->len <= left ? KIPT_OK : KIPT_BAD_PACKET;
}
