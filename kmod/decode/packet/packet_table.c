// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of packet_table.h, computed by the compiler from the manual's
 * formats (Intel SDM Vol. 3C, "Trace Packets and Data Types"). Constant.
 */
#include "packet_table.h"

#define IS_TNT(b)	(!((b) & 1) && (b) > 2)
#define IS_CYC(b)	(((b) & 7) == 3)

/* Low five bits and IPBytes of the packets that carry an IP; 5, 7: reserved. */
#define OPCODE(b)	((b) & KIPT_OPCODE_IP_MASK)
#define IP_TYPE(b)	(OPCODE(b) == KIPT_OPCODE_TIP ? KIPT_PACKET_TIP : \
			 OPCODE(b) == KIPT_OPCODE_TIP_PGE ? KIPT_PACKET_TIP_PGE : \
			 OPCODE(b) == KIPT_OPCODE_TIP_PGD ? KIPT_PACKET_TIP_PGD : \
			 OPCODE(b) == KIPT_OPCODE_FUP ? KIPT_PACKET_FUP : 0)
#define IP_SIZE(b)	((b) >> 5)
#define IP_BYTES(b)	(IP_SIZE(b) == 6 ? 8 : IP_SIZE(b) == 4 ? 6 : \
			 2 * IP_SIZE(b))
#define IS_IP(b)	(IP_TYPE(b) && IP_SIZE(b) != 5 && IP_SIZE(b) != 7)

/* Outcomes in a short TNT: the bits between bit 0 and the highest one. */
#define TNT_SIZE(b)	((b) & 0x80 ? 6 : (b) & 0x40 ? 5 : (b) & 0x20 ? 4 : \
			 (b) & 0x10 ? 3 : (b) & 0x08 ? 2 : 1)

#define TYPE(b)		((b) == 0 ? KIPT_PACKET_PAD : \
			 IS_TNT(b) ? KIPT_PACKET_TNT : \
			 IS_CYC(b) ? KIPT_PACKET_CYC : \
			 IS_IP(b) ? IP_TYPE(b) : \
			 (b) == KIPT_TABLE_TSC ? KIPT_PACKET_TSC : \
			 (b) == KIPT_TABLE_MTC ? KIPT_PACKET_MTC : 0)
#define LEN(b)		((b) == 0 || IS_TNT(b) || IS_CYC(b) ? 1 : \
			 IS_IP(b) ? 1 + IP_BYTES(b) : \
			 (b) == KIPT_TABLE_TSC ? 8 : \
			 (b) == KIPT_TABLE_MTC ? 2 : 0)
#define SIZE(b)		(IS_TNT(b) ? TNT_SIZE(b) : IS_IP(b) ? IP_SIZE(b) : 0)
#define VALUE(b)	(IS_TNT(b) ? (b) >> 1 & ((1 << TNT_SIZE(b)) - 1) : \
			 IS_CYC(b) ? (b) >> 3 : 0)

#define PACKET(b)	{ .type = TYPE(b), .len = LEN(b), .size = SIZE(b), \
			  .value = VALUE(b) }

#define FOUR(what, b)	what(b), what((b) + 1), what((b) + 2), what((b) + 3)
#define BY_16(what, b)	FOUR(what, b), FOUR(what, (b) + 4), \
			FOUR(what, (b) + 8), FOUR(what, (b) + 12)
#define BY_64(what, b)	BY_16(what, b), BY_16(what, (b) + 16), \
			BY_16(what, (b) + 32), BY_16(what, (b) + 48)
#define ALL(what)	BY_64(what, 0), BY_64(what, 64), \
			BY_64(what, 128), BY_64(what, 192)

const struct kipt_packet kipt_table_packet[256] = { ALL(PACKET) };

const u8 kipt_table_len[256] = { ALL(LEN) };

const u64 kipt_table_mask[KIPT_TABLE_NEEDS + 1] = {
	0, 0, 0xff, 0xffff, 0xffffff, 0xffffffff, 0xffffffffff,
	0xffffffffffff, 0xffffffffffffff, 0xffffffffffffffff
};
