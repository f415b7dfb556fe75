// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading a PSB+ (Intel SDM Vol. 3C, "Packet Stream Boundary (PSB) Packet").
 * Any context.
 */
#include "last_ip.h"
#include "psb.h"
#include "sync.h"

#define NEED_NO_TRACING	(KIPT_PACKET_SET(PSBEND) | KIPT_PACKET_SET(PIP) | \
			 KIPT_PACKET_SET(MODE_EXEC) | KIPT_PACKET_SET(MODE_TSX) | \
			 KIPT_PACKET_SET(VMCS))

/* BDM70: before a TIP.PGE a PSB+ may hold a FUP though tracing is off. Only
 * packets that need no tracing come between such a FUP and the TIP.PGE.
 */
static bool pge_follows(const struct kipt_cursor *from)
{
	struct kipt_cursor cursor = *from;
	struct kipt_packet packet;

	while (kipt_packet_next(&cursor, &packet) == KIPT_OK) {
		if (packet.type == KIPT_PACKET_TIP_PGE)
			return true;
		if (!kipt_packet_is_time(packet.type) &&
		    !KIPT_PACKET_SET_HAS(packet.type, NEED_NO_TRACING))
			return false;
	}
	return false;
}

static void read_fup(struct kipt_psb *psb, const struct kipt_packet *packet,
		     const struct kipt_cursor *after)
{
	if (packet->size == KIPT_IPBYTES_NONE)
		return;
	psb->last_ip = kipt_last_ip_apply(psb->last_ip, packet);
	psb->ip = psb->last_ip;
	psb->has_ip = !pge_follows(after);
}

/* Returns false at the packet that ends the PSB+. */
static bool read_one(struct kipt_psb *psb, const struct kipt_packet *packet,
		     const struct kipt_cursor *after)
{
	switch (packet->type) {
	case KIPT_PACKET_PSBEND:
		psb->complete = true;
		return false;
	case KIPT_PACKET_OVF:
		psb->overflow = true;
		return false;
	case KIPT_PACKET_FUP:
		read_fup(psb, packet, after);
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
	case KIPT_PACKET_TSC:
		psb->has_tsc = true;
		psb->tsc = packet->value;
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

void kipt_psb_read(struct kipt_psb *psb, const u8 *data, u64 offset, u64 end,
		   struct kipt_clock *clock)
{
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

bool kipt_psb_tsc(const u8 *data, u64 size, u64 offset, u64 *tsc)
{
	struct kipt_psb psb;

	kipt_psb_read(&psb, data, offset,
		      kipt_sync_next(data, size, offset + 16), NULL);
	*tsc = psb.tsc;
	return psb.has_tsc;
}
