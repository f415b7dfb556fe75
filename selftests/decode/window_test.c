// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where windows end depends on the packets in them alone: what a large one is
 * cut into is what its packets are cut into with no PADs, MTCs and CYCs between
 * them. If it were not so, a large window could be taken for a small one. Made
 * of random streams, with small windows of every size. User space.
 */
#include <stdlib.h>
#include <string.h>

#include "../../kmod/decode/window.h"
#include "ktap.h"

#define STREAMS		20000
#define STREAM_MOST	100
#define SMALL_MOST	8

static u32 random_below(u32 bound)
{
	static u64 state = 88172645463325252ULL;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (u32)((state >> 32) * bound >> 32);
}

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
static bool same_alone(const struct kipt_window *large, u64 last_ip,
		       const struct kipt_cut *cut)
{
	u8 packets[KIPT_WINDOW_MOST + KIPT_WINDOW_READS] = { 0 };
	struct kipt_window alone;
	bool timed;

	memcpy(packets, large->words, large->len);
	if (!large->len)
		return true;
	kipt_window_read(&alone, packets, packets + large->len, &last_ip, cut,
			 &timed);
	return windows_equal(large, &alone);
}

/* Is the stretch from @pos to @end cut as @large, which is what is in it? */
static bool same_parts(const struct kipt_window *large, const u8 *pos,
		       const u8 *end, u64 last_ip, const struct kipt_cut *cut)
{
	u8 packets[KIPT_WINDOW_MOST + KIPT_WINDOW_READS] = { 0 };
	const u8 *at = packets, *next;
	struct kipt_window part, same;
	u64 same_ip = last_ip;
	bool timed;

	memcpy(packets, large->words, large->len);
	for (; pos < end; pos = next) {
		next = kipt_window_read(&part, pos, end, &last_ip, cut, &timed);
		if (next == pos)
			return false;
		if (!part.len)
			continue;
		at = kipt_window_read(&same, at, packets + large->len, &same_ip,
				      cut, &timed);
		if (!windows_equal(&part, &same))
			return false;
	}
	return at == packets + large->len;
}

/* Returns how many windows were cut the same way; 0 if one was not. */
static u32 check_stream(u32 small_bytes, bool over_times)
{
	struct kipt_cut large = {
		.bytes = KIPT_WINDOW_BYTES, .ends = 7, .over_times = over_times,
	};
	struct kipt_cut small = {
		.bytes = small_bytes, .over_times = over_times,
	};
	u8 stream[STREAM_MOST + 16 + KIPT_WINDOW_READS] = { 0 };
	u32 most = 1 + random_below(STREAM_MOST), len = 0, windows = 0;
	const u8 *pos = stream, *next;
	struct kipt_window window;
	u64 last_ip = 0, before;
	bool timed;

	while (len < most)
		len += put_packet(stream + len);
	for (; pos < stream + len; pos = next) {
		before = last_ip;
		next = kipt_window_read(&window, pos, stream + len, &last_ip,
					&large, &timed);
		if (next == pos)
			return windows + 1;
		if (!same_alone(&window, before, &large) ||
		    !same_parts(&window, pos, next, before, &small))
			return 0;
		windows++;
	}
	return windows;
}

static bool check_streams(u32 small_bytes, bool over_times)
{
	u32 windows = 0, now, i;

	for (i = 0; i < STREAMS; i++) {
		now = check_stream(small_bytes, over_times);
		if (!now)
			return false;
		windows += now;
	}
	return windows > STREAMS;
}

/* A TNT, and a CYC that an OVF cut off: wherever the end is, the TNT is all. */
static bool check_cut_cyc(void)
{
	static const u8 stream[4 + KIPT_WINDOW_READS] = {
		0x06, 0x07, 0x02, 0xf3,
	};
	struct kipt_cut cut = { .bytes = KIPT_WINDOW_BYTES, .over_times = true };
	struct kipt_window window;
	bool timed, good = true;
	u64 last_ip = 0;
	u32 end;

	for (end = 1; end <= 4; end++)
		good &= kipt_window_read(&window, stream, stream + end,
					 &last_ip, &cut, &timed) == stream + 1;
	return good;
}

int main(void)
{
	struct ktap ktap = { 0 };
	u32 bytes;

	ktap_start();
	for (bytes = 1; bytes <= SMALL_MOST; bytes++) {
		ktap_result(&ktap, check_streams(bytes, true),
			    "windows of %u bytes over times", bytes);
		ktap_result(&ktap, check_streams(bytes, false),
			    "windows of %u bytes up to times", bytes);
	}
	ktap_result(&ktap, check_cut_cyc(), "a CYC that an OVF cut off");
	return ktap_end(&ktap);
}
