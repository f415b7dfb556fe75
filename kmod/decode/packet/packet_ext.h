/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Packets whose opcode has two bytes: packet_ext.c. Any context.
 */
#ifndef KIPT_DECODE_PACKET_EXT_H
#define KIPT_DECODE_PACKET_EXT_H

#include "packet.h"

/* First byte of these packets, and second byte of OVF. */
#define KIPT_OPCODE_EXT	0x02
#define KIPT_EXT_OVF	0xf3

/**
 * kipt_packet_read_ext() - read a packet whose first byte is 02
 * @b: the packet
 * @left: bytes that may be read, not 0
 * @p: filled, on success
 *
 * Return: KIPT_OK, KIPT_TRUNCATED, or why the bytes are no packet.
 */
enum kipt_status kipt_packet_read_ext(const u8 *b, u64 left, struct kipt_packet *p);

#endif /* KIPT_DECODE_PACKET_EXT_H */
