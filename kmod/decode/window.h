/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Windows: which packets of the trace one look-up in the memo answers for, and
 * what they are found by. Knows packets by their first byte only; what is no
 * packet of a window ends it. Any context.
 *
 * A window is a run of short TNTs, TIPs, TIP.PGEs and TIP.PGDs. PADs between
 * them make no difference, nor do MTCs and CYCs. Where it ends depends on what
 * is in it, not on where it began or on those: what comes again is cut the same
 * way again, and a window that is cut again is not what one of its parts is.
 */
#ifndef KIPT_DECODE_WINDOW_H
#define KIPT_DECODE_WINDOW_H

#include "packet.h"

/* Bytes of the packets of a window: when it has this many it ends. */
#define KIPT_WINDOW_BYTES	64
/* It ends behind addresses of whose hash these bits are 0. */
#define KIPT_WINDOW_ENDS	15
/* Bytes it can have: the last packet may be long. */
#define KIPT_WINDOW_MOST	(KIPT_WINDOW_BYTES + 8)
/* Bytes behind the end of what may be in windows that may be read. */
#define KIPT_WINDOW_READS	32

/* The opcode bits of packets with an IP. */
#define KIPT_WINDOW_OPCODE	0x1f
#define KIPT_WINDOW_TIP		0x0d
#define KIPT_WINDOW_TIP_PGE	0x11
#define KIPT_WINDOW_TIP_PGD	0x01
#define KIPT_WINDOW_MTC		0x59
/* IPBytes of an IP that stands for itself. */
#define KIPT_WINDOW_FULL	0xc0

/* kipt_window_lens: a CYC, an MTC or a PAD. */
#define KIPT_WINDOW_TIMES	0x80

/* Bytes of the IP packet that starts with a byte; KIPT_WINDOW_TIMES; 0: another
 * packet, or one that never is in a window.
 */
extern const u8 kipt_window_lens[256];

/**
 * struct kipt_window - packets
 * @words: their bytes, then zeros; the first IP is whole, so that nothing
 *	depends on IP compression before them
 * @len: bytes
 * @hash: of all this
 */
struct kipt_window {
	u64 words[(KIPT_WINDOW_MOST + 15) / 8];
	u32 len;
	u32 hash;
};

/**
 * struct kipt_window_form - an IP payload by its IPBytes
 * @take: bits of the payload
 * @sign: the uppermost of them, where it is extended
 * @keep: bits of the IP before
 */
struct kipt_window_form {
	u64 take;
	u64 sign;
	u64 keep;
};

extern const struct kipt_window_form kipt_window_forms[8];

/**
 * kipt_window_ip() - read an IP packet
 * @pos: its first byte
 * @last_ip: IP compression; changed to what it is behind the packet
 *
 * The TIPs that come most by branches, the others by tables: what comes again
 * is predicted, and where the next packet is does not wait for this one.
 *
 * Return: its bytes, or what kipt_window_lens has for another.
 */
static inline u32 kipt_window_ip(const u8 *pos, u64 *last_ip)
{
	const struct kipt_window_form *form;
	u64 payload = kipt_load64(pos + 1);
	u32 size;

	switch (*pos) {
	case KIPT_WINDOW_TIP | 1 << 5:
		*last_ip = (*last_ip & ~0xffffULL) | (payload & 0xffff);
		return 3;
	case KIPT_WINDOW_TIP | 2 << 5:
		*last_ip = (*last_ip & ~0xffffffffULL) | (u32)payload;
		return 5;
	case KIPT_WINDOW_TIP | 3 << 5:
		*last_ip = (u64)((s64)(payload << 16) >> 16);
		return 7;
	default:
		size = kipt_window_lens[*pos];
		form = &kipt_window_forms[*pos >> 5];
		payload = (payload & form->take) ^ form->sign;
		if (size - 1 < 9)
			*last_ip = (payload - form->sign) |
				   (*last_ip & form->keep);
		return size;
	}
}

/**
 * kipt_window_read() - read a window
 * @window: written
 * @pos: its first byte; KIPT_WINDOW_READS behind @end may be read
 * @end: no packet of it reaches beyond; behind @pos
 * @last_ip: IP compression; changed to what it is behind the window
 * @over_times: it does not end at MTCs and CYCs
 * @timed: set if there are MTCs or CYCs in it
 *
 * Return: where it ends: @pos if no packet of a window is there. @window->len
 * may be 0: there were only PADs, MTCs and CYCs.
 */
const u8 *kipt_window_read(struct kipt_window *window, const u8 *pos,
			   const u8 *end, u64 *last_ip, bool over_times,
			   bool *timed);

/**
 * kipt_window_packet() - read a window of one packet
 * @window: written
 * @pos: a short TNT, or an IP packet of a window
 * @last_ip: as for kipt_window_read()
 *
 * Return: where the packet ends.
 */
const u8 *kipt_window_packet(struct kipt_window *window, const u8 *pos,
			     u64 *last_ip);

/**
 * kipt_window_target() - the IP of an IP packet
 * @window: of kipt_window_packet()
 *
 * Return: the IP; without worth for a packet without.
 */
static inline u64 kipt_window_target(const struct kipt_window *window)
{
	return window->words[0] >> 8 | window->words[1] << 56;
}

#endif /* KIPT_DECODE_WINDOW_H */
