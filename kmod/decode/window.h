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
 * struct kipt_cut - where windows end
 * @bytes: with this many bytes or more, 1..KIPT_WINDOW_BYTES
 * @ends: behind addresses of whose hash these bits are 0
 * @over_times: not at MTCs and CYCs
 */
struct kipt_cut {
	u32 bytes;
	u32 ends;
	bool over_times;
};

/**
 * kipt_window_read() - read a window
 * @window: written
 * @pos: its first byte; KIPT_WINDOW_READS behind @end may be read
 * @end: no packet of it reaches beyond; behind @pos
 * @last_ip: IP compression; changed to what it is behind the window
 * @cut: where it ends
 * @timed: set if there are MTCs or CYCs in it
 *
 * Return: where it ends: @pos if no packet of a window is there. @window->len
 * may be 0: there were only PADs, MTCs and CYCs.
 */
const u8 *kipt_window_read(struct kipt_window *window, const u8 *pos,
			   const u8 *end, u64 *last_ip,
			   const struct kipt_cut *cut, bool *timed);

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
