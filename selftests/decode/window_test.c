// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where windows end, and what they are found by, depends on the packets in them
 * alone: PADs, MTCs and CYCs between these change nothing. Made of random
 * streams, read with and without them. What is guessed from bytes is held against
 * what is read. User space.
 */
#include <stdlib.h>
#include <string.h>

#include "../../kmod/decode/window.h"
#include "ktap.h"
#include "random_below.h"

/* The kernel's way of guessing, beside the library's. */
#undef __SSE2__
#define kipt_window_close plain_close
#define kipt_window_guess plain_guess
#define kipt_window_starts plain_starts
#define kipt_window_ones plain_ones
void plain_close(struct kipt_window *window, const u8 *bytes, u32 len);
const u8 *plain_guess(struct kipt_window *window, const u8 *pos, const u8 *end,
		      bool over_times, u8 *mtc);
bool plain_starts(const u8 *pos, const u8 *at);
extern const u8 plain_ones[KIPT_WINDOW_WORDS * 16];
#include "../../kmod/decode/window_guess.c"
#undef kipt_window_close
#undef kipt_window_guess
#undef kipt_window_starts
#undef kipt_window_ones

#define STREAMS		20000
#define STREAM_MOST	300

static const u8 ip_headers[] = {
	0x0d | 1 << 5, 0x0d | 2 << 5, 0x0d | 3 << 5, 0x0d | 4 << 5,
	0x0d | 6 << 5, 0x11 | 1 << 5, 0x11 | 3 << 5, 0x01, 0x01 | 1 << 5,
	0x01 | 2 << 5, 0x01 | 3 << 5,
};

/* Addresses with many zeros come again. */
static u32 put_ip(u8 *to)
{
	u8 header = ip_headers[random_below(sizeof(ip_headers))];
	u32 size = kipt_window_lens[header], i;

	to[0] = header;
	for (i = 1; i < size; i++)
		to[i] = random_below(3) ? 0 : (u8)random_below(256);
	return size;
}

static u32 put_packet(u8 *to)
{
	u32 what = random_below(10);

	if (what < 5) {
		to[0] = (u8)(4 + 2 * random_below(126));
		return 1;
	}
	if (what < 7)
		return put_ip(to);
	if (what == 7) {
		to[0] = 0;
		return 1;
	}
	to[0] = what == 8 ? KIPT_WINDOW_MTC : (u8)(3 + 4 * random_below(64));
	/* No 02: an OVF behind a CYC that was cut off starts with it. */
	to[1] = (u8)(4 * random_below(64));
	return what == 8 || to[0] & 4 ? 2 : 1;
}

static bool windows_equal(const struct kipt_window *a,
			  const struct kipt_window *b)
{
	return a->len == b->len && a->hash == b->hash &&
	       !memcmp(a->words, b->words, a->len);
}

/* Is it found by what is in it, whatever stood between that or behind? */
static bool same_alone(const struct kipt_window *window, u64 last_ip)
{
	u8 packets[KIPT_WINDOW_MOST + KIPT_WINDOW_READS] = { 0 };
	struct kipt_window alone;
	bool timed;

	memcpy(packets, window->words, window->len);
	if (!window->len)
		return true;
	kipt_window_read(&alone, packets, packets + window->len, &last_ip, true,
			 &timed);
	return windows_equal(window, &alone);
}

/**
 * struct stream - packets
 * @bytes: them
 * @len: how many bytes
 */
struct stream {
	u8 bytes[STREAM_MOST + 16 + KIPT_WINDOW_READS];
	u32 len;
};

/* The same packets with PADs and time between them, and without. */
static void put_streams(struct stream *dressed, struct stream *bare)
{
	u32 most = 1 + random_below(STREAM_MOST), size;
	u8 *at;

	memset(dressed, 0, sizeof(*dressed));
	memset(bare, 0, sizeof(*bare));
	while (dressed->len < most) {
		at = dressed->bytes + dressed->len;
		size = put_packet(at);
		dressed->len += size;
		if (kipt_window_lens[*at] == KIPT_WINDOW_TIMES)
			continue;
		memcpy(bare->bytes + bare->len, at, size);
		bare->len += size;
	}
}

