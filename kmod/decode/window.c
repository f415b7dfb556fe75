// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading windows, see window.h. Any context.
 */
#include "window.h"

const struct kipt_window_form kipt_window_forms[8] = {
	[0] = { 0, 0, ~0ULL },
	[1] = { 0xffffULL, 0, ~0xffffULL },
	[2] = { 0xffffffffULL, 0, ~0xffffffffULL },
	[3] = { 0xffffffffffffULL, 1ULL << 47, 0 },
	[4] = { 0xffffffffffffULL, 0, ~0xffffffffffffULL },
	[6] = { ~0ULL, 0, 0 },
};

#define IP_LENS(opcode) \
	[(opcode) | 1 << 5] = 3, [(opcode) | 2 << 5] = 5, \
	[(opcode) | 3 << 5] = 7, [(opcode) | 4 << 5] = 7, \
	[(opcode) | 6 << 5] = 9
#define FOUR_CYCS(byte) \
	[byte] = KIPT_WINDOW_TIMES, [(byte) + 4] = KIPT_WINDOW_TIMES, \
	[(byte) + 8] = KIPT_WINDOW_TIMES, [(byte) + 12] = KIPT_WINDOW_TIMES
#define SIXTEEN_CYCS(byte) \
	FOUR_CYCS(byte), FOUR_CYCS((byte) + 16), FOUR_CYCS((byte) + 32), \
	FOUR_CYCS((byte) + 48)
const u8 kipt_window_lens[256] = {
	IP_LENS(KIPT_WINDOW_TIP), IP_LENS(KIPT_WINDOW_TIP_PGE),
	IP_LENS(KIPT_WINDOW_TIP_PGD), [KIPT_WINDOW_TIP_PGD] = 1,
	[0] = KIPT_WINDOW_TIMES, [KIPT_WINDOW_MTC] = KIPT_WINDOW_TIMES,
	SIXTEEN_CYCS(0x03), SIXTEEN_CYCS(0x43), SIXTEEN_CYCS(0x83),
	SIXTEEN_CYCS(0xc3),
};

static void put64(u8 *to, u64 word)
{
	memcpy(to, &word, sizeof(word));
}

/* How many of the 8 bytes, from the lowest on, are short TNTs: even, and not
 * 00 or 02.
 */
static inline u32 tnt_run(u64 word)
{
	const u64 low = 0x7f7f7f7f7f7f7f7fULL;
	u64 others = word & ~0x0202020202020202ULL;
	u64 stop = (word << 7 | ~(((others & low) + low) | others)) & ~low;

	return stop ? (u32)__builtin_ctzll(stop) >> 3 : 8;
}

static const u8 *pass_pads(const u8 *pos, const u8 *end)
{
	u64 word;

	do {
		word = kipt_load64(pos);
		pos += word ? __builtin_ctzll(word) >> 3 : 8;
	} while (!word && pos < end);
	return pos < end ? pos : end;
}

/* Behind PADs, or an MTC or CYC. */
static const u8 *pass(const u8 *pos, const u8 *end, bool over_times,
		      bool *timed)
{
	struct kipt_cursor cursor;
	struct kipt_packet packet;

	if (!*pos)
		return pass_pads(pos, end);
	if (!over_times)
		return pos;
	/* Whether an OVF cut a CYC off shows a byte later; that one ends the
	 * window.
	 */
	kipt_cursor_init(&cursor, pos, (u64)(end - pos) + 1);
	if (kipt_packet_next(&cursor, &packet) != KIPT_OK ||
	    cursor.pos > end || packet.flags & KIPT_PF_BROKEN)
		return pos;
	*timed = true;
	return cursor.pos;
}

static inline u64 first_bytes(u64 word, u32 n)
{
	return n < 8 ? word & ((1ULL << n * 8) - 1) : word;
}

/* Behind a run. Most are of one packet: that is predicted, and the next packet is
 * not waited for.
 */
static inline const u8 *behind_run(const u8 *pos, u32 run)
{
	if (!run)
		return pos;
	if (likely(run == 1)) {
		pos++;
		/* Else compilers choose without a branch, and wait for @run. */
		OPTIMIZER_HIDE_VAR(pos);
		return pos;
	}
	return pos + run;
}

/* Of the IP before, what an IP packet with this many bytes keeps. */
static const u8 kept[] = { [3] = 16, [5] = 32, [7] = 48, [9] = 63 };

/* Puts an IP packet at @to. Returns whether the window ends behind it: there, or
 * where the place it goes on from can be another address space's too.
 */
static inline bool put_ip(struct kipt_window *window, u32 len, const u8 *pos,
			  u32 size, bool crosses)
{
	u8 *to = (u8 *)window->words + len;

	put64(to, kipt_load64(pos));
	to[8] = pos[8];
	if (unlikely(size == 1))
		return crosses;
	if (window->keeps == KIPT_WINDOW_NO_IP)
		window->keeps = kept[size];
	return crosses || ((*pos & KIPT_WINDOW_SHAPE) == KIPT_WINDOW_TIP &&
			   kipt_window_ends(pos, len));
}

const u8 *kipt_window_read(struct kipt_window *window, const u8 *pos,
			   const u8 *end, u64 *last_ip, bool over_times,
			   bool *timed)
{
	u64 ip = *last_ip, before, word, tnts = 0;
	u32 len = 0, run, room, size, carried = 0;
	u8 *bytes = (u8 *)window->words;
	const u8 *next;
	bool ends;

	*timed = false;
	window->keeps = KIPT_WINDOW_NO_IP;
	while (pos < end && len < KIPT_WINDOW_BYTES) {
		word = kipt_load64(pos + carried);
		/* A run goes on behind what stood in it, as if nothing did. */
		if (unlikely(carried)) {
			word = word << carried * 8 | tnts;
			carried = 0;
		}
		put64(bytes + len, word);
		run = tnt_run(word);
		room = KIPT_WINDOW_BYTES - len;
		if (unlikely(room > (u64)(end - pos)))
			room = (u32)(end - pos);
		if (run >= room || run == 8) {
			run = run < room ? run : room;
			len += run;
			pos += run;
			continue;
		}
		tnts = first_bytes(word, run);
		len += run;
		pos = behind_run(pos, run);
		before = ip;
		size = kipt_window_ip(pos, &ip);
		if (likely(size - 1 < 9)) {
			if (unlikely((u64)(end - pos) < size)) {
				ip = before;
				break;
			}
			ends = put_ip(window, len, pos, size,
				      (ip ^ before) >> 63);
			len += size;
			pos += size;
			if (unlikely(!*pos))
				pos = pass_pads(pos, end);
			if (ends)
				break;
			continue;
		}
		next = size ? pass(pos, end, over_times, timed) : pos;
		if (next == pos)
			break;
		len -= run;
		carried = run;
		pos = next - run;
	}
	kipt_window_close(window, bytes, len);
	*last_ip = ip;
	return pos;
}

const u8 *kipt_window_packet(struct kipt_window *window, const u8 *pos,
			     u64 *last_ip)
{
	u32 size = kipt_window_lens[*pos];
	u8 bytes[KIPT_WINDOW_WORDS * 8] = { *pos };

	window->keeps = KIPT_WINDOW_NO_IP;
	if (size <= 1) {
		kipt_window_close(window, bytes, 1);
		return pos + 1;
	}
	kipt_window_ip(pos, last_ip);
	bytes[0] = (*pos & KIPT_WINDOW_OPCODE) | KIPT_WINDOW_FULL;
	put64(bytes + 1, *last_ip);
	kipt_window_close(window, bytes, 9);
	return pos + size;
}
