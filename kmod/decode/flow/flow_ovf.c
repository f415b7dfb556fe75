// SPDX-License-Identifier: GPL-2.0-only
/*
 * Overflow: what is forgotten, and how its errata are distinguished from healthy
 * streams by looking at the packets around it. Runs where the sink may.
 */
#include "../out/emit.h"
#include "flow_branch.h"
#include "flow_ovf.h"
#include "flow_walk.h"
#include "../packet/sync.h"

/* How far to look for the signs of an erratum. */
#define LOOK_AHEAD	65536
#define LOOK_BEHIND	64
#define LOOK_BACK	65536

void kipt_flow_on_ovf(struct kipt_flow *flow)
{
	const struct kipt_psb *psb = &flow->input.psb;

	kipt_emit_gap(flow, KIPT_GAP_OVERFLOW, KIPT_OK, flow->input.offset);
	flow->state.tracing = KIPT_TRACING_OVERFLOW;
	/* PSB+ has the mode if tracing is on; else it is said before the TIP.PGE that may be lost. */
	flow->state.mode_lost |= !flow->state.mode_known && !(psb->complete && psb->has_ip);
	flow->pending.event = false;
	flow->pending.abort = false;
	flow->state.tsx = false;
	flow->walk.tnt.count = 0;
	flow->pending.held_count = 0;
	flow->pending.claim = KIPT_CLAIM_NONE;
	flow->pending.share = false;
	flow->state.power_known = false;
	flow->at.insns = 0;
	kipt_walk_forget(flow);
	kipt_clock_lost(&flow->clock);
	kipt_flow_settle(flow);
}

/* The next PSB+ says that tracing is off. */
static bool psb_is_off(const struct kipt_flow *flow)
{
	struct kipt_psb psb;

	if (flow->input.run.next == flow->input.size)
		return false;
	kipt_psb_read(&psb, flow->input.data, flow->input.run.next, flow->input.run.after, NULL);
	return psb.complete && psb.status == KIPT_OK && !psb.has_ip;
}

/* A FUP after an OVF is believed if one of these is next: they come only while tracing is on. What
 * another OVF hid cannot speak against it.
 */
#define TRACING		(KIPT_PACKET_SET(TNT) | KIPT_PACKET_SET(TIP) | \
			 KIPT_PACKET_SET(TIP_PGD) | KIPT_PACKET_SET(OVF))
/* It is stray if one of these is: tracing was off. */
#define NOT_TRACING	(KIPT_PACKET_SET(TIP_PGE) | KIPT_PACKET_SET(TRACESTOP))

bool kipt_flow_fup_is_stray(const struct kipt_flow *flow)
{
	struct kipt_cursor cursor = flow->input.cursor;
	struct kipt_packet packet;
	enum kipt_status status;
	u32 i;

	for (i = 0; i < LOOK_AHEAD; i++) {
		status = kipt_packet_next(&cursor, &packet);
		if (status == KIPT_END)
			return psb_is_off(flow);
		if (status != KIPT_OK)
			return false;
		if (KIPT_PACKET_SET_HAS(packet.type, TRACING))
			return false;
		if (KIPT_PACKET_SET_HAS(packet.type, NOT_TRACING))
			return true;
	}
	return false;
}

/* Only timing packets from @from up to exactly @to? */
static bool only_time(const u8 *data, u64 from, u64 to)
{
	struct kipt_cursor cursor;
	struct kipt_packet packet;

	kipt_cursor_init(&cursor, data + from, to - from);
	while (kipt_cursor_left(&cursor)) {
		if (kipt_packet_next(&cursor, &packet) != KIPT_OK ||
		    !kipt_packet_is_time(packet.type))
			return false;
	}
	return true;
}

bool kipt_flow_ovf_near(const u8 *data, u64 offset)
{
	u64 back;

	for (back = 2; back <= LOOK_BEHIND && back <= offset; back++) {
		if (data[offset - back] == 0x02 &&
		    data[offset - back + 1] == 0xf3 &&
		    only_time(data, offset - back + 2, offset))
			return true;
	}
	return false;
}

/* Only from a PSB on is it known where packets begin. Where that is not to be had, what looks like
 * an OVF is believed, though it may be the end of a packet and another one.
 */
bool kipt_flow_ovf_before(const u8 *data, u64 offset)
{
	u64 from = kipt_sync_before(data, offset, LOOK_BACK);
	u8 last = KIPT_PACKET_PSBEND;
	struct kipt_cursor cursor;
	struct kipt_packet packet;

	kipt_cursor_init(&cursor, data + from, offset - from);
	while (kipt_cursor_left(&cursor)) {
		if (kipt_packet_next(&cursor, &packet) != KIPT_OK)
			return kipt_flow_ovf_near(data, offset);
		if (!kipt_packet_is_time(packet.type))
			last = packet.type;
	}
	return from == offset ? kipt_flow_ovf_near(data, offset) : last == KIPT_PACKET_OVF;
}
