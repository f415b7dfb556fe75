// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packets that others follow against the same with nothing after them, and the PSB search
 * with SIMD against the one without: on streams made of every kind of packet and on
 * noise. Input ends at a page that cannot be read. User space.
 *
 * Usage: read_test
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "../../kmod/decode/packet/packet.h"
#include "ktap.h"
#include "random_below.h"
#include "sync_plain.h"

#define ROOM		(1 << 16)
#define STREAMS		400

/* One of each form, after its length. */
static const char *const forms[] = {
	"\1\x00", "\1\x04", "\1\x06", "\1\x14", "\1\xcc", "\1\xfe", "\1\x80",
	"\1\x03", "\1\x0b", "\1\xfb", "\1\x0d", "\1\x01", "\1\x1d", "\1\x11",
	"\2\x07\x00", "\2\x07\x02", "\2\xff\xfe", "\3\x17\x01\x04",
	"\3\x07\x02\xf3", "\4\x07\x01\x01\x02", "\6\x0f\x03\x05\x07\x09\x0a",
	"\3\x2d\x34\x12", "\5\x4d\x00\x10\x40\x00",
	"\7\x6d\xdd\xcc\xbb\xaa\x00\x7f", "\7\x8d\xdd\xcc\xbb\xaa\x00\x7f",
	"\11\xcd\x01\x02\x03\x04\x05\x06\x07\x08", "\3\x31\x02\x82",
	"\7\x71\x00\x00\x00\x81\xff\xff", "\3\x21\x00\x00", "\3\x3d\xbc\x0a",
	"\11\xdd\x02\x82\x02\x82\x02\x82\x02\x82", "\2\x59\x7a",
	"\10\x19\xcd\xab\x89\x67\x45\x23\x01", "\2\x99\x01", "\2\x99\x22",
	"\2\x02\x23", "\2\x02\x83", "\2\x02\xf3", "\2\x02\x62", "\2\x02\xe2",
	"\4\x02\x03\x24\x00", "\10\x02\xa3\xcd\x00\x00\x00\x00\x00",
	"\10\x02\x43\x01\x55\xb4\x1a\x00\x00",
	"\7\x02\x73\xef\xbe\x00\x55\x01", "\10\x02\x73\xef\xbe\x01\x55\x01\x00",
	"\7\x02\xc8\xde\xbc\x1a\x00\x00", "\6\x02\x12\xef\xbe\xad\xde",
	"\12\x02\xb2\xef\xcd\xab\x89\x67\x45\x23\x01",
	"\12\x02\xc2\x60\x00\x00\x00\x01\x00\x00\x00", "\4\x02\x22\x80\x50",
	"\7\x02\xa2\x25\x01\x00\x00\x00", "\4\x02\x13\x01\x0e",
	"\13\x02\x53\x03\x01\x02\x03\x04\x05\x06\x07\x08",
	"\13\x02\xc3\x88\x01\x02\x03\x04\x05\x06\x07\x08", "\3\xd9\x80\x01",
	"\5\xd9\x40\x01\x02\x03", "\3\x02\x63\x81", "\3\x02\x63\x01",
	"\5\x14\x01\x02\x03\x04", "\11\x0c\x01\x02\x03\x04\x05\x06\x07\x08",
	"\2\x02\x33", "\2\x02\xb3",
	"\20\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82",
};

#define FORMS	(sizeof(forms) / sizeof(forms[0]))