/* Are both cut the same way? Adds how many windows that makes. */
static bool check_same(u32 *windows)
{
	struct kipt_window window, alone;
	struct stream dressed, bare;
	u64 last_ip = 0, bare_ip = 0;
	const u8 *pos, *at;
	bool timed;

	put_streams(&dressed, &bare);
	pos = dressed.bytes;
	at = bare.bytes;
	while (at < bare.bytes + bare.len) {
		pos = kipt_window_read(&window, pos, dressed.bytes + dressed.len,
				       &last_ip, true, &timed);
		at = kipt_window_read(&alone, at, bare.bytes + bare.len,
				      &bare_ip, true, &timed);
		if (!windows_equal(&window, &alone) || last_ip != bare_ip)
			return false;
		++*windows;
	}
	return true;
}

/* Windows that end at times too. */
static bool check_up_to_times(u32 *windows)
{
	struct stream dressed, bare;
	struct kipt_window window;
	u64 last_ip = 0, before;
	const u8 *pos, *next;
	bool timed;

	put_streams(&dressed, &bare);
	for (pos = dressed.bytes; pos < dressed.bytes + dressed.len; pos = next) {
		before = last_ip;
		next = kipt_window_read(&window, pos,
					dressed.bytes + dressed.len, &last_ip,
					false, &timed);
		if (timed || !same_alone(&window, before))
			return false;
		/* A packet of time stands there. */
		next += next == pos;
		++*windows;
	}
	return true;
}

static bool check_streams(bool (*check)(u32 *windows))
{
	u32 windows = 0, i;

	for (i = 0; i < STREAMS; i++) {
		if (!check(&windows))
			return false;
	}
	return windows > STREAMS;
}

/* A TNT, and a CYC that an OVF cut off: wherever the end is, the TNT is all. */
static bool check_cut_cyc(void)
{
	static const u8 stream[4 + KIPT_WINDOW_READS] = {
		0x06, 0x07, 0x02, 0xf3,
	};
	struct kipt_window window;
	bool timed, good = true;
	u64 last_ip = 0;
	u32 end;

	for (end = 1; end <= 4; end++)
		good &= kipt_window_read(&window, stream, stream + end,
					 &last_ip, true, &timed) == stream + 1;
	return good;
}

/* No byte of an address, or of an MTC, that looks like the header of a TIP. */
static u8 quiet_byte(void)
{
	u8 byte;

	do {
		byte = random_below(3) ? (u8)random_below(128) :
		       random_below(2) ? KIPT_WINDOW_MTC : 0;
	} while ((byte & KIPT_WINDOW_SHAPE) == KIPT_WINDOW_TIP);
	return byte;
}

/* TNTs and TIPs, and with @mtcs one MTC in a hundred packets. */
static void put_quiet(struct stream *stream, bool mtcs)
{
	u32 size, i;
	u8 *to;

	memset(stream, 0, sizeof(*stream));
	while (stream->len < STREAM_MOST) {
		to = stream->bytes + stream->len;
		*to = (u8)(4 + 2 * random_below(126));
		size = 1;
		if (random_below(2)) {
			*to = ip_headers[random_below(3)];
			size = kipt_window_lens[*to];
		}
		if (mtcs && !random_below(100)) {
			*to = KIPT_WINDOW_MTC;
			size = 2;
		}
		for (i = 1; i < size; i++)
			to[i] = quiet_byte();
		stream->len += size;
	}
}

/* How many MTCs are among these packets? */
static u32 count_mtcs(const u8 *pos, const u8 *end)
{
	u32 mtcs = 0, size;

	for (; pos < end; pos += size) {
		size = kipt_window_lens[*pos];
		if (size == KIPT_WINDOW_TIMES)
			size = 2;
		mtcs += *pos == KIPT_WINDOW_MTC;
		size += !size;
	}
	return mtcs;
}

/* Is the window at @pos, which ends at @next, guessed? What is behind an MTC is
 * not if that takes it out of sight.
 */
static bool is_guessed(const struct kipt_window *window, const u8 *pos,
		       const u8 *next, const u8 *end, bool *sees)
{
	u32 mtcs = count_mtcs(pos, next);
	struct kipt_window guess;
	const u8 *guessed;
	u8 mtc;

	guessed = kipt_window_guess(&guess, pos, end, true, &mtc);
	*sees = guessed != pos;
	if (mtcs > 1 || (mtcs && window->len > KIPT_WINDOW_BYTES))
		return true;
	if (!*sees)
		return end - next < 2 * KIPT_WINDOW_BYTES;
	if (mtcs != (mtc != KIPT_WINDOW_NO_MTC) ||
	    (mtcs && (pos[mtc] != KIPT_WINDOW_MTC ||
		      !kipt_window_starts(pos, pos + mtc))))
		return false;
	return guessed == next && windows_equal(window, &guess);
}

