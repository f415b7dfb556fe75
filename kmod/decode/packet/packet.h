/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bytes to packets, nothing more: a packet is what its bytes say, without
 * any state but "inside a BBP block". What an IP payload means is last_ip.h's
 * affair, what a packet means the flow's. Pure, any context.
 */
#ifndef KIPT_DECODE_PACKET_H
#define KIPT_DECODE_PACKET_H

#include "cursor.h"
#include "../status.h"

/* Packet types, KIPT_PACKET_ before each, and what the manual calls them: X(type, name) (Intel SDM
 * Vol. 3C, "Trace Packets and Data Types").
 */
#define KIPT_PACKETS(X) \
	X(PAD, "PAD") X(TNT, "TNT") X(TIP, "TIP") X(TIP_PGE, "TIP.PGE") \
	X(TIP_PGD, "TIP.PGD") X(FUP, "FUP") X(MODE_EXEC, "MODE.Exec") \
	X(MODE_TSX, "MODE.TSX") X(PIP, "PIP") X(TRACESTOP, "TraceStop") \
	X(CBR, "CBR") X(TSC, "TSC") X(MTC, "MTC") X(TMA, "TMA") X(CYC, "CYC") \
	X(VMCS, "VMCS") X(OVF, "OVF") X(PSB, "PSB") X(PSBEND, "PSBEND") \
	X(MNT, "MNT") X(PTW, "PTW") X(EXSTOP, "EXSTOP") X(MWAIT, "MWAIT") \
	X(PWRE, "PWRE") X(PWRX, "PWRX") X(BBP, "BBP") X(BIP, "BIP") \
	X(BEP, "BEP") X(CFE, "CFE") X(EVD, "EVD") X(TRIG, "TRIG")

#define KIPT_PACKET_TYPE(type, name)	KIPT_PACKET_##type,

enum kipt_packet_type {
	KIPT_PACKET_NONE = 0,
	KIPT_PACKETS(KIPT_PACKET_TYPE)

	__KIPT_PACKET_MAX,
	KIPT_PACKET_MAX = __KIPT_PACKET_MAX - 1
};

/* A set of types, and whether a type is in it. */
#define KIPT_PACKET_SET(type)		(1ULL << KIPT_PACKET_##type)
#define KIPT_PACKET_SET_HAS(type, set)	((set) >> (type) & 1)

_Static_assert(KIPT_PACKET_MAX < 64, "a set is a u64");

/* struct kipt_packet.flags */
#define KIPT_PF_IP	(1U << 0)	/* PTW, EXSTOP, CFE, BEP, TRIG: a FUP follows */
#define KIPT_PF_NR	(1U << 1)	/* PIP: VMX non-root */
#define KIPT_PF_HW	(1U << 2)	/* PWRE: started by hardware */
#define KIPT_PF_BROKEN	(1U << 3)	/* shape of an erratum: ignore the payload */
#define KIPT_PF_LONG	(1U << 4)	/* TNT: the 8-byte form */
#define KIPT_PF_ICNT	(1U << 5)	/* TRIG: @value holds ICNT */
#define KIPT_PF_MULT	(1U << 6)	/* TRIG: further triggers not reported */

/* MODE.Exec @value bits; (L, D) say 64, 32 or 16-bit code. */
#define KIPT_MODE_EXEC_L	(1U << 0)
#define KIPT_MODE_EXEC_D	(1U << 1)
#define KIPT_MODE_EXEC_IF	(1U << 2)
/* MODE.TSX @value bits. */
#define KIPT_MODE_TSX_INTX	(1U << 0)
#define KIPT_MODE_TSX_ABORT	(1U << 1)

/* The longest packet is PSB. */
#define KIPT_PACKET_MAX_LEN	16

/* First byte of the packets with an IP: their opcode, and IPBytes above it. */
#define KIPT_OPCODE_IP_MASK	0x1fU
#define KIPT_OPCODE_TIP_PGD	0x01U
#define KIPT_OPCODE_TIP		0x0dU
#define KIPT_OPCODE_TIP_PGE	0x11U
#define KIPT_OPCODE_FUP		0x1dU

/**
 * struct kipt_packet - one packet
 * @type: enum kipt_packet_type
 * @len: its bytes, 1..16
 * @size: TNT: number of bits, 1..47; TIP, TIP.PGE, TIP.PGD, FUP: IPBytes;
 *	PTW, BBP, BIP: bytes of the operand or of an item, 4 or 8
 * @flags: KIPT_PF_*
 * @aux: MWAIT hints; PWRE state and sub-state; PWRX last and deepest state;
 *	CFE vector; EVD type; BBP type; BIP id; TRIG bit vector; TMA FastCounter
 * @value: TNT bits, the oldest in bit @size - 1; raw IP payload; MODE bits;
 *	CR3 of PIP; CBR ratio; TSC; MTC; CTC of TMA; cycles of CYC; VMCS base (all
 *	ones: none); MNT, PTW, BIP and EVD payload; MWAIT extensions; PWRX wake
 *	reason; CFE type; TRIG ICNT
 *
 * Reserved bits are masked.
 */
struct kipt_packet {
	u8 type;
	u8 len;
	u8 size;
	u8 flags;
	u32 aux;
	u64 value;
};

/**
 * kipt_packet_next() - read the packet at the cursor
 * @cursor: advanced past the packet, only on success; keeps the block context
 * @packet: written; undefined if no packet was read
 *
 * Shapes that errata make are read as what they mean: a CYC that an OVF
 * cut off (SKD007) is a broken 1-byte CYC, a TMA with reserved bits set and a
 * byte too many (SKZ84) a broken 8-byte TMA.
 *
 * Context: any.
 * Return:
 * KIPT_OK: a packet was read.
 * KIPT_END: nothing is left.
 * KIPT_TRUNCATED: the bytes end inside the packet.
 * KIPT_BAD_OPCODE: no packet starts like this.
 * KIPT_BAD_PACKET: the payload breaks the format.
 */
enum kipt_status kipt_packet_next(struct kipt_cursor *cursor,
				  struct kipt_packet *packet);

/**
 * kipt_packet_name() - the manual's name of a packet type
 * @type: any value
 *
 * Return: a constant string, "unknown" if out of range.
 */
const char *kipt_packet_name(u32 type);

/**
 * kipt_packet_is_time() - does this packet only have time, or fill
 * @type: enum kipt_packet_type
 *
 * Such packets may come between any two others, inside compound events too.
 *
 * Return: true for PAD, CBR, TSC, MTC, TMA, CYC and MNT.
 */
static inline bool kipt_packet_is_time(u32 type)
{
	return KIPT_PACKET_SET_HAS(type, KIPT_PACKET_SET(PAD) | KIPT_PACKET_SET(CBR) |
				   KIPT_PACKET_SET(TSC) | KIPT_PACKET_SET(MTC) |
				   KIPT_PACKET_SET(TMA) | KIPT_PACKET_SET(CYC) |
				   KIPT_PACKET_SET(MNT));
}

#endif /* KIPT_DECODE_PACKET_H */
