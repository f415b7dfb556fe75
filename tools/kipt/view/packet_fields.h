/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The payload of a packet as named values, one list for every output.
 */
#ifndef KIPT_PACKET_FIELDS_H
#define KIPT_PACKET_FIELDS_H

#include "../../../kmod/decode/packet/packet.h"

#define PACKET_FIELDS_MAX	4

/**
 * struct packet_field - one value
 * @name: its name
 * @text: if it is a word or bits; else NULL
 * @hex: a number to be shown in hexadecimal
 * @value: if it is a number
 */
struct packet_field {
	const char *name;
	const char *text;
	bool hex;
	u64 value;
};

/**
 * struct packet_fields - all values of a packet
 * @count: how many
 * @list: the values
 * @bits: memory for the bits of a TNT
 */
struct packet_fields {
	u32 count;
	struct packet_field list[PACKET_FIELDS_MAX];
	char bits[64];
};

/**
 * packet_fields_make() - the values of a packet
 * @packet: the packet
 * @ip: its IP after decompression; used if it has one
 * @fields: filled
 */
void packet_fields_make(const struct kipt_packet *packet, u64 ip,
			struct packet_fields *fields);

#endif /* KIPT_PACKET_FIELDS_H */
