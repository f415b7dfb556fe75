// SPDX-License-Identifier: GPL-2.0-only
/*
 * PSB+: a status report that decoding can start from, and the end of the
 * segment before it. All that a segment needs is in its own PSB+, so segments
 * decode alone (Intel SDM Vol. 3C, "Packet Stream Boundary (PSB) Packet").
 * Runs where the callbacks may.
 */
#include "flow_state.h"

/* TSC stands among the first packets of a PSB+. */
#define LIMIT_PACKETS	32

/* BDM70: before a TIP.PGE a PSB+ may hold a FUP though tracing is off. Only
 * packets that need no tracing stand between such a FUP and the TIP.PGE.
 */
static bool pge_follows(const struct kipt_cursor *from)
{
	struct kipt_cursor cursor = *from;
	struct kipt_packet packet;

	while (kipt_packet_next(&cursor, &packet) == KIPT_OK) {
		switch (packet.type) {
		case KIPT_PACKET_TIP_PGE:
			return true;
		case KIPT_PACKET_PSBEND:
		case KIPT_PACKET_PIP:
		case KIPT_PACKET_MODE_EXEC:
		case KIPT_PACKET_MODE_TSX:
		case KIPT_PACKET_VMCS:
			break;
		default:
			if (!kipt_packet_is_time(packet.type))
				return false;
		}
	}
	return false;
}

static void read_fup(struct kipt_psb *psb, const struct kipt_packet *packet,
		     const struct kipt_cursor *behind)
{
	if (packet->size == KIPT_IPBYTES_NONE)
		return;
	psb->last_ip = kipt_last_ip_apply(psb->last_ip, packet);
	psb->ip = psb->last_ip;
	psb->has_ip = !pge_follows(behind);
}

/* Returns false at the packet that ends the PSB+. */
static bool read_one(struct kipt_psb *psb, const struct kipt_packet *packet,
		     const struct kipt_cursor *behind)
{
	switch (packet->type) {
	case KIPT_PACKET_PSBEND:
		psb->complete = true;
		return false;
	case KIPT_PACKET_OVF:
		psb->overflow = true;
		return false;
	case KIPT_PACKET_FUP:
		read_fup(psb, packet, behind);
		return true;
	case KIPT_PACKET_PIP:
		psb->has_pip = true;
		psb->pip = *packet;
		return true;
	case KIPT_PACKET_MODE_EXEC:
		psb->has_mode = true;
		psb->mode = (u8)packet->value;
		return true;
	case KIPT_PACKET_MODE_TSX:
		psb->has_tsx = true;
		psb->tsx = (u8)packet->value;
		return true;
	case KIPT_PACKET_VMCS:
		psb->has_vmcs = true;
		psb->vmcs = packet->value;
		return true;
	default:
		if (!kipt_packet_is_time(packet->type))
			psb->status = KIPT_BAD_CONTEXT;
		return psb->status == KIPT_OK;
	}
}

/* PADs are most of the packets of some PSB+. */
static void pass_pads(struct kipt_cursor *cursor)
{
	while (kipt_cursor_left(cursor) && !*cursor->pos)
		cursor->pos++;
}

/* Reads flow->psb, up to @end, the next PSB or the trace's end; @clock may be NULL.
 */
static void read_psb(struct kipt_flow *flow, u64 offset, u64 end,
		     struct kipt_clock *clock)
{
	struct kipt_psb *psb = &flow->psb;
	const u8 *data = flow->data;
	struct kipt_cursor cursor;
	struct kipt_packet packet;
	const u8 *at;
	bool more = true;

	memset(psb, 0, sizeof(*psb));
	psb->offset = offset;
	kipt_cursor_init(&cursor, data + offset, end - offset);
	psb->status = kipt_packet_next(&cursor, &packet);
	at = cursor.pos;
	while (more && psb->status == KIPT_OK) {
		pass_pads(&cursor);
		at = cursor.pos;
		psb->status = kipt_packet_next(&cursor, &packet);
		if (psb->status != KIPT_OK)
			break;
		if (clock)
			kipt_clock_packet(clock, &packet);
		more = read_one(psb, &packet, &cursor);
	}
	psb->bad = (u64)(at - data);
	psb->end = (u64)((psb->overflow ? at : cursor.pos) - data);
	if (psb->status == KIPT_OK && psb->has_ip &&
	    !kipt_ip_is_canonical(psb->ip)) {
		psb->status = KIPT_BAD_IP;
		psb->has_ip = false;
	}
}

static void emit_sync(struct kipt_flow *flow, u8 kind, u64 offset)
{
	struct kipt_record record = {
		.type = KIPT_RECORD_SYNC,
		.kind = kind,
		.value = offset,
	};

	if (flow->enabled)
		record.ip = flow->at.ip;
	else
		record.flags = KIPT_RF_NO_IP;
	record.aux = kipt_emit_count(flow);
	kipt_emit(flow, &record);
}

/* Everything that belongs to one segment; the cache and the buffer stay. */
static void reset(struct kipt_flow *flow)
{
	memset(&flow->at, 0, sizeof(flow->at));
	flow->at.mode = KIPT_EXEC_64;
	flow->enabled = false;
	flow->lost = KIPT_LOST_NOT;
	flow->overflow = false;
	flow->echo = false;
	flow->event = false;
	flow->abort = false;
	flow->deferred = false;
	flow->tsx = false;
	flow->mode_known = false;
	flow->mode_if = false;
	flow->mode_pending = false;
	flow->claim = KIPT_CLAIM_NONE;
	flow->share = false;
	flow->held_count = 0;
	flow->power_known = false;
	flow->block_type = 0;
	flow->tnt.count = 0;
	flow->last_ip = 0;
	flow->version = 0;
	flow->previous = KIPT_PACKET_PSBEND;
	kipt_walk_forget(flow);
	kipt_clock_reset(&flow->clock);
}

