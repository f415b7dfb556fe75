// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packets beside the flow: transactions, PTWRITE, power, Event Trace, PEBS blocks,
 * triggers. Those that need an address are held for their FUP (flow_event.h). Runs where the
 * callbacks may.
 */
#include "../out/emit.h"
#include "flow_branch.h"
#include "flow_event.h"
#include "flow_side.h"
#include "flow_walk.h"

/* Without an address. */
static struct kipt_record record_of(u8 type, u8 kind, const struct kipt_packet *packet)
{
	return (struct kipt_record){
		.type = type,
		.kind = kind,
		.flags = KIPT_RF_NO_IP,
		.aux = packet->aux,
		.value = packet->value,
	};
}

static void hold_or_emit(struct kipt_flow *flow, struct kipt_record *record,
			 bool waits, u8 claim)
{
	record->flags |= KIPT_RF_NO_IP;
	if (flow->pending.claim != KIPT_CLAIM_NONE)
		kipt_flow_release(flow);
	if (!waits) {
		kipt_emit(flow, record);
		return;
	}
	kipt_flow_hold(flow, record);
	flow->pending.claim = claim;
}

static void on_mode_tsx(struct kipt_flow *flow,
			const struct kipt_packet *packet)
{
	struct kipt_record record = {
		.type = KIPT_RECORD_TSX,
		.kind = packet->value & KIPT_MODE_TSX_ABORT ? KIPT_TSX_ABORT :
			packet->value & KIPT_MODE_TSX_INTX ? KIPT_TSX_BEGIN :
							     KIPT_TSX_COMMIT,
	};
	bool on = kipt_flow_is_on(flow) || flow->state.tracing == KIPT_TRACING_LOST;

	if (record.kind == KIPT_TSX_ABORT && on) {
		flow->pending.abort = true;
		return;
	}
	flow->pending.tsx_value = (u8)packet->value;
	if (!on)
		kipt_flow_set_tsx(flow);
	hold_or_emit(flow, &record, on, KIPT_CLAIM_TSX);
}

/* Without a FUP the value belongs to the next PTWRITE in the flow. */
static void on_ptw(struct kipt_flow *flow, const struct kipt_packet *packet)
{
	struct kipt_record record = {
		.type = KIPT_RECORD_PTWRITE,
		.aux = packet->size,
		.value = packet->value,
	};
	enum kipt_status status;
	u64 ip = 0;

	if (packet->flags & KIPT_PF_IP || !kipt_flow_is_on(flow)) {
		hold_or_emit(flow, &record, packet->flags & KIPT_PF_IP,
			     KIPT_CLAIM_PTW);
		return;
	}
	status = flow->walk.tnt.count ? KIPT_TNT_AT_OTHER :
		 kipt_walk_to_class(flow, KIPT_INSN_PTWRITE, &ip);
	record.ip = ip;
	if (status != KIPT_OK) {
		kipt_flow_fail(flow, status);
		record.ip = 0;
		record.flags = KIPT_RF_NO_IP;
	}
	kipt_emit(flow, &record);
}

/* MWAIT and PWRE wait for the EXSTOP that follows, and all for its FUP. */
static void hold_power(struct kipt_flow *flow, u8 kind, const struct kipt_packet *packet)
{
	struct kipt_record record = record_of(KIPT_RECORD_POWER, kind, packet);

	if (packet->flags & KIPT_PF_HW)
		record.flags |= KIPT_RF_HW;
	kipt_flow_hold(flow, &record);
}

static void on_exstop(struct kipt_flow *flow, const struct kipt_packet *packet)
{
	hold_power(flow, KIPT_POWER_EXSTOP, packet);
	if (packet->flags & KIPT_PF_IP)
		flow->pending.claim = KIPT_CLAIM_HELD;
	else
		kipt_flow_release(flow);
}

static void on_pwrx(struct kipt_flow *flow, const struct kipt_packet *packet)
{
	bool known = flow->state.power_known;

	hold_power(flow, KIPT_POWER_PWRX, packet);
	kipt_flow_emit_held(flow, known, known ? flow->state.power_ip : 0);
	flow->state.power_known = false;
}

/* Types of EVD. */
#define EVD_PFA		0
#define EVD_VMXQ	1
#define EVD_VMXR	2

/* Types of CFE, and vectors, that EVDs go with. */
#define CFE_INTR		1
#define CFE_VMEXIT		8
#define CFE_VMEXIT_INTR		9
#define VECTOR_PAGE_FAULT	14

/* CFE types there are: 1 to 10 and 12 to 15. */
#define CFE_KNOWN	0xf7feU

/* An event has the data of its kind, each at most once, right before it (Intel
 * SDM Vol. 3C, "Event Trace"). What is reserved is not judged.
 */
static bool goes_with(u8 data, const struct kipt_packet *event)
{
	if (!(CFE_KNOWN >> event->value & 1))
		return true;
	switch (data) {
	case EVD_PFA:
		return event->value == CFE_INTR &&
		       event->aux == VECTOR_PAGE_FAULT;
	case EVD_VMXQ:
	case EVD_VMXR:
		return event->value == CFE_VMEXIT ||
		       event->value == CFE_VMEXIT_INTR;
	default:
		return true;
	}
}

/* Packets are damaged or missing: what is held belongs to no event. */
static void fail_data(struct kipt_flow *flow)
{
	kipt_flow_release(flow);
	if (kipt_flow_is_on(flow))
		kipt_flow_fail(flow, KIPT_BAD_CONTEXT);
	else if (flow->state.tracing != KIPT_TRACING_LOST)
		kipt_emit_gap(flow, KIPT_GAP_DECODE, KIPT_BAD_CONTEXT,
			      flow->input.offset);
	flow->state.doubtful = true;
}

