/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * IP compression: an IP payload and the IP before it make an address (Intel
 * SDM Vol. 3C, "IP Compression"). Pure, any context.
 */
#ifndef KIPT_DECODE_LAST_IP_H
#define KIPT_DECODE_LAST_IP_H

#include "packet.h"

/* IPBytes of payloads that are not compressed. */
#define KIPT_IPBYTES_NONE	0
#define KIPT_IPBYTES_SEXT48	3
#define KIPT_IPBYTES_FULL	6

/**
 * kipt_last_ip_bytes() - decompress an IP from the bytes of a packet
 * @last_ip: the IP of the packet before; 0 after a PSB
 * @ip_bytes: IPBytes of the packet, none that is reserved
 * @payload: what follows its first byte, and any bytes after that
 *
 * Return: the address, or @last_ip if the packet has none.
 */
static inline u64 kipt_last_ip_bytes(u64 last_ip, u32 ip_bytes, u64 payload)
{
	/* The bits that are kept, by IPBytes: no branch here, as sizes cannot be predicted. */
	static const u64 kept[8] = {
		~0ULL, ~0xffffULL, ~0xffffffffULL, 0, ~0xffffffffffffULL, 0, 0, 0
	};
	u64 sext48 = (u64)((s64)(payload << 16) >> 16);

	payload = ip_bytes == KIPT_IPBYTES_SEXT48 ? sext48 : payload;
	return (last_ip & kept[ip_bytes]) | (payload & ~kept[ip_bytes]);
}

/**
 * kipt_last_ip_apply() - decompress an IP
 * @last_ip: the IP of the packet before; 0 after a PSB
 * @packet: TIP, TIP.PGE, TIP.PGD or FUP; @size must not be 0
 *
 * Return: the address; it is also the next @last_ip.
 */
static inline u64 kipt_last_ip_apply(u64 last_ip,
				     const struct kipt_packet *packet)
{
	return kipt_last_ip_bytes(last_ip, packet->size, packet->value);
}

/**
 * kipt_ip_is_canonical() - may code be at this address
 * @ip: address
 *
 * Return: true if bits 63:56 are equal (5-level paging is the widest).
 */
static inline bool kipt_ip_is_canonical(u64 ip)
{
	return (u64)((s64)(ip << 7) >> 7) == ip;
}

#endif /* KIPT_DECODE_LAST_IP_H */