static void restate_tsx(struct kipt_flow *flow, u8 value)
{
	struct kipt_record record = {
		.type = KIPT_RECORD_TSX,
		.kind = KIPT_TSX_BEGIN,
		.flags = flow->enabled ? 0 : KIPT_RF_NO_IP,
		.ip = flow->enabled ? flow->at.ip : 0,
	};

	flow->tsx = value & KIPT_MODE_TSX_INTX;
	if (flow->tsx)
		kipt_emit(flow, &record);
}

/* Time comes behind SYNC, though it was read before. */
static void restate_clock(struct kipt_flow *flow)
{
	struct kipt_record record = {
		.type = KIPT_RECORD_CBR,
		.flags = KIPT_RF_NO_IP,
		.aux = flow->clock.cbr,
	};

	flow->clock.moved = flow->clock.valid;
	if (flow->clock.cbr && flow->config.output & KIPT_FLOW_TIME)
		kipt_emit(flow, &record);
}

static void restate(struct kipt_flow *flow, const struct kipt_psb *psb)
{
	struct kipt_record vmcs = {
		.type = KIPT_RECORD_VMCS,
		.flags = KIPT_RF_NO_IP,
		.value = psb->vmcs,
	};

	emit_sync(flow, KIPT_SYNC_START, psb->offset);
	if (psb->has_pip)
		kipt_flow_set_cr3(flow, psb->pip.value,
				  psb->pip.flags & KIPT_PF_NR);
	if (psb->has_mode)
		kipt_flow_set_mode(flow, psb->mode, true);
	if (psb->has_tsx)
		restate_tsx(flow, psb->tsx);
	if (psb->has_vmcs)
		kipt_emit(flow, &vmcs);
	restate_clock(flow);
}

/* The TSC in the next PSB+: no estimate before it may be beyond. */
static void limit_clock(struct kipt_flow *flow, u64 next)
{
	struct kipt_cursor cursor;
	struct kipt_packet packet = { 0 };
	u32 i;

	if (!(flow->config.output & KIPT_FLOW_TIME) || next == flow->size)
		return;
	kipt_cursor_init(&cursor, flow->data + next, flow->size - next);
	for (i = 0; i < LIMIT_PACKETS; i++) {
		if (kipt_packet_next(&cursor, &packet) != KIPT_OK ||
		    packet.type == KIPT_PACKET_PSBEND ||
		    packet.type == KIPT_PACKET_OVF)
			return;
		if (packet.type == KIPT_PACKET_TSC)
			break;
	}
	if (packet.type == KIPT_PACKET_TSC)
		kipt_clock_limit(&flow->clock, packet.value);
}

static void report_bad(struct kipt_flow *flow, const struct kipt_psb *psb)
{
	flow->enabled = false;
	if (psb->status == KIPT_TRUNCATED || psb->status == KIPT_END)
		kipt_emit_gap(flow, KIPT_GAP_TRUNCATED, KIPT_TRUNCATED,
			      psb->bad);
	else
		kipt_emit_gap(flow, KIPT_GAP_DECODE, psb->status, psb->bad);
}

bool kipt_psb_start(struct kipt_flow *flow, u64 offset, u64 end)
{
	bool timed = flow->config.output & KIPT_FLOW_TIME;
	struct kipt_psb *psb = &flow->psb;

	reset(flow);
	/* Without time it may be known from where the segment before ended. */
	if (timed || psb->offset != offset)
		read_psb(flow, offset, end, timed ? &flow->clock : NULL);
	flow->enabled = psb->has_ip;
	flow->at.ip = psb->ip;
	flow->last_ip = psb->last_ip;
	limit_clock(flow, end);
	flow->clock.moved = false;
	restate(flow, psb);
	if (psb->status != KIPT_OK) {
		report_bad(flow, psb);
		return false;
	}
	if (kipt_flow_ovf_before(flow->data, offset)) {
		flow->echo = psb->has_ip;
		flow->overflow = !psb->has_ip;
	}
	kipt_cursor_init(&flow->cursor, flow->data + psb->end, end - psb->end);
	return true;
}

static void arrive_at(struct kipt_flow *flow, const struct kipt_psb *psb)
{
	enum kipt_status status = KIPT_OK;

	if (psb->has_ip) {
		status = kipt_walk_to_ip(flow, psb->ip);
		if (status == KIPT_OK && flow->at.ip != psb->ip)
			status = KIPT_NOT_REACHED;
	} else if (psb->complete) {
		status = KIPT_BAD_CONTEXT;
	}
	if (status != KIPT_OK)
		kipt_flow_fail(flow, status);
	else if (psb->has_ip)
		emit_sync(flow, KIPT_SYNC_REACHED, psb->offset);
}

void kipt_psb_arrive(struct kipt_flow *flow, u64 offset, u64 end)
{
	struct kipt_psb *psb = &flow->psb;

	flow->offset = offset;
	if (flow->enabled && flow->tnt.count)
		kipt_flow_fail(flow, KIPT_TNT_AT_OTHER);
	if (flow->enabled && flow->event)
		kipt_flow_fail(flow, KIPT_BAD_CONTEXT);
	read_psb(flow, offset, end, NULL);
	if (flow->enabled)
		arrive_at(flow, psb);
	else if (psb->has_ip && !flow->lost && !flow->overflow)
		kipt_emit_gap(flow, KIPT_GAP_DECODE, KIPT_BAD_CONTEXT, offset);
}