static bool check_quiet(bool mtcs, u32 *windows)
{
	struct kipt_window window;
	struct stream stream;
	const u8 *pos, *next, *end;
	bool timed, sees;
	u64 last_ip = 0;

	put_quiet(&stream, mtcs);
	end = stream.bytes + stream.len;
	for (pos = stream.bytes; pos < end; pos = next) {
		next = kipt_window_read(&window, pos, end, &last_ip, true,
					&timed);
		if (!is_guessed(&window, pos, next, end, &sees))
			return false;
		*windows += sees;
	}
	return true;
}

static bool check_guesses(u32 *windows)
{
	return check_quiet(false, windows);
}

static bool check_guesses_over_mtcs(u32 *windows)
{
	return check_quiet(true, windows);
}

/* Whatever packets are there: a guess with the bytes of the window is the window.
 * Adds how many are.
 */
static bool check_right_guesses(u32 *windows)
{
	struct kipt_window window, guess;
	struct stream dressed, bare;
	const u8 *pos, *next, *end, *guessed;
	u64 last_ip = 0;
	bool timed;
	u8 mtc;

	put_streams(&dressed, &bare);
	end = bare.bytes + bare.len;
	for (pos = bare.bytes; pos < end; pos = next) {
		next = kipt_window_read(&window, pos, end, &last_ip, false,
					&timed);
		guessed = kipt_window_guess(&guess, pos, end, false, &mtc);
		if (guessed == pos || !windows_equal(&window, &guess))
			continue;
		if (guessed != next || mtc != KIPT_WINDOW_NO_MTC)
			return false;
		++*windows;
	}
	return true;
}

/* Any bytes: with SSE2 and without it is the same. */
static bool check_plain(u32 *windows)
{
	u8 bytes[256], mtc, plain_mtc;
	struct kipt_window window, plain;
	const u8 *end = bytes + sizeof(bytes) - KIPT_WINDOW_READS;
	const u8 *next, *plain_next;
	u32 i, most = random_below(2) ? 256 : 128;
	bool over_times = random_below(2);

	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = random_below(8) ? (u8)random_below(most) :
					     KIPT_WINDOW_MTC;
	next = kipt_window_guess(&window, bytes, end, over_times, &mtc);
	plain_next = plain_guess(&plain, bytes, end, over_times, &plain_mtc);
	*windows += 2;
	if (next != plain_next || mtc != plain_mtc)
		return false;
	return next == bytes || windows_equal(&window, &plain);
}

/* Where packets start, one by one. */
static bool check_starts(u32 *windows)
{
	struct stream dressed, bare;
	const u8 *pos, *at, *end;
	u32 size;

	put_streams(&dressed, &bare);
	end = bare.bytes + bare.len;
	pos = bare.bytes;
	for (at = bare.bytes; at < end; at++) {
		if (at == pos) {
			size = kipt_window_lens[*pos];
			pos += size ? size : 1;
			if (!kipt_window_starts(bare.bytes, at))
				return false;
			++*windows;
		} else if (kipt_window_starts(bare.bytes, at)) {
			return false;
		}
	}
	return true;
}

int main(void)
{
	struct ktap ktap = { 0 };

	ktap_start();
	ktap_result(&ktap, check_streams(check_same), "windows over times");
	ktap_result(&ktap, check_streams(check_up_to_times),
		    "windows up to times");
	ktap_result(&ktap, check_cut_cyc(), "a CYC that an OVF cut off");
	ktap_result(&ktap, check_streams(check_guesses), "guesses");
	ktap_result(&ktap, check_streams(check_guesses_over_mtcs),
		    "guesses over an MTC");
	ktap_result(&ktap, check_streams(check_right_guesses),
		    "guesses of all packets");
	ktap_result(&ktap, check_streams(check_plain), "guesses without SSE2");
	ktap_result(&ktap, check_streams(check_starts), "where packets start");
	return ktap_end(&ktap);
}
