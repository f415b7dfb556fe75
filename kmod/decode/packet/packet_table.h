/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Packets that their first byte identifies but for a payload of whole bytes: PAD,
 * short TNT, short CYC, TIP, TIP.PGE, TIP.PGD, FUP, TSC, MTC. Ready packets
 * by first byte, so that reading one needs no branch. Constant data; which
 * bytes may be read at all is up to the caller. For packet*.c only.
 */
#ifndef KIPT_DECODE_PACKET_TABLE_H
#define KIPT_DECODE_PACKET_TABLE_H

#include "packet.h"

/* Bytes that must be there before kipt_table_read() may look at a packet. */
#define KIPT_TABLE_NEEDS	9

/* First bytes. */
#define KIPT_TABLE_TSC		0x19
#define KIPT_TABLE_MTC		0x59

/* The packet as its first byte says, @value without the payload. */
extern const struct kipt_packet kipt_table_packet[256];

/* Its length, 1..9, or 0 if the first byte does not identify the packet. */
extern const u8 kipt_table_len[256];

/* The bits of the eight bytes after the first that are payload, by length. */
extern const u64 kipt_table_mask[KIPT_TABLE_NEEDS + 1];

/**
 * kipt_table_read() - make the packet that is here
 * @bytes: its bytes, KIPT_TABLE_NEEDS may be read
 * @len: its kipt_table_len, not 0
 * @packet: written
 */
static inline void kipt_table_read(const u8 *bytes, u32 len,
				   struct kipt_packet *packet)
{
	const struct kipt_packet *plain = &kipt_table_packet[*bytes];

	/* All but @value is copied at once. */
	memcpy(packet, plain, offsetof(struct kipt_packet, value));
	packet->value = plain->value |
			(kipt_load64(bytes + 1) & kipt_table_mask[len]);
}

#endif /* KIPT_DECODE_PACKET_TABLE_H */