/* ROOM bytes; what comes after them cannot be read. */
static u8 *guarded_room(void)
{
	u8 *room = mmap(NULL, ROOM + 4096, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (room == MAP_FAILED || mprotect(room + ROOM, 4096, PROT_NONE)) {
		perror("read_test: no guarded memory");
		exit(2);
	}
	return room;
}

static u32 form_put(u8 *to, u32 left, u32 form)
{
	u32 len = (u8)forms[form][0];

	if (len > left)
		len = left;
	memcpy(to, forms[form] + 1, len);
	return len;
}

/* Fills @size bytes in one of four ways; a packet may be cut by the end. */
static void stream_make(u8 *bytes, u32 size, u32 way)
{
	u32 at = 0;

	while (at < size) {
		if (way == 0)
			bytes[at++] = (u8)random_below(256);
		else if (way == 1)
			at += form_put(bytes + at, size - at,
				       random_below(FORMS));
		else if (way == 2)
			at += form_put(bytes + at, size - at,
				       random_below(8) ? random_below(10) :
				       random_below(FORMS));
		else
			at += form_put(bytes + at, size - at,
				       random_below(30) ? 14 + random_below(18) :
				       random_below(FORMS));
	}
}

static bool same_packet(const struct kipt_packet *a,
			const struct kipt_packet *b)
{
	return a->type == b->type && a->len == b->len && a->size == b->size &&
	       a->flags == b->flags && a->aux == b->aux &&
	       a->value == b->value;
}

/* The last packet of @followed, alone at the end of what may be read: short input does not
 * go through the table.
 */
static bool same_alone(u8 *room, struct kipt_cursor followed, const struct kipt_packet *packet)
{
	struct kipt_cursor cut = followed;
	struct kipt_packet got;
	u32 n;

	followed.pos -= packet->len;
	/* Nor is more read than there is. */
	for (n = 1; !(packet->flags & KIPT_PF_BROKEN) && n < packet->len; n++) {
		memcpy(room + ROOM - n, followed.pos, n);
		cut.pos = room + ROOM - n;
		cut.end = room + ROOM;
		if (kipt_packet_next(&cut, &got) != KIPT_TRUNCATED)
			return false;
	}
	memcpy(room + ROOM - packet->len, followed.pos, packet->len);
	followed.pos = room + ROOM - packet->len;
	followed.end = room + ROOM;
	return kipt_packet_next(&followed, &got) == KIPT_OK && same_packet(packet, &got);
}

/* After what is no packet it goes on one byte further. A CYC that an OVF cut off is one
 * only with the OVF after it.
 */
static bool same_stream(u8 *room, const u8 *bytes, u64 size)
{
	struct kipt_cursor cursor, block;
	struct kipt_packet packet;
	enum kipt_status status;

	kipt_cursor_init(&cursor, bytes, size);
	for (;;) {
		block = cursor;
		status = kipt_packet_next(&cursor, &packet);
		if (status == KIPT_END || status == KIPT_TRUNCATED)
			return true;
		if (status != KIPT_OK) {
			cursor.pos++;
			cursor.block = 0;
			continue;
		}
		block.pos = cursor.pos;
		if (!(packet.type == KIPT_PACKET_CYC && packet.flags) &&
		    !same_alone(room, block, &packet)) {
			printf("# %s at byte %llu of %llu\n", kipt_packet_name(packet.type),
			       (unsigned long long)(cursor.pos - bytes - packet.len),
			       (unsigned long long)size);
			return false;
		}
	}
}

static bool check_streams(u8 *room, u32 way)
{
	u8 bytes[3000];
	u32 i, size;

	for (i = 0; i < STREAMS; i++) {
		size = random_below(sizeof(bytes));
		stream_make(bytes, size, way);
		if (!same_stream(room, bytes, size))
			return false;
	}
	return true;
}

/* A form is the same packet with nothing after it as with more packets:
 * short input does not go through the table.
 */
static bool check_forms(u8 *room)
{
	struct kipt_cursor alone, followed;
	struct kipt_packet a, b;
	u8 bytes[64];
	u32 form, len;

	for (form = 0; form < FORMS; form++) {
		memset(bytes, 0, sizeof(bytes));
		len = form_put(bytes, sizeof(bytes), form);
		memcpy(room + ROOM - len, bytes, len);
		kipt_cursor_init(&alone, room + ROOM - len, len);
		kipt_cursor_init(&followed, bytes, sizeof(bytes));
		if (kipt_packet_next(&alone, &a) != KIPT_OK ||
		    kipt_packet_next(&followed, &b) != KIPT_OK ||
		    !same_packet(&a, &b)) {
			printf("# form %u\n", form);
			return false;
		}
	}
	return true;
}

static bool same_search(const u8 *bytes, u64 size)
{
	u64 from, found;

	for (from = 0; from <= size; from++) {
		found = kipt_sync_next(bytes, size, from);
		if (found == kipt_sync_next_plain(bytes, size, from))
			continue;
		printf("# from %llu of %llu: %llu\n", (unsigned long long)from,
		       (unsigned long long)size, (unsigned long long)found);
		return false;
	}
	return true;
}

/* Runs of pairs, too short, long enough and longer, in what may look alike. */
static void pairs_make(u8 *bytes, u32 size)
{
	u32 at = 0, run;

	while (at < size) {
		for (run = random_below(40); run && at < size; run--, at++)
			bytes[at] = run & 1 ? 0x82 : 0x02;
		for (run = random_below(100); run && at < size; run--, at++)
			bytes[at] = random_below(3) ? 0x55 :
				    random_below(2) ? 0x02 : 0x82;
	}
}

static bool check_search(u8 *room)
{
	u32 i, size;

	for (i = 0; i < STREAMS; i++) {
		size = random_below(500);
		pairs_make(room + ROOM - size, size);
		if (!same_search(room + ROOM - size, size))
			return false;
	}
	return true;
}

/* One PSB at each offset, nothing else: both must find it. */
static bool check_search_offsets(u8 *room)
{
	const u32 size = 400;
	u8 *bytes = room + ROOM - size;
	u32 at, from;

	for (at = 0; at + 16 <= size; at++) {
		memset(bytes, 0x55, size);
		memcpy(bytes + at, forms[FORMS - 1] + 1, 16);
		for (from = 0; from <= at; from += 1 + at / 8) {
			if (kipt_sync_next(bytes, size, from) != at ||
			    kipt_sync_next_plain(bytes, size, from) != at)
				return false;
		}
		if (kipt_sync_next(bytes, size, at + 1) != size)
			return false;
	}
	return true;
}

/* Each type has a name of its own. */
static bool check_names(void)
{
	u32 type, other;

	for (type = 1; type <= KIPT_PACKET_MAX; type++) {
		if (!strcmp(kipt_packet_name(type), "unknown"))
			return false;
		for (other = 1; other < type; other++) {
			if (!strcmp(kipt_packet_name(type),
				    kipt_packet_name(other)))
				return false;
		}
	}
	return !strcmp(kipt_packet_name(0), "unknown") &&
	       !strcmp(kipt_packet_name(KIPT_PACKET_MAX + 1), "unknown");
}

int main(void)
{
	static const char *const ways[] = {
		"noise", "every form", "short packets", "times and addresses"
	};
	struct ktap ktap = { 0 };
	u8 *room = guarded_room();
	u32 way;

	ktap_start();
	ktap_result(&ktap, check_names(), "packet names");
	ktap_result(&ktap, check_forms(room), "packet forms alone and followed");
	for (way = 0; way < 4; way++)
		ktap_result(&ktap, check_streams(room, way),
			    "packets alone and followed, %s", ways[way]);
	ktap_result(&ktap, check_search(room), "psb search with and without simd");
	ktap_result(&ktap, check_search_offsets(room),
		    "psb search, one psb at every offset");
	return ktap_end(&ktap);
}
