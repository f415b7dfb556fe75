/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reading windows: which bytes of the trace one look-up in the memo answers for.
 * Knows packets by their first byte only; what is no packet of a window ends
 * it. Any context.
 */
#ifndef KIPT_DECODE_WINDOW_H
#define KIPT_DECODE_WINDOW_H

#include "memo.h"
#include "packet.h"

/* Bytes behind its start that looking at a window may read: it gets no longer
 * than its TNTs, its packets that tell time, and a TIP.
 */
#define KIPT_WINDOW_READS	32

/* The opcode bits of packets with an IP that can end a window. */
#define KIPT_WINDOW_OPCODE	0x1f
#define KIPT_WINDOW_TIP		0x0d
#define KIPT_WINDOW_TIP_PGE	0x11
#define KIPT_WINDOW_TIP_PGD	0x01
#define KIPT_WINDOW_MTC		0x59

/* kipt_window_lens: a CYC or MTC. */
#define KIPT_WINDOW_TIMES	0x80

/* Bytes of the IP packet that starts with a byte; KIPT_WINDOW_TIMES; 0: another
 * packet, or one that never is in a window.
 */
extern const u8 kipt_window_lens[256];

/**
 * struct kipt_ip_form - an IP payload by its IPBytes
 * @take: bits of the payload
 * @sign: the uppermost of them, where it is extended
 * @keep: bits of the IP before
 */
struct kipt_ip_form {
	u64 take;
	u64 sign;
	u64 keep;
};

extern const struct kipt_ip_form kipt_ip_forms[8];

/**
 * struct kipt_times - packets of a window that only tell time
 * @count: of @at
 * @max: how many there may be, at most KIPT_MEMO_TIMES
 * @tnts: how many bytes the key may have, at most KIPT_MEMO_TNTS
 * @at: each, and how many bytes of the key stand before it
 */
struct kipt_times {
	u32 count;
	u32 max;
	u32 tnts;
	struct {
		const u8 *pos;
		u32 behind;
	} at[KIPT_MEMO_TIMES];
};

/**
 * kipt_window_read_on() - read a key over packets that only tell time
 * @window: its key has @filled bytes; more are put behind
 * @filled: 0..7
 * @pos: where reading goes on
 * @end: no packet before it reaches beyond it
 * @times: the packets read over; @max and @tnts are the caller's
 *
 * Return: where the key ends.
 */
const u8 *kipt_window_read_on(struct kipt_window *window, u32 filled,
			      const u8 *pos, const u8 *end,
			      struct kipt_times *times);

/* How many of the 8 bytes, from the lowest on, are short TNTs or PADs: even
 * and not 02.
 */
static inline u32 kipt_window_run(u64 word)
{
	u64 other = word ^ 0x0202020202020202ULL;
	u64 is_two = ~(((other & 0x7f7f7f7f7f7f7f7fULL) +
			0x7f7f7f7f7f7f7f7fULL) | other);
	u64 stop = (word << 7 | is_two) & 0x8080808080808080ULL;

	return stop ? (u32)__builtin_ctzll(stop) >> 3 : 8;
}

static inline u64 kipt_window_first(u64 word, u32 n)
{
	return n < 8 ? word & ((1ULL << n * 8) - 1) : word;
}

/* Behind the PADs among the next 8 bytes. */
static inline const u8 *kipt_window_pads(const u8 *pos)
{
	u64 word = kipt_load64(pos);

	return pos + (word ? (u32)__builtin_ctzll(word) >> 3 : 8);
}

/* The IP packet at @pos of @len bytes, or none, 0; @last_ip as for
 * kipt_window_read(). Without a branch: what follows a run of TNTs has no
 * pattern.
 */
static inline void kipt_window_ip(struct kipt_window *window, const u8 *pos,
				  u32 len, u64 *last_ip)
{
	u32 byte = len ? *pos : 0;
	const struct kipt_ip_form *form = &kipt_ip_forms[byte >> 5];
	u64 target;

	target = ((kipt_load64(pos + 1) & form->take) ^ form->sign) -
		 form->sign;
	target |= *last_ip & form->keep;
	*last_ip = target;
	window->tag = (u64)byte << 32;
	window->target = len ? target : 0;
}

/**
 * kipt_window_packet() - read a window of one packet
 * @window: written, but @tag's lower half and @top
 * @pos: a short TNT, or an IP packet of a window
 * @last_ip: as for kipt_window_read()
 *
 * Return: where the packet ends.
 */
static inline const u8 *kipt_window_packet(struct kipt_window *window,
					   const u8 *pos, u64 *last_ip)
{
	u32 len = kipt_window_lens[*pos];

	window->key = len ? 0 : *pos;
	kipt_window_ip(window, pos, len, last_ip);
	return pos + (len ? len : 1);
}

/**
 * kipt_window_read() - read a window
 * @window: written, but @tag's lower half and @top
 * @pos: its first byte, no PAD; KIPT_WINDOW_READS may be read
 * @end: the trace to be looked at ends there; the window may end behind it
 * @last_ip: IP compression; changed to what it is behind the window
 * @times: @max and @tnts are the caller's, the rest is written
 *
 * Return: where it ends: @pos if no packet of a window is there.
 */
static inline const u8 *kipt_window_read(struct kipt_window *window,
					 const u8 *pos, const u8 *end,
					 u64 *last_ip, struct kipt_times *times)
{
	u64 word = kipt_load64(pos);
	u32 run = kipt_window_run(word), len;

	run = run < times->tnts ? run : times->tnts;
	window->key = kipt_window_first(word, run);
	pos += run;
	len = kipt_window_lens[*pos];
	times->count = 0;
	if (unlikely(len == KIPT_WINDOW_TIMES)) {
		if (run < times->tnts)
			pos = kipt_window_read_on(window, run, pos, end, times);
		len = kipt_window_lens[*pos] & ~KIPT_WINDOW_TIMES;
	}
	kipt_window_ip(window, pos, len, last_ip);
	return pos + len;
}

#endif /* KIPT_DECODE_WINDOW_H */
