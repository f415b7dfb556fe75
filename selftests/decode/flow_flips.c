// SPDX-License-Identifier: GPL-2.0-only
/*
 * A flow test with each of its bits flipped, see flow_flips.h. The bits of a packet
 * that mean nothing are listed here; any other that is not noticed has a line in the
 * test's file, with the rule that explains it. User space.
 */
#include <stdio.h>

#include "../../kmod/decode/packet/packet.h"
#include "../../kmod/decode/packet/sync.h"
#include "flow_flips.h"

static char sentence[160];

/**
 * struct meaningless - bits of a packet that say nothing to a flow
 * @type: enum kipt_packet_type
 * @timed: they do if there are TIME records
 * @masks: of its bytes
 */
struct meaningless {
	u8 type;
	bool timed;
	u8 masks[KIPT_PACKET_MAX_LEN];
};

#define R	0xff

/* Reserved bits, and the payloads of timing packets (Intel SDM Vol. 3C, "Trace
 * Packets and Data Types"). Reserved bits of a TMA are not among them: they give
 * away a garbled one (SKZ84).
 */
static const struct meaningless meaningless[] = {
	{ KIPT_PACKET_MODE_EXEC, false, { 0, 0x18 } },
	{ KIPT_PACKET_MODE_TSX, false, { 0, 0x1c } },
	{ KIPT_PACKET_CBR, false, { 0, 0, 0, R } },
	{ KIPT_PACKET_MNT, false, { 0, 0, 0, R, R, R, R, R, R, R, R } },
	{ KIPT_PACKET_MWAIT, false, { 0, 0, 0, R, R, R, 0xfc, R, R, R } },
	{ KIPT_PACKET_PWRE, false, { 0, 0, 0x7f } },
	{ KIPT_PACKET_PWRX, false, { 0, 0, 0, 0xf0, R, R, R } },
	{ KIPT_PACKET_BBP, false, { 0, 0, 0x60 } },
	{ KIPT_PACKET_CFE, false, { 0, 0, 0x60 } },
	{ KIPT_PACKET_EVD, false, { 0, 0, 0xc0 } },
	{ KIPT_PACKET_TRIG, false, { 0, 0x1f } },
	{ KIPT_PACKET_CBR, true, { 0, 0, R } },
	{ KIPT_PACKET_TSC, true, { 0, R, R, R, R, R, R, R } },
	{ KIPT_PACKET_MTC, true, { 0, R } },
	{ KIPT_PACKET_TMA, true, { 0, 0, R, R, 0, R, 0x01 } },
};

/* All bytes of a CYC but the first have their Exp bit lowest. */
static u8 mask_of_cyc(u32 at)
{
	return at ? 0xfe : 0xf8;
}

static u8 mask_of(const struct flow_case *test,
		  const struct kipt_packet *packet, u32 at)
{
	bool timed = test->config.output & KIPT_FLOW_TIME;
	u8 mask = 0;
	u32 i;

	if (packet->type == KIPT_PACKET_CYC && !timed)
		return mask_of_cyc(at);
	for (i = 0; i < sizeof(meaningless) / sizeof(meaningless[0]); i++) {
		if (packet->type == meaningless[i].type &&
		    !(timed && meaningless[i].timed))
			mask |= meaningless[i].masks[at];
	}
	return mask;
}

/* The bits of each byte that mean nothing: all before the first PSB, and those
 * of the packets from there on.
 */
static void find_meaningless(const struct flow_case *test, u8 *masks)
{
	u64 at = kipt_sync_next(test->packets, test->size, 0), next;
	struct kipt_cursor cursor;
	struct kipt_packet packet;
	u32 i;

	memset(masks, 0xff, at);
	memset(masks + at, 0, test->size - at);
	for (; at < test->size; at = next) {
		next = kipt_sync_next(test->packets, test->size, at + 16);
		kipt_cursor_init(&cursor, test->packets + at, next - at);
		while (kipt_packet_next(&cursor, &packet) == KIPT_OK) {
			for (i = 0; i < packet.len; i++)
				masks[at + i] = mask_of(test, &packet, i);
			at += packet.len;
		}
	}
}

static bool is_seen(struct flow_case *test, const struct record_list *whole,
		    u64 at, u32 bit)
{
	struct record_list flipped = { 0 };
	bool seen;

	test->packets[at] ^= (u8)(1 << bit);
	flow_case_decode(test, test->config.output, test->size, 0, test->size,
			 &flipped);
	test->packets[at] ^= (u8)(1 << bit);
	seen = !record_list_same(&flipped, whole);
	record_list_free(&flipped);
	return seen;
}

const char *flow_flips(struct flow_case *test, const struct record_list *whole)
{
	static u8 masks[PACKETS_MAX];
	bool quiet, seen;
	u64 at;
	u32 bit;

	find_meaningless(test, masks);
	for (at = 0; at < test->size; at++) {
		for (bit = 0; bit < 8; bit++) {
			quiet = (masks[at] | test->unseen[at]) >> bit & 1;
			seen = is_seen(test, whole, at, bit);
			if (seen == !quiet)
				continue;
			snprintf(sentence, sizeof(sentence),
				 "bit %u of byte %llu changes %s", bit,
				 (unsigned long long)at,
				 seen ? "records and should not" : "nothing");
			return sentence;
		}
	}
	return NULL;
}
