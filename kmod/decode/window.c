// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading windows, see window.h. Any context.
 */
#include "window.h"

/**
 * struct ip_form - an IP payload by its IPBytes
 * @take: bits of the payload
 * @sign: the uppermost of them, where it is extended
 * @keep: bits of the IP before
 */
struct ip_form {
	u64 take;
	u64 sign;
	u64 keep;
};

static const struct ip_form ip_forms[8] = {
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

/* Hashes multiply by odd constants without pattern. */
#define MIX_A	0x9e3779b97f4a7c15ULL
#define MIX_B	0xc2b2ae3d27d4eb4fULL
#define MIX_C	0xd6e8feb86659fd93ULL

/* The hash of what came before and a word more. From registers: what was just
 * written would have to be waited for.
 */
static inline u64 mixed(u64 hash, u64 word)
{
	hash ^= word;
	return (hash << 29 | hash >> 35) * MIX_B;
}

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

static u64 read_ip(const u8 *pos, u64 last_ip)
{
	const struct ip_form *form = &ip_forms[*pos >> 5];
	u64 payload = (kipt_load64(pos + 1) & form->take) ^ form->sign;

	return (payload - form->sign) | (last_ip & form->keep);
}

/* The TIPs that come most by branches, the others by tables: what comes again
 * is predicted, and where the next packet is does not wait for this one.
 * Returns the packet's bytes, or what kipt_window_lens has for another.
 */
static inline u32 read_tip(const u8 *pos, u64 *last_ip)
{
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
		if (size - 1 < 9)
			*last_ip = read_ip(pos, *last_ip);
		return size;
	}
}

/* Behind PADs, or an MTC or CYC. */
static const u8 *pass(const u8 *pos, const u8 *end, bool over_times,
		      bool *timed)
{
	struct kipt_cursor cursor;
	struct kipt_packet packet;

	if (!*pos) {
		while (pos < end && !*pos)
			pos++;
		return pos;
	}
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

static void finish(struct kipt_window *window, u32 len, u64 hash)
{
	put64((u8 *)window->words + len, 0);
	window->len = len;
	window->hash = (u32)((hash ^ hash >> 29) * MIX_C >> 32);
}

/* Puts an IP packet of @size bytes at @to. Returns how many bytes it has there:
 * all addresses but those of the first have the form they have in the trace.
 */
static inline u32 put_ip(u8 *to, const u8 *pos, u32 size, u64 ip, bool first)
{
	if (first && size > 1) {
		*to = (*pos & KIPT_WINDOW_OPCODE) | KIPT_WINDOW_FULL;
		put64(to + 1, ip);
		return 9;
	}
	put64(to, kipt_load64(pos));
	to[8] = pos[8];
	return size;
}

static inline u64 first_bytes(u64 word, u32 n)
{
	return n < 8 ? word & ((1ULL << n * 8) - 1) : word;
}

/* Behind a run, see read_tip(). */
static inline const u8 *behind_run(const u8 *pos, u32 run)
{
	if (!run)
		return pos;
	return likely(run == 1) ? pos + 1 : pos + run;
}

/* The hash of what is in the window, as if nothing had stood between. */
static u32 hash_again(const struct kipt_window *window, u32 len, u64 last_ip,
		      const struct kipt_cut *cut)
{
	u8 bytes[sizeof(window->words) + KIPT_WINDOW_READS] = { 0 };
	struct kipt_window again;
	bool timed;

	memcpy(bytes, window->words, len);
	kipt_window_read(&again, bytes, bytes + len, &last_ip, cut, &timed);
	return again.hash;
}

const u8 *kipt_window_read(struct kipt_window *window, const u8 *pos,
			   const u8 *end, u64 *last_ip,
			   const struct kipt_cut *cut, bool *timed)
{
	u64 ip = *last_ip, before, word, tnts, spread, hash = 0;
	u8 *bytes = (u8 *)window->words;
	u32 len = 0, run, room, size;
	bool first = true, passed = false;
	const u8 *next;

	*timed = false;
	while (pos < end && len < cut->bytes) {
		word = kipt_load64(pos);
		put64(bytes + len, word);
		run = tnt_run(word);
		room = cut->bytes - len;
		if (unlikely(room > (u64)(end - pos)))
			room = (u32)(end - pos);
		if (run >= room || run == 8) {
			run = run < room ? run : room;
			hash = mixed(hash, first_bytes(word, run));
			len += run;
			pos += run;
			continue;
		}
		tnts = first_bytes(word, run);
		len += run;
		pos = behind_run(pos, run);
		before = ip;
		size = read_tip(pos, &ip);
		if (likely(size - 1 < 9)) {
			if (unlikely((u64)(end - pos) < size)) {
				if (run)
					hash = mixed(hash, tnts);
				ip = before;
				break;
			}
			/* It ends where the place it goes on from can be
			 * another address space's too, and at some addresses.
			 */
			spread = ip * MIX_A;
			hash = mixed(hash, tnts ^ spread);
			len += put_ip(bytes + len, pos, size, ip, first);
			first &= size == 1;
			pos += size;
			if (!((u32)(spread >> 32) & cut->ends) ||
			    (ip ^ before) >> 63)
				break;
		} else {
			if (run)
				hash = mixed(hash, tnts);
			next = size ? pass(pos, end, cut->over_times, timed) :
				      pos;
			if (next == pos)
				break;
			pos = next;
			passed = true;
		}
	}
	finish(window, len, hash);
	if (unlikely(passed && len))
		window->hash = hash_again(window, len, *last_ip, cut);
	*last_ip = ip;
	return pos;
}

const u8 *kipt_window_packet(struct kipt_window *window, const u8 *pos,
			     u64 *last_ip)
{
	struct kipt_cut cut = { .bytes = 1 };
	u32 size = kipt_window_lens[*pos];
	const u8 *end = pos + (size ? size : 1);
	bool timed;

	return kipt_window_read(window, pos, end, last_ip, &cut, &timed);
}
