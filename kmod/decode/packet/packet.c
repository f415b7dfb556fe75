// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packet formats, from the manual's packet tables (Intel SDM Vol. 3C, "Trace
 * Packets and Data Types"). One function per format; dispatch is by the first
 * byte, in packet_ext.c by the second. Nothing is kept but the cursor's block context. Any context.
 */
#include "packet.h"
#include "packet_ext.h"
#include "packet_table.h"

/* First byte of packets that it identifies. */
#define OPC_MODE	0x99
#define OPC_TRIG	0xd9

#define CYC_MAX_LEN	15

/* What the table has; fewer bytes than it reads may be left. */
static enum kipt_status read_table(const u8 *b, u64 left, struct kipt_packet *p)
{
	u32 len = kipt_table_len[b[0]];

	if (left < len)
		return KIPT_TRUNCATED;
	*p = kipt_table_packet[b[0]];
	p->value |= kipt_load_le(b + 1, len - 1);
	return KIPT_OK;
}

/* SKD007: OVF took the place of all but the first byte of a CYC. What is
 * there, xx 02 F3, would be two CYCs that no CPU sends back to back.
 */
static bool cyc_cut_by_ovf(const u8 *b, u64 left)
{
	return left >= 3 && b[1] == KIPT_OPCODE_EXT && b[2] == KIPT_EXT_OVF;
}

static enum kipt_status read_cyc(const u8 *b, u64 left, struct kipt_packet *p)
{
	u64 value = b[0] >> 3;
	u32 shift = 5, len = 1;
	bool more = true;

	p->type = KIPT_PACKET_CYC;
	if (cyc_cut_by_ovf(b, left)) {
		p->len = 1;
		p->flags = KIPT_PF_BROKEN;
		return KIPT_OK;
	}
	while (more) {
		if (len == CYC_MAX_LEN)
			return KIPT_BAD_PACKET;
		if (len == left)
			return KIPT_TRUNCATED;
		more = b[len] & 1;
		if (shift < 64)
			value |= (u64)(b[len] >> 1) << shift;
		shift += 7;
		len++;
	}
	p->len = (u8)len;
	p->value = value;
	return KIPT_OK;
}

static enum kipt_status read_mode(const u8 *b, u64 left, struct kipt_packet *p)
{
	if (left < 2)
		return KIPT_TRUNCATED;
	p->len = 2;
	switch (b[1] >> 5) {
	case 0:
		p->type = KIPT_PACKET_MODE_EXEC;
		p->value = b[1] & 7;
		if ((b[1] & 3) == 3)
			return KIPT_BAD_PACKET;
		return KIPT_OK;
	case 1:
		p->type = KIPT_PACKET_MODE_TSX;
		p->value = b[1] & 3;
		if ((b[1] & 3) == 3)
			return KIPT_BAD_PACKET;
		return KIPT_OK;
	default:
		return KIPT_BAD_PACKET;
	}
}

static enum kipt_status read_trig(const u8 *b, u64 left, struct kipt_packet *p)
{
	u32 len;

	if (left < 2)
		return KIPT_TRUNCATED;
	len = b[1] & 0x40 ? 5 : 3;
	if (left < len)
		return KIPT_TRUNCATED;
	p->type = KIPT_PACKET_TRIG;
	p->len = (u8)len;
	p->aux = b[2];
	if (b[1] & 0x80)
		p->flags |= KIPT_PF_IP;
	if (b[1] & 0x20)
		p->flags |= KIPT_PF_MULT;
	if (len == 5) {
		p->flags |= KIPT_PF_ICNT;
		p->value = kipt_load_le(b + 3, 2);
	}
	return KIPT_OK;
}

static enum kipt_status read_bip(const u8 *b, u64 left, u32 size,
				 struct kipt_packet *p)
{
	if (left < 1 + size)
		return KIPT_TRUNCATED;
	p->type = KIPT_PACKET_BIP;
	p->len = (u8)(1 + size);
	p->size = (u8)size;
	p->aux = b[0] >> 3;
	p->value = kipt_load_le(b + 1, size);
	return KIPT_OK;
}

static enum kipt_status read_any(const u8 *b, u64 left, struct kipt_packet *p)
{
	if (kipt_table_len[b[0]])
		return read_table(b, left, p);
	if ((b[0] & 3) == 3)
		return read_cyc(b, left, p);
	switch (b[0]) {
	case KIPT_OPCODE_EXT:
		return kipt_packet_read_ext(b, left, p);
	case OPC_MODE:
		return read_mode(b, left, p);
	case OPC_TRIG:
		return read_trig(b, left, p);
	/* IPBytes 5 and 7 are reserved. */
	case 0xa1: case 0xad: case 0xb1: case 0xbd:
	case 0xe1: case 0xed: case 0xf1: case 0xfd:
		return KIPT_BAD_PACKET;
	default:
		return KIPT_BAD_OPCODE;
	}
}

/* Packets that may come among the items of a block without ending it. */
static bool keeps_block(u32 type)
{
	return kipt_packet_is_time(type) ||
	       KIPT_PACKET_SET_HAS(type, KIPT_PACKET_SET(FUP) | KIPT_PACKET_SET(EXSTOP) |
					 KIPT_PACKET_SET(PWRE) | KIPT_PACKET_SET(PWRX) |
					 KIPT_PACKET_SET(BIP));
}

/* What the table has not, or not enough bytes are left for, or is in a
 * block.
 */
static enum kipt_status read_slow(struct kipt_cursor *cursor, u64 left,
				  struct kipt_packet *packet)
{
	const u8 *b = cursor->pos;
	enum kipt_status status;

	if (!left)
		return KIPT_END;
	*packet = (struct kipt_packet){ 0 };
	if (cursor->block && (b[0] & 7) == 4)
		status = read_bip(b, left, cursor->block, packet);
	else
		status = read_any(b, left, packet);
	if (status != KIPT_OK)
		return status;

	if (packet->type == KIPT_PACKET_BBP)
		cursor->block = packet->size;
	else if (cursor->block && !keeps_block(packet->type))
		cursor->block = 0;
	cursor->pos += packet->len;
	return KIPT_OK;
}

enum kipt_status kipt_packet_next(struct kipt_cursor *cursor,
				  struct kipt_packet *packet)
{
	u64 left = kipt_cursor_left(cursor);
	u32 len;

	if (likely(left >= KIPT_TABLE_NEEDS && !cursor->block)) {
		len = kipt_table_len[*cursor->pos];
		if (likely(len)) {
			kipt_table_read(cursor->pos, len, packet);
			cursor->pos += len;
			return KIPT_OK;
		}
	}
	return read_slow(cursor, left, packet);
}
