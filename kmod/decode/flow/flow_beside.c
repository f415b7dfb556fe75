// SPDX-License-Identifier: GPL-2.0-only
/*
 * Passing PADs and timing packets, see flow_beside.h. Runs where the sink may.
 */
#include "../out/emit.h"
#include "flow_beside.h"

void kipt_flow_on_time(struct kipt_flow *flow, const struct kipt_packet *packet)
{
	struct kipt_record record = {
		.type = KIPT_RECORD_CBR,
		.flags = KIPT_RF_NO_IP,
		.aux = (u32)packet->value,
	};
	bool moved = packet->type == KIPT_PACKET_CBR &&
		     packet->value != flow->clock.core.cbr;

	if (!(flow->config.output & KIPT_FLOW_TIME))
		return;
	kipt_clock_packet(&flow->clock, packet);
	if (moved)
		kipt_emit(flow, &record);
}

static const u8 *skip_pads(const u8 *pos, const u8 *upto)
{
	u64 word;

	do {
		word = kipt_load64(pos);
		pos += word ? (u32)__builtin_ctzll(word) >> 3 : 8;
	} while (!word && pos < upto);
	return pos < upto ? pos : upto;
}

/* Bytes of a CYC or MTC; 0: it is another packet, a long CYC, or one that an OVF may have cut
 * off (SKD007).
 */
static u32 short_time(const u8 *pos)
{
	if ((pos[0] & 7) == 3)
		return 1;
	if ((pos[0] & 7) == 7 && !(pos[1] & 1) && pos[1] != 0x02)
		return 2;
	return pos[0] == 0x59 ? 2 : 0;
}

const u8 *kipt_flow_pass_beside(struct kipt_flow *flow, const u8 *pos, const u8 *upto)
{
	u64 left = (u64)(flow->input.cursor.end - pos);
	struct kipt_cursor cursor;
	struct kipt_packet packet;
	u32 len;

	if (!*pos)
		return skip_pads(pos, upto);
	len = flow->config.output & KIPT_FLOW_TIME ? 0 : short_time(pos);
	if (len && len <= left)
		return pos + len;
	kipt_cursor_init(&cursor, pos, left);
	if (kipt_packet_next(&cursor, &packet) != KIPT_OK ||
	    !kipt_packet_is_time(packet.type))
		return NULL;
	kipt_flow_on_time(flow, &packet);
	return cursor.pos;
}
