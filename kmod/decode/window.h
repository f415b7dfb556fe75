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
 *
 * It can be read packet by packet, or guessed from bytes alone: where it ends
 * shows in them. Bytes equal to those of a window that was read are that window.
 */
#ifndef KIPT_DECODE_WINDOW_H
#define KIPT_DECODE_WINDOW_H

#include "packet.h"

/* Bytes of the packets of a window: when it has this many it ends. */
#define KIPT_WINDOW_BYTES	64
/* It ends behind a TIP whose address has zeros here, once folded: see
 * kipt_window_ends(). TIPs without an address, or with 64 bits of it, do not.
 */
#define KIPT_WINDOW_ENDS	15
/* Not behind one that starts before this byte: a look-up takes as long for little
 * as for much.
 */
#define KIPT_WINDOW_EARLY	16
/* And behind any that starts here or later. */
#define KIPT_WINDOW_LATE	52
/* Bytes it can have: the last packet may be long. */
#define KIPT_WINDOW_MOST	(KIPT_WINDOW_BYTES + 8)
/* Bytes behind the end of what may be in windows that may be read. */
#define KIPT_WINDOW_READS	32

/* The opcode bits of packets with an IP. */
#define KIPT_WINDOW_OPCODE	0x1f
#define KIPT_WINDOW_TIP		0x0d
/* Of a TIP with 0 to 48 bits of IP, these bits are KIPT_WINDOW_TIP. */
#define KIPT_WINDOW_SHAPE	0x9f
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

/* Words of a window: a multiple of two. */
#define KIPT_WINDOW_WORDS	((KIPT_WINDOW_MOST + 15) / 16 * 2)
/* kipt_window.keeps: no IP is in it. */
#define KIPT_WINDOW_NO_IP	0xff
/* kipt_window_guess(): none was left out. */
#define KIPT_WINDOW_NO_MTC	0xff

/**
 * struct kipt_window - packets
 * @words: their bytes, then zeros
 * @len: bytes
 * @hash: of all this
 * @keeps: IP compression: of the IP before them they depend on the bits from this
 *	one on; KIPT_WINDOW_NO_IP: on none, and what follows depends on all
 */
struct kipt_window {
	u64 words[KIPT_WINDOW_WORDS];
	u32 len;
	u32 hash;
	u8 keeps;
};

/* As many ones as a window can have bytes, and as many zeros. */
extern const u8 kipt_window_ones[KIPT_WINDOW_WORDS * 16];

/**
 * kipt_window_mask() - which bytes a window has
 * @len: its length
 *
 * Return: ones for those, then zeros: as many as a window can have.
 */
static inline const u8 *kipt_window_mask(u32 len)
{
	return kipt_window_ones + KIPT_WINDOW_WORDS * 8 - len;
}

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
 * kipt_window_ends() - does a window end behind a TIP
 * @pos: the TIP, with 16, 32 or 48 bits of address
 * @len: bytes of packets before it
 *
 * Return: true if so.
 */
static inline bool kipt_window_ends(const u8 *pos, u32 len)
{
	if (len < KIPT_WINDOW_EARLY)
		return false;
	return !((pos[1] ^ pos[1] >> 4 ^ pos[2]) & KIPT_WINDOW_ENDS) ||
	       len >= KIPT_WINDOW_LATE;
}

/**
 * kipt_window_close() - end a window
 * @window: @hash, @len and @words are written
 * @bytes: of its packets; @words, or as much may be read
 * @len: how many, up to KIPT_WINDOW_MOST
 */
void kipt_window_close(struct kipt_window *window, const u8 *bytes, u32 len);

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
 * kipt_window_guess() - what window seems to be there
 * @window: written, but @keeps
 * @pos: its first byte, where a packet starts; KIPT_WINDOW_READS behind @end may
 *	be read
 * @end: no byte of it is there or behind
 * @over_times: what seems to be an MTC is left out
 * @mtc: where that is, in bytes from @pos on, or KIPT_WINDOW_NO_MTC
 *
 * No packet is read. A window that was read and has the same bytes is there, if a
 * packet starts at @mtc; else the guess is wrong, or nobody saw it before.
 *
 * Return: where it ends: @pos if there is nothing to guess.
 */
const u8 *kipt_window_guess(struct kipt_window *window, const u8 *pos,
			    const u8 *end, bool over_times, u8 *mtc);

/**
 * kipt_window_starts() - does a packet start at a byte
 * @pos: where one does
 * @at: the byte; between are PADs and packets of windows, but that the last may be
 *	longer, and 8 bytes behind may be read
 *
 * Return: true if so.
 */
bool kipt_window_starts(const u8 *pos, const u8 *at);

/**
 * kipt_window_packet() - read a window of one packet
 * @window: written; an IP is whole, so that nothing depends on the IP before
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