static bool has_data(const struct kipt_flow *flow, u8 kind)
{
	u32 i;

	for (i = 0; i < flow->pending.held_count; i++)
		if (flow->pending.held[i].type == KIPT_RECORD_EVENT_DATA &&
		    flow->pending.held[i].kind == kind)
			return true;
	return false;
}

void kipt_flow_end_data(struct kipt_flow *flow)
{
	if (!flow->pending.held_count ||
	    flow->pending.held[flow->pending.held_count - 1].type != KIPT_RECORD_EVENT_DATA)
		return;
	if (has_data(flow, EVD_PFA) || has_data(flow, EVD_VMXQ) ||
	    has_data(flow, EVD_VMXR))
		fail_data(flow);
}

static bool data_go_with(const struct kipt_flow *flow,
			 const struct kipt_packet *event)
{
	u8 kind;

	for (kind = EVD_PFA; kind <= EVD_VMXR; kind++)
		if (has_data(flow, kind) && !goes_with(kind, event))
			return false;
	return true;
}

static void on_evd(struct kipt_flow *flow, const struct kipt_packet *packet)
{
	struct kipt_record record = {
		.type = KIPT_RECORD_EVENT_DATA,
		.kind = (u8)packet->aux,
		.flags = KIPT_RF_NO_IP,
		.value = packet->value,
	};

	if (flow->pending.claim != KIPT_CLAIM_NONE)
		kipt_flow_release(flow);
	if (record.kind <= EVD_VMXR && has_data(flow, record.kind))
		fail_data(flow);
	kipt_flow_hold(flow, &record);
}

/* CFE types whose ordinary FUP gives their address too (Intel SDM Vol. 3C,
 * "Event Trace"): INTR, SMI, RSM, SIPI, INIT, VMEXIT, VMEXIT_INTR, UINTR,
 * SWINTR.
 */
#define CFE_SHARES	0x537aU

static void on_cfe(struct kipt_flow *flow, const struct kipt_packet *packet)
{
	struct kipt_record record = {
		.type = KIPT_RECORD_EVENT,
		.kind = (u8)packet->value,
		.flags = KIPT_RF_NO_IP,
		.aux = packet->aux,
	};

	if (flow->pending.claim != KIPT_CLAIM_NONE)
		kipt_flow_release(flow);
	if (!data_go_with(flow, packet))
		fail_data(flow);
	kipt_flow_hold(flow, &record);
	if (packet->flags & KIPT_PF_IP)
		flow->pending.claim = KIPT_CLAIM_HELD;
	else if (CFE_SHARES >> packet->value & 1)
		flow->pending.share = true;
	else
		kipt_flow_release(flow);
}

static void emit_plain(struct kipt_flow *flow, u8 type, u8 kind, const struct kipt_packet *packet)
{
	struct kipt_record record = record_of(type, kind, packet);

	kipt_emit(flow, &record);
}

static void on_bep(struct kipt_flow *flow, const struct kipt_packet *packet)
{
	struct kipt_record record = { .type = KIPT_RECORD_BLOCK };

	flow->pending.block_type = 0;
	hold_or_emit(flow, &record, packet->flags & KIPT_PF_IP,
		     KIPT_CLAIM_HELD);
}

static void on_trig(struct kipt_flow *flow, const struct kipt_packet *packet)
{
	struct kipt_record record = record_of(KIPT_RECORD_TRIG, 0, packet);

	if (!(packet->flags & KIPT_PF_ICNT))
		record.flags |= KIPT_RF_NO_VALUE;
	if (packet->flags & KIPT_PF_MULT)
		record.flags |= KIPT_RF_MULT;
	hold_or_emit(flow, &record, packet->flags & KIPT_PF_IP,
		     KIPT_CLAIM_HELD);
}

void kipt_flow_on_side(struct kipt_flow *flow,
		       const struct kipt_packet *packet)
{
	switch (packet->type) {
	case KIPT_PACKET_MODE_TSX:
		on_mode_tsx(flow, packet);
		break;
	case KIPT_PACKET_PTW:
		on_ptw(flow, packet);
		break;
	case KIPT_PACKET_MWAIT:
		hold_power(flow, KIPT_POWER_MWAIT, packet);
		break;
	case KIPT_PACKET_PWRE:
		hold_power(flow, KIPT_POWER_PWRE, packet);
		break;
	case KIPT_PACKET_EXSTOP:
		on_exstop(flow, packet);
		break;
	case KIPT_PACKET_PWRX:
		on_pwrx(flow, packet);
		break;
	case KIPT_PACKET_EVD:
		on_evd(flow, packet);
		break;
	case KIPT_PACKET_CFE:
		on_cfe(flow, packet);
		break;
	case KIPT_PACKET_BBP:
		flow->pending.block_type = (u8)packet->aux;
		break;
	case KIPT_PACKET_BIP:
		emit_plain(flow, KIPT_RECORD_BLOCK, flow->pending.block_type, packet);
		break;
	case KIPT_PACKET_BEP:
		on_bep(flow, packet);
		break;
	case KIPT_PACKET_TRIG:
		on_trig(flow, packet);
		break;
	case KIPT_PACKET_VMCS:
		emit_plain(flow, KIPT_RECORD_VMCS, 0, packet);
		break;
	case KIPT_PACKET_TRACESTOP:
		emit_plain(flow, KIPT_RECORD_TRACESTOP, 0, packet);
		/* Only WRMSR starts it again, which ends any transaction. */
		flow->state.tsx = false;
		break;
	default:
		break;
	}
}
