// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where windows end, and what they are found by, depends on the packets in them
 * alone: PADs, MTCs and CYCs between these change nothing. Made of random
 * streams, read with and without them. User space.
 */
#include <stdlib.h>
#include <string.h>

#include "../../kmod/decode/window.h"
#include "ktap.h"
#include "random_below.h"

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

int main(void)
{
	struct ktap ktap = { 0 };

	ktap_start();
	ktap_result(&ktap, check_streams(check_same), "windows over times");
	ktap_result(&ktap, check_streams(check_up_to_times),
		    "windows up to times");
	ktap_result(&ktap, check_cut_cyc(), "a CYC that an OVF cut off");
	return ktap_end(&ktap);
}
